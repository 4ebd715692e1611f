"""What repeated runs of the same settings show: medians, ranges, what differs beyond noise, and the Pareto front.

Pure functions. Void runs are kept, but no figure is made of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import median
from typing import Literal, TypeVar

T = TypeVar("T")

RULE = (
    "Two points differ if each has at least two valid runs, the slowest valid run of one is faster at the 99th "
    "percentile than the fastest valid run of the other, and their pooled 95 % intervals, from the median of the lower "
    "to the median of the upper bounds of their runs, do not overlap; else they are within noise."
)
FEWEST_RUNS = 2  # of each of two points that may differ
_MOST_PAIRED = 6  # points that are all compared with each other; more are compared with the fastest only


@dataclass(frozen=True)
class RunFigures:
    """What a run came to."""

    name: str
    valid: bool
    reasons: tuple[str, ...] = ()  # why it is void
    p99_s: float | None = None
    p99_interval: tuple[float, float] | None = None
    p_score: float | None = None
    cost: float | None = None  # CPU seconds of the engine for a million ticks
    machine_cores: int | None = None
    harness_cores: float | None = None  # that drivers and sink used on average, of those of the machine


@dataclass(frozen=True)
class Spread:
    """Median, least and greatest of some values."""

    median: float
    least: float
    greatest: float

    def apart(self, other: "Spread") -> bool:
        return self.greatest < other.least or other.greatest < self.least


@dataclass(frozen=True)
class Point:
    """Some settings, and the runs that were made with them."""

    label: str
    varied: dict[str, str]  # the settings in which it differs from other points
    plan_class: str
    runs: tuple[RunFigures, ...]

    @property
    def valid(self) -> tuple[RunFigures, ...]:
        return tuple(run for run in self.runs if run.valid)

    @property
    def p99_s(self) -> Spread | None:
        return spread(run.p99_s for run in self.valid)

    @property
    def p_score(self) -> Spread | None:
        return spread(run.p_score for run in self.valid)

    @property
    def cost(self) -> Spread | None:
        return spread(run.cost for run in self.valid)

    @property
    def p99_interval(self) -> tuple[float, float] | None:
        """The pooled 95 % interval: the median of the lower and of the upper bounds of its valid runs."""
        known = [run.p99_interval for run in self.valid if run.p99_interval is not None]
        return (median(low for low, _ in known), median(high for _, high in known)) if known else None


Verdict = Literal["differ", "within noise", "unknown"]


@dataclass(frozen=True)
class Comparison:
    """Whether two points differ; the faster by its median comes first."""

    one: Point
    other: Point
    verdict: Verdict

    @property
    def sentence(self) -> str:
        one, other = self.one, self.other
        if self.verdict == "unknown":
            runs = f"{len(one.valid)} and {len(other.valid)} valid runs"
            return f"unknown: {one.label} and {other.label}: {runs}, {FEWEST_RUNS} of each are needed"
        figures = f"p99 {_shown(one.p99_s)} and {_shown(other.p99_s)}"
        if self.verdict == "within noise":
            return f"within noise: {one.label} and {other.label}: {figures}"
        share = 1 - _median(one.p99_s) / _median(other.p99_s)
        return f"{one.label} and {other.label} differ: {figures}; {one.label} is faster by {share:.0%}"


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return the spread of the values that are known; None if there is none."""
    known = [value for value in values if value is not None]
    return Spread(median(known), min(known), max(known)) if known else None


def compare(one: Point, other: Point) -> Comparison:
    """Compare two points by RULE."""
    first, second = sorted((one, other), key=lambda point: _median(point.p99_s))
    return Comparison(first, second, _verdict(first, second))


def _verdict(one: Point, other: Point) -> Verdict:
    if min(len(one.valid), len(other.valid)) < FEWEST_RUNS or one.p99_s is None or other.p99_s is None:
        return "unknown"
    apart = one.p99_s.apart(other.p99_s) and _intervals_apart(one.p99_interval, other.p99_interval)
    return "differ" if apart else "within noise"


def _intervals_apart(one: tuple[float, float] | None, other: tuple[float, float] | None) -> bool:
    return one is not None and other is not None and (one[1] < other[0] or other[1] < one[0])


def chance_apart(runs: int, others: int) -> float:
    """Return how likely the ranges of two points lie apart if both are equal: runs are then in any order alike."""
    return min(2 / comb(runs + others, runs), 1.0)


def chance_sentence(found: Sequence[Comparison]) -> str | None:
    """Return how easily ranges lie apart by chance, of the pair with the fewest runs; None if nothing differs."""
    differing = [comparison for comparison in found if comparison.verdict == "differ"]
    if not differing:
        return None
    counts = [(len(comparison.one.valid), len(comparison.other.valid)) for comparison in differing]
    runs, others = max(counts, key=lambda pair: chance_apart(*pair))
    return (
        f"By chance alone, the ranges of {runs} and {others} runs of equal points lie apart in "
        f"{chance_apart(runs, others):.2g} of cases; more runs make that rarer."
    )


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """Compare each point with each other; if there are many, each with the fastest only."""
    if len(points) <= _MOST_PAIRED:
        return [compare(one, other) for one, other in combinations(points, 2)]
    fastest = min(points, key=lambda point: _median(point.p99_s))
    return [compare(fastest, point) for point in points if point is not fastest]


def front(points: Sequence[Point]) -> list[Point]:
    """Return the Pareto front of median p99 and median cost, cheapest first: points that no other beats."""
    known = [point for point in points if point.p99_s is not None and point.cost is not None]
    kept = [point for point in known if not any(_beats(other, point) for other in known)]
    return sorted(kept, key=_medians)


def _medians(point: Point) -> tuple[float, float]:
    return _median(point.cost), _median(point.p99_s)


def _beats(one: Point, other: Point) -> bool:
    """Return whether a point is better in one median and not worse in the other."""
    pairs = list(zip(_medians(one), _medians(other), strict=True))
    return all(own <= others for own, others in pairs) and any(own < others for own, others in pairs)


def _median(found: Spread | None) -> float:
    return float("inf") if found is None else found.median


def _shown(found: Spread | None) -> str:
    if found is None:
        return "unknown"
    middle, least, greatest = (f"{value * 1000:,.1f}" for value in (found.median, found.least, found.greatest))
    return f"{middle} ms ({least} to {greatest})"


def interleaved(points: Sequence[T], repeat: int) -> list[tuple[T, int]]:
    """Return in which order points are run: all once, then all again backwards, and so on; runs count from 1.

    So a machine that gets slower or faster does not favour one of them.
    """
    directions = ((number, points if number % 2 else points[::-1]) for number in range(1, repeat + 1))
    return [(point, number) for number, ordered in directions for point in ordered]
