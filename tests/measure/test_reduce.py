"""Reduced series show what the full ones show: extremes, percentiles and totals stay."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.measure.reduce import (
    Slots,
    extreme_rows,
    greatest_by_slot,
    log_histogram,
    percentile,
    percentile_curve,
    percentiles_by_slot,
    rates,
    slots_for,
    spread_rows,
    thinned_rows,
)

values_in_time = st.lists(st.tuples(st.floats(0, 100), st.floats(0.001, 1e6)), min_size=1, max_size=400)


SHARES = [0.0, 0.05, 0.5, 0.95, 0.99, 0.999, 0.9999, 1.0]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300), st.sampled_from(SHARES))
def test_percentiles_are_nearest_rank(values: list[float], share: float) -> None:
    """The value at rank ceil(share n), counted from 1."""
    assert percentile(np.array(values), share) == sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def test_percentiles_of_any_number_of_values() -> None:
    """The same for every count up to thousands, where share n is a whole number or just beside it."""
    for count in range(1, 3_000):
        values = np.arange(count, dtype=np.float64)
        found = [percentile(values, share) for share in SHARES]
        assert found == [max(math.ceil(share * count), 1) - 1 for share in SHARES]


@given(values_in_time, st.integers(2, 50))
def test_thinning_keeps_the_extremes(points: list[tuple[float, float]], most: int) -> None:
    """However few points are kept, the worst and the best are among them, and there are not more than wanted."""
    times, values = (np.array(column) for column in zip(*points, strict=True))
    kept = thinned_rows(times, values, most)
    assert values[kept].max() == values.max()
    assert values[kept].min() == values.min()
    assert len(kept) <= max(most, 2)


@given(values_in_time)
def test_the_worst_of_every_slot_is_kept(points: list[tuple[float, float]]) -> None:
    """Not only the worst of all: each slot shows its own extremes."""
    times, values = (np.array(column) for column in zip(*points, strict=True))
    slots = Slots(0.0, 10.0, 10).of(times)
    kept = set(extreme_rows(slots, values).tolist())
    for slot in np.unique(slots):
        rows = np.flatnonzero(slots == slot)
        assert {values[rows].max(), values[rows].min()} <= {values[row] for row in rows if row in kept}


@given(values_in_time)
def test_percentiles_of_slots(points: list[tuple[float, float]]) -> None:
    """The same nearest-rank percentiles as those of the score, slot by slot, and the greatest value."""
    times, values = (np.array(column) for column in zip(*points, strict=True))
    slots = Slots(0.0, 25.0, 4).of(times)
    found = percentiles_by_slot(slots, values, (0.5, 0.99))
    for place, slot in enumerate(found.slots):
        own = values[slots == slot]
        assert [share[place] for share in found.shares] == [percentile(own, 0.5), percentile(own, 0.99)]
        assert found.greatest[place] == own.max()
    assert found.greatest.max() == values.max()


def test_the_greatest_of_slots() -> None:
    """Slots without values are left out."""
    slots, greatest = greatest_by_slot(np.array([3, 0, 3]), np.array([5.0, 1.0, 9.0]))
    assert (slots.tolist(), greatest.tolist()) == ([0, 3], [1.0, 9.0])


def test_times_outside_belong_to_the_end_slots() -> None:
    """An answer after the end of the day is not lost."""
    assert Slots(0.0, 1.0, 3).of(np.array([-5.0, 0.5, 99.0])).tolist() == [0, 0, 2]


def test_slots_hold_enough_values() -> None:
    """Few values get few slots, many get as many as a chart can show."""
    assert [slots_for(0, 100, values).count for values in (0, 1_000, 10_000_000)] == [24, 50, 240]


@given(st.lists(st.floats(0.001, 1e5), min_size=1, max_size=500), st.integers(1, 40))
def test_the_histogram_counts_everything(values: list[float], bins: int) -> None:
    """No value falls out at the ends."""
    found = log_histogram(np.array(values), min(values), max(values), bins)
    assert found.counts.sum() == len(values)
    assert len(found.edges) == bins + 1


@given(st.lists(st.floats(0.001, 1e5), min_size=1, max_size=3_000))
def test_the_percentile_curve(values: list[float]) -> None:
    """It starts at the least value, never falls, has the percentiles of the score on it, and ends at the greatest."""
    curve = percentile_curve(np.array(values))
    assert curve.values[0] == min(values)
    assert (np.diff(curve.values) >= 0).all()
    assert curve.values[-1] == max(values)
    assert curve.tails[-1] == pytest.approx(len(values))
    for tail, value in zip(curve.tails[:-1], curve.values[:-1], strict=True):
        ranks = (1 - 1 / tail) * len(values)
        assert value == sorted(values)[max(math.ceil(ranks - 1e-9), 1) - 1]


def test_the_curve_ends_at_four_nines() -> None:
    """With many values it goes to 99.99 %."""
    assert percentile_curve(np.arange(50_000.0)).tails[-1] == pytest.approx(1e4)
    assert not len(percentile_curve(np.empty(0)).tails)


def test_rates_from_totals() -> None:
    """Ticks a second from a running total, noted at uneven times."""
    times = np.array([0.0, 1.0, 2.5, 4.0, 10.0])
    totals = (times * 100).astype(np.int64)
    x, y = rates(times, totals, Slots(0.0, 2.0, 5))
    assert x.tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]
    assert y == pytest.approx([100.0] * 5)
    assert [len(points) for points in rates(times[:1], totals[:1], Slots(0.0, 2.0, 5))] == [0, 0]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_spreading_keeps_extremes_and_decisive_rows(lengths: list[int], most: int, seed: int) -> None:
    """Short series stay whole; of long ones the extremes and every row with an order stay."""
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values, decisive = random.normal(size=starts[-1]), random.random(starts[-1]) < 0.1
    marked = spread_rows(starts, values, decisive, most)
    assert (marked | ~decisive).all()
    for first, last in pairwise(starts):
        own, kept = values[first:last], values[first:last][marked[first:last]]
        if len(own):
            assert (kept.min(), kept.max()) == (own.min(), own.max())
        assert len(kept) == len(own) if len(own) <= most else len(kept) <= most + decisive[first:last].sum()
