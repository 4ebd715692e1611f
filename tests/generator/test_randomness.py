"""Random numbers by address: the published Philox, addresses that never collide, and the right distributions."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Philox
from scipy import stats

from pairs.config.workload import complete
from pairs.generator import randomness
from pairs.generator.randomness import Purpose, normals, uniforms, whole_numbers, words
from pairs.generator.ticks import TickSource

ALARM = 1e-4  # false-alarm rate of every statistical test here, had its seed not been fixed

PROPERTY = settings(derandomize=True, deadline=None)
SEEDS = st.integers(0, 2**64 - 1)
PURPOSES = st.sampled_from(Purpose)
ADDRESSES = st.tuples(SEEDS, PURPOSES, st.integers(0, 2**40))

_MASK = 2**64 - 1
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)

Quad = tuple[int, int, int, int]


def philox4x64_10(counter: Quad, key: tuple[int, int]) -> Quad:
    """Philox4x64-10 as published by Salmon, Moraes, Dror and Shaw (2011), in plain whole numbers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(_MULTIPLIERS[0] * c0, 2**64)
        high1, low1 = divmod(_MULTIPLIERS[1] * c2, 2**64)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return c0, c1, c2, c3


def published_words(seed: int, purpose: Purpose, index: int) -> Iterator[int]:
    """Yield the words of a stream: blocks 1, 2, ... of the counter whose highest word is the index."""
    block = 0
    while True:
        block += 1
        yield from philox4x64_10((block, 0, 0, index), (seed, int(purpose)))


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
        ),
        (
            (_MASK, _MASK, _MASK, _MASK),
            (_MASK, _MASK),
            (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
        ),
        (
            (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
            (0x452821E638D01377, 0xBE5466CF34E90C6C),
            (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
        ),
    ],
)
def test_own_philox_gives_the_known_answers(counter: Quad, key: tuple[int, int], expected: Quad) -> None:
    """The Philox of this test agrees with the authors' known-answer vectors."""
    assert philox4x64_10(counter, key) == expected


@PROPERTY
@given(address=ADDRESSES, count=st.integers(0, 9))
def test_words_are_philox_words(address: tuple[int, Purpose, int], count: int) -> None:
    """Every word is the published algorithm's, keyed by seed and purpose, counted from the index."""
    assert words(*address, count).tolist() == list(islice(published_words(*address), count))


@PROPERTY
@given(address=ADDRESSES, count=st.integers(0, 50), more=st.integers(0, 50))
def test_same_address_same_words(address: tuple[int, Purpose, int], count: int, more: int) -> None:
    """A longer draw from an address begins with a shorter draw."""
    np.testing.assert_array_equal(words(*address, count), words(*address, count + more)[:count])


def test_purposes_keep_their_numbers() -> None:
    """The numbers of the purposes define every published dataset, so they stay as they are."""
    expected = ["SYMBOL", "PAIRING", "INITIAL_PRICE", "COUNT", "ARRIVAL", "SIZE", "BORDER", "PATH", "STRATEGY"]
    assert {purpose.name: purpose.value for purpose in Purpose} == {
        name: number for number, name in enumerate(expected, start=1)
    }


def test_neighbouring_addresses_share_no_words() -> None:
    """Streams that differ in seed, purpose or index by one do not even overlap with a shift."""
    addresses = [(seed, purpose, index) for seed in (0, 1, 2) for purpose in Purpose for index in (0, 1, 2)]
    drawn = [set(words(*address, 200).tolist()) for address in addresses]
    assert all(first.isdisjoint(second) for first, second in combinations(drawn, 2))


def test_drawing_a_dataset_uses_every_stream_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two draws of a dataset, of any slice or purpose, come from the same stream."""
    used: list[tuple[int, ...]] = []

    def recording(key: Any, counter: Any) -> Philox:
        used.append((*key.tolist(), *counter.tolist()))
        return Philox(key=key, counter=counter)

    monkeypatch.setattr(randomness, "Philox", recording)
    source = TickSource(complete({"basis_rate": Fraction(1000), "duration": 300_000, "scale_factor": 11}))
    for _ in source.draw(0, source.timeline.ticks):
        pass
    assert source.timeline.slices > 3
    assert {purpose for _, purpose, *_ in used} == set(Purpose) - {Purpose.STRATEGY}
    assert len(set(used)) == len(used)


@PROPERTY
@given(address=ADDRESSES, count=st.integers(0, 9))
def test_uniforms_are_the_halves_of_words(address: tuple[int, Purpose, int], count: int) -> None:
    """A word gives two uniforms, its low half first, each in the middle of one of 2^32 equal steps."""
    halves = (half for word in published_words(*address) for half in (word % 2**32, word >> 32))
    assert uniforms(*address, count).tolist() == [(half + 0.5) / 2**32 for half in islice(halves, count)]


@PROPERTY
@given(address=ADDRESSES)
def test_uniforms_lie_strictly_between_0_and_1(address: tuple[int, Purpose, int]) -> None:
    """No uniform is 0 or 1."""
    drawn = uniforms(*address, 100)
    assert ((drawn > 0) & (drawn < 1)).all()


@pytest.mark.parametrize("word", [0, 2**63, 2**64 - 1])
def test_extreme_words_give_usable_draws(monkeypatch: pytest.MonkeyPatch, word: int) -> None:
    """Also the lowest and the highest word give a uniform inside (0, 1), its quantile, a valid choice."""
    monkeypatch.setattr(randomness, "words", lambda *address: np.full(address[-1], word, np.uint64))
    address = (1, Purpose.SIZE, 0, 1)
    assert 0 < uniforms(*address)[0] < 1
    assert normals(*address)[0] == pytest.approx(stats.norm.ppf(uniforms(*address)[0]), rel=3e-6, abs=1e-9)
    assert whole_numbers(*address, choices=91)[0] in range(91)


def test_uniforms_are_uniform() -> None:
    """Uniforms of a stream, and the first uniforms of many streams, pass Kolmogorov-Smirnov (alarm 1e-4 each)."""
    along = uniforms(3, Purpose.PATH, 5, 100_000)
    across = np.array([uniforms(3, Purpose.PATH, index, 1)[0] for index in range(2_000)])
    for drawn in (along, across):
        assert stats.kstest(drawn, "uniform").pvalue > ALARM


def test_normals_are_normal() -> None:
    """Normals pass Kolmogorov-Smirnov and have no correlation with their predecessor (alarm 1e-4 each)."""
    drawn = normals(4, Purpose.PATH, 0, 100_000)
    assert stats.kstest(drawn, "norm").pvalue > ALARM
    assert stats.pearsonr(drawn[:-1], drawn[1:]).pvalue > ALARM


def test_normals_are_quantiles_of_the_uniforms() -> None:
    """A normal is the normal quantile of the uniform with the same address."""
    address = (9, Purpose.BORDER, 7, 100_000)
    np.testing.assert_allclose(normals(*address), stats.norm.ppf(uniforms(*address)), rtol=3e-6, atol=1e-9)


@PROPERTY
@given(address=ADDRESSES, choices=st.integers(1, 100_000))
def test_whole_numbers_stay_below_the_choices(address: tuple[int, Purpose, int], choices: int) -> None:
    """Whole numbers lie in [0, choices)."""
    drawn = whole_numbers(*address, 50, choices)
    assert ((drawn >= 0) & (drawn < choices)).all()


def test_sizes_are_uniform_multiples_of_ten() -> None:
    """Sizes are 100, 110, ... 1000, equally often (chi-square over the 91 values, alarm 1e-4)."""
    source = TickSource(complete({"basis_rate": Fraction(2000), "duration": 60_000, "seed": 8}))
    sizes = np.concatenate([piece["size"].to_numpy() for piece, _ in source.draw(0, source.timeline.ticks)])
    values, counts = np.unique(sizes, return_counts=True)
    assert values.tolist() == list(range(100, 1001, 10))
    assert stats.chisquare(counts).pvalue > ALARM


def test_sizes_of_different_slices_are_unrelated() -> None:
    """Sizes of neighbouring slices, laid side by side, are not correlated (alarm 1e-4)."""
    source = TickSource(complete({"basis_rate": Fraction(2000), "duration": 120_000, "seed": 8}))
    slices = [piece["size"].to_numpy() for piece, _ in source.draw(0, source.timeline.ticks)]
    assert len(slices) > 2
    for first, second in pairwise(slices):
        common = min(len(first), len(second))
        assert stats.pearsonr(first[:common], second[:common]).pvalue > ALARM
