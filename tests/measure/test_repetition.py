"""Repeated runs: medians and ranges of valid runs, what differs beyond noise, the Pareto front, the order of runs."""

import random
from collections import Counter
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.measure.repetition import (
    Comparison,
    Point,
    RunFigures,
    chance_apart,
    chance_sentence,
    compare,
    comparisons,
    front,
    interleaved,
    spread,
)

LATENCIES = st.floats(0.001, 10.0)
INTERVAL = 0.02  # of a p99, as a share to both sides


def run(p99_s: float, cost: float | None = 1.0, valid: bool = True) -> RunFigures:
    """Return a run with a narrow interval."""
    interval = (p99_s * (1 - INTERVAL), p99_s * (1 + INTERVAL))
    return RunFigures("run", valid, p99_s=p99_s, p99_interval=interval, p_score=3 / p99_s, cost=cost)


def point(*p99_s: float, label: str = "a=1", cost: float = 1.0, void: tuple[float, ...] = ()) -> Point:
    """Return a point with valid runs, and void runs."""
    runs = [run(value, cost) for value in p99_s] + [run(value, cost, valid=False) for value in void]
    return Point(label, {}, "keyed", tuple(runs))


@given(st.lists(LATENCIES, min_size=1, max_size=9), st.lists(LATENCIES, max_size=5))
def test_void_runs_enter_no_figure(valid: list[float], void: list[float]) -> None:
    """Median, least and greatest are those of the valid runs, whatever void runs there are beside them."""
    found = point(*valid, void=tuple(void))
    assert found.p99_s == spread(valid)
    assert found.p99_s is not None
    assert (found.p99_s.median, found.p99_s.least, found.p99_s.greatest) == (median(valid), min(valid), max(valid))
    assert (len(found.valid), len(found.runs)) == (len(valid), len(valid) + len(void))


def test_a_point_of_void_runs_has_no_figures() -> None:
    """Neither latency nor score nor cost."""
    found = point(void=(0.1, 0.2))
    assert (found.p99_s, found.p_score, found.cost, found.p99_interval) == (None, None, None, None)


@given(st.lists(LATENCIES, max_size=5), st.lists(LATENCIES, max_size=5))
def test_points_that_differ(one: list[float], other: list[float]) -> None:
    """They have two runs each, and no run of one is in the range of the other; the order does not matter."""
    first, second = point(*one), point(*other, label="a=2")
    found = compare(first, second)
    assert compare(second, first).verdict == found.verdict
    if min(len(one), len(other)) < 2:
        assert found.verdict == "unknown"
    elif found.verdict == "differ":
        assert max(one) < min(other) or max(other) < min(one)
        assert found.one.p99_s is not None
        assert found.other.p99_s is not None
        assert found.one.p99_s.greatest < found.other.p99_s.least
    else:
        assert max(min(one), min(other)) <= min(max(one), max(other)) * (1 + INTERVAL) / (1 - INTERVAL)


@given(st.lists(LATENCIES, min_size=2, max_size=5))
def test_a_point_is_within_noise_of_itself(values: list[float]) -> None:
    """Nothing differs from itself."""
    assert compare(point(*values), point(*values)).verdict == "within noise"


def test_overlapping_intervals_are_noise() -> None:
    """Ranges that lie apart are not enough if the runs themselves are less certain than that."""
    assert compare(point(0.100, 0.101), point(0.102, 0.103)).verdict == "within noise"
    assert compare(point(0.100, 0.101), point(0.110, 0.112)).verdict == "differ"
    unsure = Point("b", {}, "keyed", (RunFigures("r", True, p99_s=9.0), RunFigures("s", True, p99_s=9.1)))
    assert compare(point(0.100, 0.101), unsure).verdict == "within noise"


def test_the_sentences() -> None:
    """They name both points with medians and ranges in ms, the faster first."""
    slow, fast = point(0.2, 0.22, 0.21, label="shards=2"), point(0.1, 0.12, 0.11, label="shards=1")
    assert compare(slow, fast).sentence == (
        "shards=1 and shards=2 differ: p99 110.0 ms (100.0 to 120.0) and 210.0 ms (200.0 to 220.0); "
        "shards=1 is faster by 48%"
    )
    assert compare(slow, point(0.2, 0.3, label="x")).sentence == (
        "within noise: shards=2 and x: p99 210.0 ms (200.0 to 220.0) and 250.0 ms (200.0 to 300.0)"
    )
    single = "unknown: shards=1 and x: 3 and 1 valid runs, 2 of each are needed"
    assert compare(fast, point(0.5, label="x", void=(0.1,))).sentence == single


@pytest.mark.parametrize(("runs", "others", "chance"), [(2, 2, 1 / 3), (3, 3, 0.1), (5, 5, 2 / 252), (1, 1, 1.0)])
def test_how_likely_equal_points_look_apart(runs: int, others: int, chance: float) -> None:
    """Of all orders of the runs, two have those of one point first."""
    assert chance_apart(runs, others) == pytest.approx(chance)


def test_the_chance_is_that_of_random_draws() -> None:
    """Of 2,000 pairs of equal points, 160 to 243 lie apart with three runs each: a false alarm in 1,000."""
    dice = random.Random(7)  # noqa: S311
    draws = [[dice.random() for _ in range(3)] for _ in range(4_000)]
    spreads = [spread(draw) for draw in draws]
    apart = sum(
        one is not None and other is not None and one.apart(other)
        for one, other in zip(spreads[::2], spreads[1::2], strict=True)
    )
    assert 160 <= apart <= 243


def test_the_chance_is_told_where_something_differs() -> None:
    """Of the pair with the fewest runs."""
    few, many, slow = point(0.1, 0.1), point(0.1, 0.1, 0.1), point(0.5, 0.5, label="b")
    found = [compare(few, slow), compare(many, slow)]
    assert "the ranges of 2 and 2 runs of equal points lie apart in 0.33 of cases" in str(chance_sentence(found))
    assert chance_sentence([Comparison(few, many, "within noise")]) is None


def test_many_points_are_compared_with_the_fastest_only() -> None:
    """Up to six points all pairs are looked at, beyond each is compared with the point of the least median."""
    points = [point(0.1 + place / 10, 0.1 + place / 10, label=str(place)) for place in range(7)]
    assert len(comparisons(points[:6])) == 15
    found = comparisons(points[::-1])
    assert len(found) == 6
    assert {comparison.one.label for comparison in found} == {"0"}


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=12))
def test_the_pareto_front(places: list[tuple[int, int]]) -> None:
    """No point on it is beaten; each point off it is beaten by one on it; latency falls as cost grows."""
    points = [point(p99_s, cost=cost, label=str(place)) for place, (p99_s, cost) in enumerate(places)]
    kept = front(points)
    values = {found.label: places[int(found.label)] for found in points}
    on = [values[found.label] for found in kept]
    for p99_s, cost in places:
        beaten = any(one <= p99_s and other <= cost and (one, other) != (p99_s, cost) for one, other in places)
        assert ((p99_s, cost) in on) is not beaten
    assert [cost for _, cost in on] == sorted(cost for _, cost in on)
    assert [p99_s for p99_s, _ in on] == sorted((p99_s for p99_s, _ in on), reverse=True)


def test_points_without_cost_or_latency_are_not_on_the_front() -> None:
    """Nothing is claimed of what was not recorded."""
    unknown = Point("b", {}, "keyed", (run(0.1, cost=None),))
    assert front([unknown, point(void=(0.1,))]) == []


@given(st.integers(1, 8), st.integers(1, 8))
def test_runs_are_interleaved(points: int, repeat: int) -> None:
    """Each round has every point once; over two rounds, every point is as early as it is late."""
    order = interleaved(range(points), repeat)
    assert Counter(order) == Counter((place, number) for place in range(points) for number in range(1, repeat + 1))
    assert [number for _, number in order] == sorted(number for _, number in order)
    if repeat % 2 == 0:
        turns = Counter[int]()
        for turn, (place, _) in enumerate(order):
            turns[place] += turn
        assert len(set(turns.values())) == 1
