"""Where the latency of answers goes: sending, waiting for the engine's batch, the batch, the way to the sink.

A part whose end was not recorded is joined with the part that follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pairs.measure.recorded_files import Batch
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Floats, Wholes, percentile, slots_for
from pairs.model.streams import SCORED, StreamSpec

SENDING = "send delay of the driver"
WAITING = "waiting for the batch before"
BATCH = "the batch itself"
WAY = "way to the sink"
_ENGINE = "engine"  # waiting and batch, of an engine that tells nothing of batches
_ENDS = {
    SENDING: "when each tick was sent",
    WAITING: "when the engine's batches began",
    BATCH: "when the engine handed answers to the sink",
}
_LONG_AGO, _NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class LatencyParts:
    """The latency of every answer of a stream in parts, which add up to it exactly."""

    timed: Timed
    parts_us: Mapping[str, Wholes]  # in the order in which they happen
    not_recorded: tuple[str, ...]  # moments at which a part would end


def latency_parts(recorded: Recorded, stream: StreamSpec) -> LatencyParts | None:
    """Return the parts of the latencies of a stream; None if it has no latencies."""
    timed = recorded.timed(stream)
    if not timed:
        return None
    arrived = recorded.answers[stream.name].sink_us
    due = arrived - _microseconds(timed.latency_s)
    sent = None if timed.delay_s is None else due + _microseconds(timed.delay_s)
    began, handed = _batch_moments(recorded.batches, arrived)
    ends = {SENDING: sent, WAITING: began, BATCH: handed, WAY: arrived}
    missing = tuple(_ENDS[part] for part, end in ends.items() if end is None)
    return LatencyParts(timed, _between(due, ends, arrived), missing)


def _microseconds(seconds: Floats) -> Wholes:
    return np.rint(seconds * 1e6).astype(np.int64)


def _batch_moments(batches: Sequence[Batch], arrived: Wholes) -> tuple[Wholes | None, Wholes | None]:
    """Return when the batches of answers began and were handed over: the last that began before the arrival."""
    if not batches:
        return None, None
    begins = np.array([_LONG_AGO, *(batch.time for batch in batches)])
    handed = np.array([_NEVER, *(_NEVER if batch.handed is None else batch.handed for batch in batches)])
    place = np.searchsorted(begins, arrived) - 1
    return begins[place], handed[place] if (handed < _NEVER).any() else None


def _between(due: Wholes, ends: Mapping[str, Wholes | None], arrived: Wholes) -> dict[str, Wholes]:
    """Return the time up to each known moment, none of which is before its predecessor or after the arrival."""
    parts, before, joined = {}, due, list[str]()
    for part, end in ends.items():
        joined.append(part)
        if end is not None:
            moment = np.minimum(np.maximum(end, before), arrived)
            parts[_name(joined)] = moment - before
            before, joined = moment, []
    return parts


def _name(parts: Sequence[str]) -> str:
    words = list(parts)
    if WAITING in words and BATCH in words:
        words[words.index(WAITING) : words.index(BATCH) + 1] = [_ENGINE]
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def mean_over_time(recorded: Recorded, found: LatencyParts) -> tuple[Floats, dict[str, Floats]]:
    """Return the middles of slots of wall time, and the mean milliseconds of each part in them."""
    timed = found.timed
    end = max(recorded.wall_of(recorded.manifest.duration_ms), float(timed.due_s.max()))
    slots = slots_for(0.0, end, len(timed))
    slot = slots.of(timed.due_s)
    present, counts = np.unique(slot, return_counts=True)
    means = {
        part: np.bincount(slot, values, slots.count)[present] / counts / 1000 for part, values in found.parts_us.items()
    }
    return slots.middles(present), means


def shares_of_slowest(recorded: Recorded, found: LatencyParts) -> tuple[float, dict[str, float]] | None:
    """Return p99 in the measurement interval in seconds, and the share of each part in all latency from there on."""
    inside = recorded.inside(found.timed.tick_ts)
    if not inside.any():
        return None
    p99_s = percentile(found.timed.latency_s[inside], 0.99)
    slowest = inside & (found.timed.latency_s >= p99_s)
    sums = {part: int(values[slowest].sum()) for part, values in found.parts_us.items()}
    total = sum(sums.values())
    return (p99_s, {part: value / total for part, value in sums.items()}) if total > 0 else None


def where_it_goes(recorded: Recorded) -> str | None:
    """Say what the slowest hundredth of the orders in the measurement interval spent their time on."""
    found = latency_parts(recorded, SCORED)
    slowest = None if found is None else shares_of_slowest(recorded, found)
    if found is None or slowest is None:
        return None
    p99_s, shares = slowest
    (part, share), *others = sorted(shares.items(), key=lambda entry: -entry[1])
    listed = ", ".join([f"{share:.0%} of p99 ({p99_s * 1000:,.1f} ms) is {part}", *(f"{b:.0%} {a}" for a, b in others)])
    missing = f" Not recorded: {', '.join(found.not_recorded)}." if found.not_recorded else ""
    return f"{listed}, by the mean of the slowest hundredth of the orders.{missing}"
