"""The search finds the edge between what is sustained and what is not, in few runs, also where chance has a say."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.core.errors import BadInputError
from pairs.measure.search_policy import (
    RUNS_AT_THE_EDGE,
    Outcome,
    best,
    by_point,
    expected_runs,
    highest,
    is_good,
    next_point,
)
from pairs.stages.search_session import parse_limit


def search(good_at: Callable[[int], bool], first: int = 1, most: int = 10**6) -> list[Outcome]:
    """Search an engine that is good at some scale factors; return all runs."""
    outcomes: list[Outcome] = []
    while (point := next_point(outcomes, first, most)) is not None:
        outcomes.append(Outcome(point, good_at(point), p_score=float(point)))
        assert len(outcomes) < 200
    return outcomes


@given(st.integers(1, 100_000), st.integers(1, 5_000))
def test_it_finds_the_edge(edge: int, first: int) -> None:
    """To 5 %, from below, in a number of runs that grows with its logarithm; wherever it begins."""
    runs = search(lambda point: point <= edge, first)
    found = highest(runs)
    assert found is not None
    assert found <= edge
    assert edge <= max(1.05 * found, found + 1)
    assert len(runs) <= 2 * math.log2(max(edge, first)) + 12


@given(st.integers(2, 10_000))
def test_both_sides_of_the_edge_are_run_three_times(edge: int) -> None:
    """The highest good point and the lowest bad point."""
    points = by_point(search(lambda point: point <= edge))
    good = max(point for point, found in points.items() if is_good(found))
    bad = min(point for point in points if point > good)
    assert len(points[good]) == len(points[bad]) == RUNS_AT_THE_EDGE


def test_chance_at_the_edge_is_outvoted() -> None:
    """Near the edge runs fail by chance; the search ends, and what it calls the highest was good twice of three."""
    for seed in range(50):
        print(f"seed {seed}")
        dice = random.Random(seed)  # noqa: S311
        runs = search(lambda point, dice=dice: dice.random() < 1 / (1 + (point / 300) ** 20))  # type: ignore[misc]
        found = highest(runs)
        assert found is not None
        assert sum(run.good for run in runs if run.scale_factor == found) >= 2
        assert 150 < found < 500


def test_nothing_is_good() -> None:
    """The search goes down to 1, tries that three times, and gives up."""
    runs = search(lambda point: False, first=8)
    assert highest(runs) is None
    assert best(runs) is None
    assert [run.scale_factor for run in runs] == [8, 4, 2, 1, 1, 1]


def test_everything_is_good() -> None:
    """The search ends at the greatest scale factor it may try."""
    assert highest(search(lambda point: True, most=100)) == 100


def test_the_best_score_counts_good_runs_only() -> None:
    """A void score does not win."""
    runs = [Outcome(1, good=True, p_score=3.0), Outcome(2, good=False, p_score=9.0), Outcome(2, good=True)]
    assert best(runs) == runs[0]


@given(st.integers(1, 300), st.integers(0, 5_000))
def test_the_estimate_holds(first: int, more: int) -> None:
    """A search whose edge is as high as was assumed takes as many runs as was said, give or take one."""
    fewest, most, likely = expected_runs(first, first + more)
    edges = {1, first, likely, max(likely // 3, 1)}
    runs = [len(search(lambda point, edge=edge: point <= edge, first, first + more)) for edge in edges]  # type: ignore[misc]
    assert fewest - 1 <= min(runs)
    assert max(runs) <= most + 1
    assert likely <= first + more


def test_the_estimate_of_a_default_search() -> None:
    """From scale factor 1: six runs if that is the edge, nineteen if it is a thousand."""
    assert expected_runs(1, 1_000_000) == (6, 19, 1_000)
    assert expected_runs(1, 2) == (4, 6, 2)


@pytest.mark.parametrize(("text", "seconds"), [("p99<1s", 1.0), ("p99 < 250ms", 0.25), ("p99<0.5s", 0.5)])
def test_limits(text: str, seconds: float) -> None:
    """Limits are read in seconds and milliseconds."""
    assert parse_limit(text) == seconds


@pytest.mark.parametrize("text", ["1s", "p99>1s", "p99<0s", "p99<", "p50<1s", "p99<1m"])
def test_bad_limits(text: str) -> None:
    """Anything else is refused with an example."""
    with pytest.raises(BadInputError, match="give a limit such as"):
        parse_limit(text)
