"""Latency: over time, as a histogram, as a percentile curve, from scheduled and from send time."""

import numpy as np
from numpy.typing import NDArray

from pairs.measure.recordings import Recorded
from pairs.measure.reduce import log_histogram, percentile_curve, percentiles_by_slot, slots_for, thinned_rows
from pairs.measure.stability import quarters as quarters_of
from pairs.report.charts import Data, absent, numbers, times
from pairs.report.packing import pack

MOST_DOTS = 6_000
_FEWEST_BINS, _MOST_BINS = 20, 120
_NO_ANSWERS = "The run recorded no answers of this stream."
_NOT_BY_TICK = "Not recorded: the drivers kept no note of how late single ticks were sent."

Floats = NDArray[np.float64]


def over_time(recorded: Recorded, stream: str, dots: bool) -> Data:
    """Median, 99th percentile and greatest latency in each slot of time, and single answers as dots."""
    answers = recorded.answers[stream]
    problem = _problem(recorded, stream)
    if problem is not None or answers is None or answers.due_us is None:
        return absent(problem or _NO_ANSWERS)
    due_s, latency_ms = recorded.wall_s(answers.due_us), answers.latency_s * 1000
    slots = slots_for(0.0, max(recorded.wall_of(recorded.duration_ms), float(due_s.max())), len(answers))
    found = percentiles_by_slot(slots.of(due_s), latency_ms, (0.5, 0.99))
    data: Data = {
        "x": times(slots.middles(found.slots)),
        "p50": numbers(found.shares[0]),
        "p99": numbers(found.shares[1]),
        "max": numbers(found.greatest),
        "slot_s": slots.width,
        "answers": len(answers),
    }
    if dots:
        rows = thinned_rows(due_s, latency_ms, MOST_DOTS)
        data["dots"] = {
            "x": times(due_s[rows]),
            "y": numbers(latency_ms[rows]),
            "names": answers.strategies,
            "name": pack(answers.strategy[rows]),
        }
    return data


def histogram(recorded: Recorded) -> Data:
    """How often which latency occurred within the measurement interval, both streams."""
    measured = {stream: recorded.measured(stream)[1] * 1000 for stream in recorded.answers}
    filled = {stream: values for stream, values in measured.items() if len(values)}
    if not filled:
        return absent(_problem_of_all(recorded))
    above = np.concatenate([values[values > 0] for values in filled.values()])
    if not len(above):
        return absent("No latency is above zero, so the clocks cannot be trusted.")
    least, greatest = float(above.min()), float(above.max())
    fewest = min(len(values) for values in filled.values())
    bins = int(np.clip(2 * np.sqrt(fewest), _FEWEST_BINS, _MOST_BINS))
    streams = {}
    for stream, values in filled.items():
        found = log_histogram(values, least, greatest, bins)
        streams[stream] = {"edges": numbers(found.edges), "counts": numbers(found.counts), "answers": len(values)}
    return {"streams": streams, "below": int(sum((values <= 0).sum() for values in filled.values()))}


def percentiles(recorded: Recorded) -> Data:
    """Return the percentile curve of both streams within the measurement interval."""
    curves = {}
    for stream in recorded.answers:
        values = recorded.measured(stream)[1] * 1000
        if len(values):
            curves[stream] = curve(values)
    return {"streams": curves} if curves else absent(_problem_of_all(recorded))


def curve(values_ms: Floats) -> Data:
    """Pack the percentile curve of some latencies."""
    found = percentile_curve(values_ms)
    return {
        "x": numbers(found.tails),
        "y": numbers(found.values),
        "max": float(values_ms.max()),
        "answers": len(values_ms),
    }


def scheduled_and_sent(recorded: Recorded) -> Data:
    """Return the 99th percentile of the orders in each slot, from scheduled and from send time."""
    answers = recorded.answers["orders"]
    problem = _problem(recorded, "orders")
    if problem is not None or answers is None or answers.due_us is None:
        return absent(problem or _NO_ANSWERS)
    if answers.late_s is None:
        return absent(_NOT_BY_TICK)
    due_s = recorded.wall_s(answers.due_us)
    slots = slots_for(0.0, max(recorded.wall_of(recorded.duration_ms), float(due_s.max())), len(answers))
    scheduled, sent = (
        percentiles_by_slot(slots.of(due_s), values * 1000, (0.99,))
        for values in (answers.latency_s, answers.latency_s - answers.late_s)
    )
    return {
        "x": times(slots.middles(scheduled.slots)),
        "scheduled": numbers(scheduled.shares[0]),
        "sent": numbers(sent.shares[0]),
        "slot_s": slots.width,
    }


def sent_latencies(recorded: Recorded, stream: str) -> Floats | None:
    """Return the latencies from send time of the answers within the measurement interval, if that can be told."""
    answers = recorded.answers[stream]
    if answers is None or answers.late_s is None:
        return None
    begin, end = recorded.interval_ms
    inside = (answers.tick_ts >= begin) & (answers.tick_ts < end)
    return (answers.latency_s - answers.late_s)[inside]


def quarters(recorded: Recorded) -> Data:
    """Median and 99th percentile of the orders in each quarter of the measurement interval."""
    ticks, latencies = recorded.measured("orders")
    if not len(latencies):
        return absent(_problem_of_all(recorded))
    found = quarters_of(ticks, latencies, *recorded.interval_ms)
    in_ms = [
        (None if one.p50_s is None else one.p50_s * 1000, None if one.p99_s is None else one.p99_s * 1000)
        for one in found
    ]
    return {
        "p50": [one[0] for one in in_ms],
        "p99": [one[1] for one in in_ms],
        "counts": [one.count for one in found],
    }


def _problem(recorded: Recorded, stream: str) -> str | None:
    answers = recorded.answers[stream]
    if answers is None or not len(answers):
        return _NO_ANSWERS
    return recorded.why_untimed if answers.due_us is None else None


def _problem_of_all(recorded: Recorded) -> str:
    problems = [_problem(recorded, stream) for stream in recorded.answers]
    return next((one for one in problems if one), "No answer was triggered in the measurement interval.")
