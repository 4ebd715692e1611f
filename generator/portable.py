"""Exponential and normal quantile that give the same bits on every machine.

The versions of numpy and scipy differ in the last bit between processors, and over hundreds of millions of ticks a last
bit rounds a price to another cent. Only operations whose result IEEE 754 prescribes are used here: add, subtract,
multiply, divide, square root, round, and splitting a number into mantissa and exponent.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Draws = NDArray[np.uint32]
_Numbers = TypeVar("_Numbers", Floats, Singles)

_BLOCK = 8_192  # values at a time, so that intermediate results stay in the processor's cache

LN_2, _LOG2_E = 0.6931471805599453, 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is ln 2 to 100 bits
_EXP = [1 / factorial for factorial in (1, 1, 2, 6, 24, 120, 720, 5_040)]
_ATANH = [2 / odd for odd in (1, 3, 5, 7, 9)]
_ROOT_HALF_BITS, _MANTISSA_BITS = np.int32(0x3F3504F3), np.int32(2**23 - 1)  # of single precision

# M. J. Wichura, Algorithm AS 241: The percentage points of the normal distribution, Applied Statistics 37 (1988), in
# its version for seven digits. Numerator and denominator, lowest power first, near the middle and in the tails.
_MIDDLE_REACH_SQUARED = 0.180625  # the middle reaches from chance 0.075 to 0.925
_MIDDLE = (
    (3.3871327179, 5.0434271938e1, 1.5929113202e2, 5.9109374720e1),
    (1.0, 1.7895169469e1, 7.8757757664e1, 6.7187563600e1),
)
_TAIL = ((1.4234372777, 2.7568153900, 1.3067284816, 1.7023821103e-1), (1.0, 7.3700164250e-1, 1.2021132975e-1))
_HALF, _LOWER_TAIL, _BETWEEN_TAILS = np.array([0.5 * 2**32, 0.075 * 2**32, 0.85 * 2**32]).astype(np.uint32)


def exp(values: Floats) -> Floats:
    """Return e to the power of each value up to 700, to eight digits; below -700 it stays at e^-700."""
    results = np.empty(values.shape)
    flat, target = values.reshape(-1), results.reshape(-1)
    for begin in range(0, flat.size, _BLOCK):
        block = np.maximum(flat[begin : begin + _BLOCK], -700.0)
        twos = np.rint(block * _LOG2_E)
        block -= twos * _LN2_HIGH
        block -= twos * _LN2_LOW
        powers = (twos.astype(np.int64) + 1_023) << 52  # the bits of two to that power
        np.multiply(_polynomial(_EXP, block), powers.view(np.float64), out=target[begin : begin + _BLOCK])
    return results


def normal_quantile(drawn: Draws) -> Singles:
    """Return the standard normal quantiles of (drawn + 1/2) / 2^32, to six digits."""
    quantiles = np.empty(drawn.shape, np.float32)
    for begin in range(0, drawn.size, _BLOCK):
        centred = (drawn[begin : begin + _BLOCK] ^ _HALF).view(np.int32).astype(np.float32)
        centred *= 2.0**-32
        rational = _rational(_MIDDLE, _MIDDLE_REACH_SQUARED - centred * centred)
        np.multiply(centred, rational, out=quantiles[begin : begin + _BLOCK])
    tails = np.flatnonzero(drawn - _LOWER_TAIL > _BETWEEN_TAILS)  # the lower tail wraps around to the top
    quantiles[tails] = _tail_quantile(drawn[tails])
    return quantiles


def _tail_quantile(drawn: Draws) -> Singles:
    below = drawn < _HALF
    chances = np.where(below, drawn, ~drawn).astype(np.float32)
    chances += 0.5
    chances *= 2.0**-32
    quantiles = _rational(_TAIL, np.sqrt(-_log(chances)) - 1.6)
    return np.where(below, -quantiles, quantiles)


def _log(values: Singles) -> Singles:
    bits = values.view(np.int32) - _ROOT_HALF_BITS
    twos = (bits >> 23).astype(np.float32)
    mantissas = ((bits & _MANTISSA_BITS) + _ROOT_HALF_BITS).view(np.float32)  # from root 1/2 to root 2
    ratio = (mantissas - 1) / (mantissas + 1)
    logs: Singles = ratio * _polynomial(_ATANH, ratio * ratio) + twos * LN_2
    return logs


def _rational(fraction: tuple[Sequence[float], Sequence[float]], at: _Numbers) -> _Numbers:
    above, below = fraction
    result = _polynomial(above, at)
    result /= _polynomial(below, at)
    return result


def _polynomial(coefficients: Sequence[float], at: _Numbers) -> _Numbers:
    """Evaluate a polynomial, lowest power first, by Horner's rule."""
    result = np.multiply(at, coefficients[-1])
    for coefficient in coefficients[-2:0:-1]:
        result += coefficient
        result *= at
    result += coefficients[0]
    return result
