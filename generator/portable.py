"""Exponential, logarithm and normal quantile that give the same bits on every machine.

The library's versions differ in the last bit from one processor to another, and over some hundred million ticks a last
bit is enough to round a price to another cent. Here only operations are used whose result IEEE 754 prescribes: add,
subtract, multiply, divide, square root, round, and splitting a number into mantissa and exponent.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BLOCK = 8_192  # values at a time, so that intermediate results stay in the processor's cache

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is ln 2 to 100 bits
_MIDDLE_REACH = 0.425
_ROOT_HALF_BITS, _MANTISSA_BITS = 0x3FE6A09E667F3BCD, 2**52 - 1
_EXP = [1 / factorial for factorial in (1, 1, 2, 6, 24, 120, 720, 5_040, 40_320, 362_880, 3_628_800, 39_916_800)]
_ATANH = [2 / odd for odd in range(1, 18, 2)]

# M. J. Wichura, Algorithm AS 241: The percentage points of the normal distribution, Applied Statistics 37 (1988).
# Numerator and denominator, lowest power first: near the middle, in the tails, far out.
_MIDDLE = (
    (
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
        4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    (
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
    ),
)  # fmt: skip
_TAIL = (
    (
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
        1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
    ),
)  # fmt: skip
_FAR = (
    (
        6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ),
    (
        1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
    ),
)  # fmt: skip


def exp(values: Floats) -> Floats:
    """Return e to the power of each value up to 700, to about 13 digits; below -700 it stays at e^-700."""
    results = np.empty(values.shape)
    flat, target = values.reshape(-1), results.reshape(-1)
    for begin in range(0, flat.size, _BLOCK):
        block = np.maximum(flat[begin : begin + _BLOCK], -700.0)
        twos = np.rint(block * _LOG2_E)
        rest = block - twos * _LN2_HIGH
        rest -= twos * _LN2_LOW
        powers = (twos.astype(np.int64) + 1_023) << 52  # the bits of two to that power
        np.multiply(_polynomial(_EXP, rest), powers.view(np.float64), out=target[begin : begin + _BLOCK])
    return results


def log(values: Floats) -> Floats:
    """Return the natural logarithm of each positive value that is not subnormal."""
    bits = values.view(np.int64) - _ROOT_HALF_BITS
    twos = bits >> 52
    mantissas = ((bits & _MANTISSA_BITS) + _ROOT_HALF_BITS).view(np.float64)  # from root 1/2 to root 2
    ratio = (mantissas - 1) / (mantissas + 1)
    return ratio * _polynomial(_ATANH, ratio * ratio) + twos * _LN2_LOW + twos * _LN2_HIGH


def normal_quantile(chances: Floats) -> Floats:
    """Return the values below which a standard normal variable falls with the given chances, all inside (0, 1)."""
    quantiles = np.subtract(chances, 0.5)
    tails = np.flatnonzero(np.abs(quantiles) > _MIDDLE_REACH)
    tail_chances = chances[tails]
    for begin in range(0, chances.size, _BLOCK):
        centred = quantiles[begin : begin + _BLOCK]
        centred *= _rational(_MIDDLE, _MIDDLE_REACH**2 - centred * centred)
    outer = _tail_quantile(np.minimum(tail_chances, 1 - tail_chances))
    quantiles[tails] = np.where(tail_chances < 0.5, -outer, outer)
    return quantiles


def _tail_quantile(chances: Floats) -> Floats:
    depth = np.sqrt(-log(chances))
    quantiles = _rational(_TAIL, depth - 1.6)
    far = np.flatnonzero(depth > 5.0)
    quantiles[far] = _rational(_FAR, depth[far] - 5.0)
    return quantiles


def _rational(fraction: tuple[Sequence[float], Sequence[float]], at: Floats) -> Floats:
    above, below = fraction
    result = _polynomial(above, at)
    result /= _polynomial(below, at)
    return result


def _polynomial(coefficients: Sequence[float], at: Floats) -> Floats:
    """Evaluate a polynomial, lowest power first, by Horner's rule."""
    result = np.full_like(at, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result *= at
        result += coefficient
    return result
