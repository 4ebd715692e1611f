"""The data of a run's charts, by the id of the chart: series for plotly, or why there are none."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairs.measure import latency, latency_parts, resources, send_delay, throughput
from pairs.measure.findings import MOST_DISTURBED
from pairs.measure.recorded_files import Batch
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats, extreme_rows, greatest_by_slot, percentile_curve, slots_for, thinned_rows
from pairs.model.streams import SCORED, STREAMS, StreamSpec
from pairs.report.packing import typed_array

Data = dict[str, Any]

# Plotly takes numbers below 10,000 on an axis of dates for years, so times count from some midnight, as in data.js.
_MIDNIGHT_MS = 946_684_800_000
_MOST_POINTS = 360
_MOST_BATCHES = 400
_MOST_DOTS = 6_000
_WIDE = 30  # times the median that the worst latency is: beyond, only a logarithmic axis shows both


def charts(recorded: Recorded) -> dict[str, Data]:
    return {
        "quarters": _quarters(recorded),
        **_load(recorded),
        **{f"latency-{name}": _latency(recorded, stream) for name, stream in STREAMS.items()},
        **_distributions(recorded),
        "latency-parts": _latency_parts(recorded),
        "send-delay": _send_delays(recorded),
        "scheduled-sent": _scheduled_and_sent(recorded),
        **_machine(recorded),
        "disturbance": _disturbance(recorded),
        "collection": _collection(recorded),
        **_batches(recorded),
    }


def absent(reason: str) -> Data:
    """Return what stands in the place of a chart that cannot be drawn."""
    return {"absent": reason}


def numbers(values: NDArray[Any] | list[float]) -> Data:
    """Return values with seven digits, which is more than a chart can show."""
    return typed_array(np.asarray(values, np.float32))


def log_range(series: Iterable[NDArray[Any]]) -> list[float]:
    """Return the least and the greatest value above zero, for a logarithmic axis; nothing if there is none."""
    above = np.concatenate([np.empty(0), *(values[values > 0] for values in series)])
    return [float(above.min()), float(above.max())] if len(above) else []


def curve(values_ms: Floats) -> Data:
    found = percentile_curve(values_ms)
    points = {"x": numbers(found.tails), "y": numbers(found.values), "percent": numbers(found.percent)}
    return points | {"max": float(values_ms.max())}


def _times(seconds: NDArray[Any]) -> Data:
    """Return wall seconds since the first tick as what an axis of time takes."""
    return typed_array(_MIDNIGHT_MS + np.rint(np.asarray(seconds, np.float64) * 1000))


def _line(seconds: NDArray[Any], values: NDArray[Any]) -> Data:
    return {"x": _times(seconds), "y": numbers(values)}


def _load(recorded: Recorded) -> dict[str, Data]:
    """Ticks per second, planned, produced and consumed; and those produced and not yet consumed."""
    missing = absent("Not recorded: the run kept no note of how many ticks were produced and consumed.")
    rates, backlog = throughput.rates_over_time(recorded), throughput.backlog_over_time(recorded)
    lines = {name: _line(*points) for name, points in rates.items()}
    return {
        "rate": {"series": lines} if lines else missing,
        "backlog": missing if backlog is None else _line(*backlog),
    }


def _send_delays(recorded: Recorded) -> Data:
    if not recorded.drivers:
        return absent("Not recorded: the run was unpaced, or its drivers did not come to their end.")
    drivers = {}
    for number, driver in enumerate(recorded.drivers):
        seconds, worst_s = send_delay.worst_over_time(driver, recorded.origin_us)
        slots = slots_for(0.0, float(seconds.max(initial=0.0)) + 1, len(seconds), 1, _MOST_POINTS, 1)
        present, worst = greatest_by_slot(slots.of(seconds), worst_s * 1000)
        drivers[f"driver {number}"] = _line(slots.middles(present), worst)
    return {"drivers": drivers}


def _latency(recorded: Recorded, stream: StreamSpec) -> Data:
    """Median, 99th percentile and greatest latency in each slot of time; scored answers also as single dots."""
    timed = recorded.timed(stream)
    if not timed:
        return absent(_why_absent(recorded, stream))
    found, latency_ms = latency.over_time(recorded, timed), timed.latency_s * 1000
    wide = found.worst_s.max() > _WIDE * np.median(found.p50_s) > 0
    data = {
        "x": _times(found.times),
        "p50": numbers(found.p50_s * 1000),
        "p99": numbers(found.p99_s * 1000),
        "max": numbers(found.worst_s * 1000),
        "range": log_range([latency_ms]) if wide else None,
    }
    if stream.scored:
        rows, answers = thinned_rows(timed.due_s, latency_ms, _MOST_DOTS), recorded.answers[stream.name]
        data["dots"] = _line(timed.due_s[rows], latency_ms[rows]) | {
            "names": answers.strategies,
            "name": answers.strategy[rows].tolist(),
            "every": len(rows) == len(timed),
        }
    return data


def _distributions(recorded: Recorded) -> dict[str, Data]:
    """How often which latency occurred within the measurement interval, and its percentile curve, by stream."""
    found = {name: recorded.measured(stream).latency_s * 1000 for name, stream in STREAMS.items()}
    filled = {name: values for name, values in found.items() if len(values)}
    if not filled:
        return dict.fromkeys(("histogram", "percentiles"), absent(_why_absent(recorded, *STREAMS.values())))
    axis = {"range": log_range(filled.values())}
    counted = {
        name: {
            "x": numbers(histogram.middles),
            "y": numbers(histogram.percent),
            "counts": histogram.counts.tolist(),
            "answers": int(histogram.counts.sum()),
        }
        for name, histogram in latency.histograms(filled).items()
    }
    untrusted = absent("No latency is above zero, so the clocks cannot be trusted.")
    return {
        "histogram": {"streams": counted} | axis if counted else untrusted,
        "percentiles": {"streams": {name: curve(values) for name, values in filled.items()}} | axis,
    }


def _latency_parts(recorded: Recorded) -> Data:
    """Return the mean of each part of the latency in each slot, of scored answers, or of others if there are none."""
    for stream in sorted(STREAMS.values(), key=lambda stream: not stream.scored):
        found = latency_parts.latency_parts(recorded, stream)
        if found is not None:
            times, means_ms = latency_parts.mean_over_time(recorded, found)
            return {"x": _times(times), "parts": _parts(means_ms), "stream": stream.name}
    return absent(_why_absent(recorded, *STREAMS.values()))


def _scheduled_and_sent(recorded: Recorded) -> Data:
    """Return the 99th percentile of the scored stream in each slot, from scheduled and from send time."""
    timed = recorded.timed(SCORED)
    if not timed:
        return absent(_why_absent(recorded, SCORED))
    if timed.from_send_time is None:
        return absent("Not recorded: the drivers kept no send delay of single ticks.")
    scheduled, sent = (latency.over_time(recorded, answers) for answers in (timed, timed.from_send_time))
    p99_ms = {"scheduled": numbers(scheduled.p99_s * 1000), "sent": numbers(sent.p99_s * 1000)}
    return {"x": _times(scheduled.times)} | p99_ms


def _quarters(recorded: Recorded) -> Data:
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


def _why_absent(recorded: Recorded, *streams: StreamSpec) -> str:
    if any(not recorded.answers.get(stream.name) for stream in streams):
        return "The run recorded no answers of this stream."
    return "No answer was triggered in the measurement interval." if recorded.speed else recorded.why_untimed


def _machine(recorded: Recorded) -> dict[str, Data]:
    """Cores in use, gigabytes of memory, and megabytes read and written per second, by part."""
    samples = recorded.resources
    if samples is None:
        return dict.fromkeys(("cpu", "memory", "disk"), absent("Not recorded: no process of the run was sampled."))
    seconds, cores = resources.per_second(recorded, samples, samples.cpu_seconds)
    slots, rss_bytes = resources.most_in_slots(recorded, samples, samples.rss_bytes)
    disk = {"x": _times(seconds)}
    for name, moved in (("written", samples.written_bytes), ("read", samples.read_bytes)):
        _, rates = resources.per_second(recorded, samples, moved)
        disk[name] = _parts({part: values / 1e6 for part, values in rates.items() if (values > 0).any()})
    return {
        "cpu": {"x": _times(seconds), "parts": _parts(cores), "cores": recorded.manifest.environment.cores},
        "memory": {"x": _times(slots), "parts": _parts({part: used / 1e9 for part, used in rss_bytes.items()})},
        "disk": disk,
    }


def _parts(values: dict[str, Any]) -> dict[str, Data]:
    return {part: numbers(found) for part, found in values.items()}


def _disturbance(recorded: Recorded) -> Data:
    """Percentages of the machine that processes outside the run used and that the host stole, and what is too much."""
    found = resources.disturbance_over_time(recorded)
    if found is None:
        return absent("Not recorded: the system does not tell what else it did, or the run was too short.")
    seconds, outside, stolen = found
    most = 100 * MOST_DISTURBED
    return {"x": _times(seconds), "outside": numbers(outside), "stolen": numbers(stolen), "most": most}


def _collection(recorded: Recorded) -> Data:
    """Share of time that garbage collection took, and the heap in megabytes."""
    found = resources.garbage_collection(recorded)
    if found is None:
        nothing = "the engine's program noted nothing about a JVM; an engine without a JVM has nothing to note."
        return absent(f"Not recorded: {nothing}")
    seconds, percent, heap_bytes = found
    return {"x": _times(seconds), "share": numbers(percent), "heap": numbers(heap_bytes / 1e6)}


def _batches(recorded: Recorded) -> dict[str, Data]:
    """How long batches took, of neighbours the longest, by part; how many ticks they held; what was kept between."""
    batches = recorded.batches
    if not batches:
        missing = absent("Not recorded: the engine's program noted nothing about batches.")
        return dict.fromkeys(("batches", "batch-rows", "state"), missing)
    together = -(-len(batches) // _MOST_BATCHES)
    groups = [batches[first : first + together] for first in range(0, len(batches), together)]
    longest = [max(group, key=lambda batch: batch.total_ms) for group in groups]
    kept = _spread(batches, [batch.rows for batch in batches])
    return {
        "batches": {
            "x": _batch_times(recorded, longest),
            "parts": _parts(resources.durations_by_part(longest)),
            "together": together,
        },
        "batch-rows": {"x": _batch_times(recorded, kept), "y": numbers([batch.rows for batch in kept])},
        "state": _state(recorded),
    }


def _state(recorded: Recorded) -> Data:
    known = [batch for batch in recorded.batches if (batch.state_rows, batch.state_bytes) != (None, None)]
    if not known:
        return absent("Not recorded: the engine reported no state of its own.")
    kept = _spread(known, [batch.state_bytes or batch.state_rows or 0 for batch in known])
    rows = np.array([batch.state_rows for batch in kept], np.float64)  # None becomes NaN
    megabytes = np.array([batch.state_bytes for batch in kept], np.float64) / 1e6
    values = {"rows": rows, "megabytes": megabytes}
    reported = {name: found for name, found in values.items() if np.isfinite(found).any()}
    return {"x": _batch_times(recorded, kept)} | _parts(reported)


def _spread(batches: list[Batch], values: list[float] | list[int]) -> list[Batch]:
    """Return the batches with the extremes of neighbours, few enough for a chart."""
    groups = np.arange(len(values)) * (_MOST_BATCHES // 2) // max(len(values), _MOST_BATCHES // 2)
    return [batches[row] for row in extreme_rows(groups, np.array(values, np.float64))]


def _batch_times(recorded: Recorded, batches: list[Batch]) -> Data:
    return _times(recorded.wall_s(np.array([batch.time for batch in batches], np.int64)))
