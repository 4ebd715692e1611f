"""Latency: over time, as a histogram, as a percentile curve, from scheduled and from send time."""

import numpy as np

from pairs.measure import latency
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats, percentile_curve, thinned_rows
from pairs.model.streams import SCORED, STREAMS, StreamSpec
from pairs.report.charts import Data, absent, log_range, numbers, times

MOST_DOTS = 6_000
_WIDE = 30  # times the median that the worst latency is: beyond, only a logarithmic axis shows both
_NOT_BY_TICK = "Not recorded: the drivers kept no send delay of single ticks."


def over_time(recorded: Recorded, stream: StreamSpec, dots: bool) -> Data:
    """Median, 99th percentile and greatest latency in each slot of time, and single answers as dots."""
    timed = recorded.timed(stream)
    if not timed:
        return absent(_why_absent(recorded, stream))
    found, latency_ms = latency.over_time(recorded, timed), timed.latency_s * 1000
    wide = found.worst_s.max() > _WIDE * np.median(found.p50_s) > 0
    data = {
        "x": times(found.times),
        "p50": numbers(found.p50_s * 1000),
        "p99": numbers(found.p99_s * 1000),
        "max": numbers(found.worst_s * 1000),
        "range": log_range([latency_ms]) if wide else None,
    }
    if dots:
        rows, answers = thinned_rows(timed.due_s, latency_ms, MOST_DOTS), recorded.answers[stream.name]
        data["dots"] = {
            "x": times(timed.due_s[rows]),
            "y": numbers(latency_ms[rows]),
            "names": answers.strategies,
            "name": answers.strategy[rows].tolist(),
            "every": len(rows) == len(timed),
        }
    return data


def histogram(recorded: Recorded) -> Data:
    """How often which latency occurred within the measurement interval."""
    filled = _measured_ms(recorded)
    if not filled:
        return absent(_why_absent(recorded, *STREAMS.values()))
    streams = {
        name: {
            "x": numbers(found.middles),
            "y": numbers(found.percent),
            "counts": found.counts.tolist(),
            "answers": int(found.counts.sum()),
        }
        for name, found in latency.histograms(filled).items()
    }
    if not streams:
        return absent("No latency is above zero, so the clocks cannot be trusted.")
    return {"streams": streams, "range": log_range(filled.values())}


def percentiles(recorded: Recorded) -> Data:
    """Return the percentile curves of the streams within the measurement interval."""
    filled = _measured_ms(recorded)
    if not filled:
        return absent(_why_absent(recorded, *STREAMS.values()))
    return {"streams": {name: curve(values) for name, values in filled.items()}, "range": log_range(filled.values())}


def curve(values_ms: Floats) -> Data:
    """Return the percentile curve of some latencies."""
    found = percentile_curve(values_ms)
    return {
        "x": numbers(found.tails),
        "y": numbers(found.values),
        "percent": numbers(found.percent),
        "max": float(values_ms.max()),
    }


def scheduled_and_sent(recorded: Recorded) -> Data:
    """Return the 99th percentile of the scored stream in each slot, from scheduled and from send time."""
    timed = recorded.timed(SCORED)
    if not timed:
        return absent(_why_absent(recorded, SCORED))
    from_send_time = timed.from_send_time
    if from_send_time is None:
        return absent(_NOT_BY_TICK)
    scheduled, sent = (latency.over_time(recorded, answers) for answers in (timed, from_send_time))
    return {
        "x": times(scheduled.times),
        "scheduled": numbers(scheduled.p99_s * 1000),
        "sent": numbers(sent.p99_s * 1000),
    }


def quarters(recorded: Recorded) -> Data:
    """Median and 99th percentile of the scored stream in each quarter of the measurement interval."""
    measured = recorded.measured(SCORED)
    if not measured:
        return absent(_why_absent(recorded, SCORED))
    found = latency.quarters(measured, *recorded.manifest.measurement_interval_ms)
    return {
        "p50": [None if quarter.p50 is None else quarter.p50 * 1000 for quarter in found],
        "p99": [None if quarter.p99 is None else quarter.p99 * 1000 for quarter in found],
        "counts": [quarter.count for quarter in found],
    }


def _measured_ms(recorded: Recorded) -> dict[str, Floats]:
    found = {name: recorded.measured(stream).latency_s * 1000 for name, stream in STREAMS.items()}
    return {name: values for name, values in found.items() if len(values)}


def _why_absent(recorded: Recorded, *streams: StreamSpec) -> str:
    if any(not recorded.answers.get(stream.name) for stream in streams):
        return "The run recorded no answers of this stream."
    return "No answer was triggered in the measurement interval." if recorded.speed else recorded.why_untimed
