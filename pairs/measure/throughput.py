"""Ticks per second and backlog: what was planned, what the drivers produced, what the engine consumed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairs.config.workload import Workload
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats, Slots, Wholes, greatest_by_slot, percentile, rates, slots_for

MUCH_BACKLOG_S = 2.0
_SLOTS = 360

Points = tuple[Floats, Floats]  # wall seconds since the first tick was due, values


def rates_over_time(recorded: Recorded) -> dict[str, Points]:
    """Return ticks per second over time: planned, produced, consumed; nothing if neither of the latter is known."""
    slots, noted, planned = _slots(recorded), recorded.throughput, _planned_rate(recorded)
    produced = produced_over_time(recorded)
    if produced is None:
        return {}
    series = {} if planned is None else {"planned": planned}
    series["produced"] = rates(*produced, slots)
    if noted is not None:
        series["consumed"] = rates(recorded.wall_s(noted.time_us), noted.furthest, slots)
    return series


def produced_over_time(recorded: Recorded) -> tuple[Floats, Wholes] | None:
    """Return when how many ticks had been produced, in wall seconds; None if that was not recorded."""
    noted = recorded.throughput
    if noted is not None and len(noted.time_us):
        return recorded.wall_s(noted.time_us), noted.produced
    return _produced_by_drivers(recorded) if recorded.drivers else None


def backlog_over_time(recorded: Recorded) -> Points | None:
    """Return the ticks that were produced and not yet consumed, the most in each slot; None if not recorded."""
    noted = recorded.throughput
    if noted is None:
        return None
    slots = _slots(recorded)
    present, worst = greatest_by_slot(slots.of(recorded.wall_s(noted.time_us)), noted.waiting)
    return slots.middles(present), worst


def planned_workload(recorded: Recorded) -> Workload | None:
    """Return the workload whose curve the arrivals follow; None for imported and hand-made datasets."""
    manifest = recorded.manifest.dataset_manifest
    return None if manifest is None or manifest.trades_by_symbol is not None else manifest.workload


def _planned_rate(recorded: Recorded) -> Points | None:
    """Return the curve that generated arrivals follow, in wall time: a few corners."""
    workload, speed = planned_workload(recorded), recorded.speed
    if workload is None or speed is None:
        return None
    corners, there = workload.rate_knots(float(workload.basis_rate) * speed)
    return np.array(corners) / 1000 / speed, np.array(there)


def _slots(recorded: Recorded) -> Slots:
    return slots_for(0.0, recorded.end_s, int(recorded.end_s), fewest=1, most=_SLOTS, each=1)


def _produced_by_drivers(recorded: Recorded) -> tuple[Floats, Wholes]:
    """Return how many ticks were produced at the end of each second, by the drivers' own records."""
    seconds = np.concatenate([driver.seconds for driver in recorded.drivers])
    ticks = np.concatenate([driver.ticks for driver in recorded.drivers])
    every, place = np.unique(seconds, return_inverse=True)
    sums = np.bincount(place, weights=ticks).astype(np.int64)
    ends = np.concatenate([every[:1], every + 1])
    return recorded.wall_s(ends * 1_000_000), np.concatenate([[0], np.cumsum(sums)])


class RateSummary(NamedTuple):
    """A number per wall second within the measurement interval: mean, what 95 of 100 seconds exceed, and the most."""

    name: str
    mean: float
    p5: float
    most: float


def rate_summaries(recorded: Recorded) -> list[RateSummary]:
    """Return how many ticks and answers there were in each second; nothing if that is not known."""
    begin, end = recorded.interval_s
    edges = begin + np.arange(int(end - begin) + 1, dtype=np.float64)
    if recorded.speed is None or len(edges) < 2:
        return []
    return [
        RateSummary(name, float(counts.mean()), percentile(counts, 0.05), float(counts.max()))
        for name, counts in _counts_by_second(recorded, edges)
    ]


def _counts_by_second(recorded: Recorded, edges: Floats) -> Iterator[tuple[str, Floats]]:
    if (noted := recorded.throughput) is not None:
        seconds = recorded.wall_s(noted.time_us)
        yield "ticks produced", np.diff(np.interp(edges, seconds, noted.produced))
        yield "ticks consumed", np.diff(np.interp(edges, seconds, noted.furthest))
    for stream, answers in recorded.answers.items():
        if len(answers):
            yield f"{stream} received", np.histogram(recorded.wall_s(answers.sink_us), edges)[0].astype(np.float64)


@dataclass(frozen=True)
class Backlog:
    """What the engine had not consumed: how much, in seconds of the input at the basis rate."""

    worst_s: float
    at_begin_s: float  # of the measurement interval, as its end the mean over a tenth of it
    at_end_s: float
    last_s: float  # when it was last noted

    @property
    def growing(self) -> bool:
        """Whether it grew so much within the interval that the load was not sustained."""
        return self.at_end_s - self.at_begin_s > MUCH_BACKLOG_S


def backlog_of(recorded: Recorded) -> Backlog | None:
    """Return the backlog of a run in seconds of input; None if that is not known."""
    noted = recorded.throughput
    if noted is None or recorded.speed is None:
        return None
    per_second = basis_per_second(recorded)
    return backlog(recorded.wall_s(noted.time_us), noted.waiting, *recorded.interval_s, per_second)


def basis_per_second(recorded: Recorded) -> float:
    """Return the basis rate of a paced run in ticks per wall second; of a hand-made dataset the mean rate."""
    manifest, workload = recorded.manifest, recorded.workload
    if workload is None:
        return (manifest.ticks or 0) / max(recorded.wall_of(manifest.duration_ms), 1e-9)
    return float(workload.basis_rate) * (recorded.speed or 1.0)


def backlog(times: Floats, waiting: NDArray[Any], begin: float, end: float, per_second: float) -> Backlog | None:
    """Evaluate how many ticks waited at which times; None if that was not noted within the interval."""
    tenth = (end - begin) / 10
    first, last = ((times >= start) & (times < start + tenth) for start in (begin, end - tenth))
    if not first.any() or not last.any() or per_second <= 0:
        return None
    ticks = waiting.max(), waiting[first].mean(), waiting[last].mean(), waiting[-1]
    return Backlog(*(float(count) / per_second for count in ticks))
