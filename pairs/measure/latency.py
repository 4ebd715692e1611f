"""Latency of answers: summaries, over time, as a histogram and by quarters of the measurement interval."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Floats, Histogram, Slots, log_histogram, percentile, percentiles_by_slot, slots_for
from pairs.run_folder.records import LatencySummary

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
_NEEDED = {"p99.9": 1_000, "p99.99": 10_000}  # answers; with fewer, the percentile is only the greatest of them
_FEWEST_BINS, _MOST_BINS = 20, 120


def figures(latencies_s: Floats) -> dict[str, float | None]:
    """Return least, mean, percentiles and greatest of latencies; nothing if there are none.

    A percentile that there are too few latencies for is None.
    """
    count = len(latencies_s)
    if not count:
        return {}
    known = {name: count >= _NEEDED.get(name, 1) for name in _SHARES}
    shares = {name: percentile(latencies_s, share) if known[name] else None for name, share in _SHARES.items()}
    ends = float(latencies_s.min()), float(latencies_s.mean()), float(latencies_s.max())
    return {"min": ends[0], "avg": ends[1], **shares, "max": ends[2]}


def summarize(latencies_s: Floats) -> LatencySummary:
    found = figures(latencies_s)
    found.pop("p99.99", None)
    return LatencySummary.model_validate({"count": len(latencies_s), **found})


@dataclass(frozen=True)
class OverTime:
    """Latencies in slots of time that have any."""

    times: Floats  # middles of the slots
    p50_s: Floats
    p99_s: Floats
    worst_s: Floats


def over_time(recorded: Recorded, timed: Timed) -> OverTime:
    """Return latencies over the wall time at which the triggers were due."""
    end = max(recorded.wall_of(recorded.manifest.duration_ms), float(timed.due_s.max()))
    return _over(timed.due_s, timed.latency_s, slots_for(0.0, end, len(timed)))


def over_day(recorded: Recorded, timed: Timed) -> OverTime:
    """Return latencies over the percentage of the trading day, on which runs of different speeds agree."""
    share = timed.tick_ts / recorded.manifest.duration_ms * 100
    return _over(share, timed.latency_s, slots_for(0.0, 100.0, len(timed), most=120))


def _over(times: Floats, latencies_s: Floats, slots: Slots) -> OverTime:
    found = percentiles_by_slot(slots.of(times), latencies_s, (0.5, 0.99))
    p50_s, p99_s = found.shares
    return OverTime(slots.middles(found.slots), p50_s, p99_s, found.greatest)


def histograms(measured: Mapping[str, Floats]) -> dict[str, Histogram]:
    """Count the latencies of streams in the same range of bins of equal ratio; nothing if none is above zero."""
    above = np.concatenate([values[values > 0] for values in measured.values()])
    if not len(above):
        return {}
    fewest = min(len(values) for values in measured.values())
    bins = int(np.clip(2 * np.sqrt(fewest), _FEWEST_BINS, _MOST_BINS))
    ends = float(above.min()), float(above.max())
    return {name: log_histogram(values, *ends, bins) for name, values in measured.items()}


def quarters(timed: Timed, begin: float, end: float) -> list[LatencySummary]:
    """Summarize the latencies of each quarter of an interval of simulated time."""
    slots = Slots(begin, (end - begin) / 4, 4).of(timed.tick_ts)
    return [summarize(timed.latency_s[slots == number]) for number in range(4)]
