"""Which scale factor to try next, and what was found: the search for the highest, as pure functions.

A point is a scale factor; it is good if most of its runs are. The search doubles the scale factor until a point is bad,
then halves the interval between the highest good and the lowest bad point above it until they are within 5 %, and runs
these two, where chance decides most, three times each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

_LIKELY = 1_000  # times the first scale factor, or a part of it: where an edge is looked for in estimates
_EDGES = 40  # that are tried for an estimate
CLOSE = 1.05  # ratio of the lowest bad to the highest good scale factor
RUNS_AT_THE_EDGE = 3


@dataclass(frozen=True)
class Outcome:
    """What a run at a scale factor came to."""

    scale_factor: int
    good: bool  # PASSED, valid, sustained, and within the limit on latency
    why: str = ""  # it is not
    p99_s: float | None = None
    p99_interval: tuple[float, float] | None = None  # 95 %
    orders: int = 0  # in the measurement interval
    triggers: int = 0  # of these orders
    p_score: float | None = None
    cores: float | None = None  # that all processes used on average within the measurement interval
    cost: float | None = None  # CPU seconds of the engine for a million ticks


def by_point(outcomes: Sequence[Outcome]) -> dict[int, list[Outcome]]:
    points: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        points.setdefault(outcome.scale_factor, []).append(outcome)
    return dict(sorted(points.items()))


def is_good(outcomes: Sequence[Outcome]) -> bool:
    return 2 * sum(outcome.good for outcome in outcomes) > len(outcomes)


def next_point(outcomes: Sequence[Outcome], first: int, most: int) -> int | None:
    """Return the scale factor to run next; None when the search is finished."""
    points = by_point(outcomes)
    if not points:
        return first
    good = highest(outcomes)
    bad = min((point for point in points if good is None or point > good), default=None)
    between = _between(good, bad, first, most)
    if between is not None and between not in points:
        return between
    edges = (edge for edge in (good, bad) if edge is not None and len(points[edge]) < RUNS_AT_THE_EDGE)
    return next(edges, None)


def expected_runs(first: int, most: int) -> tuple[int, int, int]:
    """Return the fewest and the most runs of a search, if the highest good point is at most the third, by trying it."""
    highest_likely = min(_LIKELY * first, most)
    edges = {round(highest_likely ** (step / _EDGES)) for step in range(_EDGES + 1)}
    runs = [_runs_to_find(edge, first, most) for edge in edges]
    return min(runs), max(runs), highest_likely


def _runs_to_find(edge: int, first: int, most: int) -> int:
    """Return how many runs a search makes if points are good up to an edge."""
    outcomes: list[Outcome] = []
    while (point := next_point(outcomes, first, most)) is not None:
        outcomes.append(Outcome(point, good=point <= edge))
    return len(outcomes)


def _between(good: int | None, bad: int | None, first: int, most: int) -> int | None:
    """Return a scale factor that tells more than those that there are."""
    if good is None:
        return None if bad is None or bad == 1 else bad // 2
    if bad is None:
        return None if good >= most else min(2 * max(good, first), most)
    if bad <= CLOSE * good or bad - good == 1:
        return None
    return max(isqrt(good * bad), good + 1)


def highest(outcomes: Sequence[Outcome]) -> int | None:
    return max((point for point, found in by_point(outcomes).items() if is_good(found)), default=None)


def best(outcomes: Sequence[Outcome]) -> Outcome | None:
    scored = [outcome for outcome in outcomes if outcome.good and outcome.p_score is not None]
    return max(scored, key=lambda outcome: outcome.p_score or 0.0, default=None)
