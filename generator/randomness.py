"""Random numbers by address: every draw is a function of seed, purpose and index, never of earlier draws.

Only the raw 64-bit words of Philox come from numpy; the conversion, half a word a draw, is defined here, so that the
market depends on a published algorithm and not on a library's sampling method.
"""

from enum import IntEnum

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

from pairs.generator.portable import Draws, Floats, Singles, normal_quantile

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Purpose(IntEnum):
    """The purpose of a stream of words. The numbers are part of the definition of a market: never renumber."""

    SYMBOL = 1
    PAIRING = 2
    INITIAL_PRICE = 3
    COUNT = 4
    ARRIVAL = 5
    SIZE = 6
    BORDER = 7
    PATH = 8
    STRATEGY = 9


def words(seed: int, purpose: Purpose, index: int, count: int) -> Words:
    """Return the first `count` words of the stream with this address."""
    stream = Philox(key=np.array([seed, purpose], np.uint64), counter=np.array([0, 0, 0, index], np.uint64))
    return np.atleast_1d(stream.random_raw(count))


def draws(seed: int, purpose: Purpose, index: int, count: int) -> Draws:
    """Return whole numbers uniform on [0, 2^32): the halves of the stream's words, low halves first."""
    halves = words(seed, purpose, index, (count + 1) // 2).astype("<u8", copy=False).view("<u4")
    return halves[:count].astype(np.uint32, copy=False)


def uniforms(seed: int, purpose: Purpose, index: int, count: int) -> Floats:
    """Return doubles uniform on (0, 1), both ends excluded: the midpoints of 2^32 equal steps."""
    values = draws(seed, purpose, index, count).astype(np.float64)
    values += 0.5
    values *= 2.0**-32
    return values


def normals(seed: int, purpose: Purpose, index: int, count: int) -> Singles:
    """Return standard normal numbers, by the inverse of the normal distribution function."""
    return normal_quantile(draws(seed, purpose, index, count))


def whole_numbers(seed: int, purpose: Purpose, index: int, count: int, choices: int) -> NDArray[np.int32]:
    """Return whole numbers uniform on [0, choices), for choices far below 2^32."""
    values = uniforms(seed, purpose, index, count)
    values *= choices
    return values.astype(np.int32)
