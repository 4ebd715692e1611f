"""The phases of a run one by one: planned and achieved rate, latency of the orders due in each, worst backlog."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pairs.generator.arrivals import RateCurve
from pairs.measure.latency import summarize
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Floats, Wholes
from pairs.measure.throughput import basis_per_second, planned_workload, produced_over_time
from pairs.model.streams import SCORED
from pairs.run_folder.records import LatencySummary


class Span(NamedTuple):
    """A phase in simulated time."""

    name: str
    begin_ms: int
    end_ms: int


class PhaseSummary(NamedTuple):
    """What happened in a phase, per second of wall time; None where that is not known."""

    span: Span
    planned_per_s: float | None  # the mean over the phase
    produced_per_s: float | None  # as noted about once a second; None for a phase that is shorter
    orders: LatencySummary  # of those whose trigger was due in the phase
    backlog_ticks: float | None  # the most that was noted
    backlog_s: float | None  # the same in seconds of input at the basis rate


def spans(begins_ms: Mapping[str, int], duration_ms: int) -> list[Span]:
    """Return phases with their ends: each ends where the next begins."""
    ends = [*list(begins_ms.values())[1:], duration_ms]
    return [Span(name, begin, end) for (name, begin), end in zip(begins_ms.items(), ends, strict=False)]


def by_phase(recorded: Recorded) -> list[PhaseSummary]:
    """Summarize each phase of a run; nothing if it was unpaced."""
    speed, manifest, workload = recorded.speed, recorded.manifest, planned_workload(recorded)
    if speed is None:
        return []
    every = spans(manifest.phases_ms, manifest.duration_ms)
    walls = [(recorded.wall_of(span.begin_ms), recorded.wall_of(span.end_ms)) for span in every]
    curve = None if workload is None else RateCurve.of(workload)
    produced, timed, basis = produced_over_time(recorded), recorded.timed(SCORED), basis_per_second(recorded)
    backlogs = [_worst_backlog(recorded, begin, end) for begin, end in walls]
    return [
        PhaseSummary(
            span=span,
            planned_per_s=None if curve is None else _planned(curve, span, speed),
            produced_per_s=None if produced is None else _rate_between(produced, *wall),
            orders=summarize(np.empty(0) if timed is None else _due_in(timed, span, manifest.duration_ms)),
            backlog_ticks=backlog,
            backlog_s=None if backlog is None or not basis else backlog / basis,
        )
        for span, wall, backlog in zip(every, walls, backlogs, strict=True)
    ]


def _planned(curve: RateCurve, span: Span, speed: float) -> float | None:
    """Return the mean of the curve over a phase, in ticks per wall second."""
    length_ms = span.end_ms - span.begin_ms
    before, after = curve.mass(np.array([span.begin_ms, span.end_ms], np.float64)).tolist()
    return float(after - before) / length_ms * 1000 * speed if length_ms > 0 else None


def _rate_between(totals: tuple[Floats, Wholes], begin: float, end: float) -> float | None:
    """Return the mean rate from the first to the last note within a phase; None if there are no two.

    Notes are about a second apart: a rate across a border would mix two phases.
    """
    inside = (totals[0] >= begin) & (totals[0] <= end)
    seconds, counts = (values[inside] for values in totals)
    lasted = float(np.ptp(seconds)) if len(seconds) else 0.0
    return float(np.ptp(counts)) / lasted if lasted > 0 else None


def _due_in(timed: Timed, span: Span, duration_ms: int) -> Floats:
    """Return the latencies of the answers due in a phase; the bell belongs to the last phase."""
    end_ms = np.inf if span.end_ms == duration_ms else span.end_ms
    return timed.latency_s[(timed.tick_ts >= span.begin_ms) & (timed.tick_ts < end_ms)]


def _worst_backlog(recorded: Recorded, begin: float, end: float) -> float | None:
    noted = recorded.throughput
    if noted is None:
        return None
    seconds = recorded.wall_s(noted.time_us)
    inside = noted.waiting[(seconds >= begin) & (seconds < end)]
    return float(inside.max()) if len(inside) else None
