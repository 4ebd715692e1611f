"""The small tables of a report: latency summaries, rates, lateness, batches, validation counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairs.measure.recordings import Driver, Recorded
from pairs.measure.score import percentile
from pairs.report.charts.latency import sent_latencies
from pairs.report.wording import NONE, milliseconds, number

Floats = NDArray[np.float64]

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
_COUNTS = {
    "validator": "validator answers",
    "sut": "SUT answers (of the engine)",
    "correct": "correct answers",
    "missing": "missing answers: expected, not given",
    "undue": "undue answers: given, not expected",
    "duplicates": "of these, duplicates",
    "wrong": "wrong answers: given with other values",
}


@dataclass(frozen=True)
class Table:
    """A heading and rows; the first column holds names, the others numbers."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def latency_table(recorded: Recorded) -> Table | None:
    """Latency of both streams in the measurement interval, from scheduled and from send time."""
    rows = []
    for stream in ("orders", "indicators"):
        scheduled, sent = recorded.measured(stream)[1], sent_latencies(recorded, stream)
        if len(scheduled):
            rows.append((f"{stream}, from scheduled time", *_summary(scheduled)))
        if sent is not None and len(sent):
            rows.append((f"{stream}, from send time", *_summary(sent)))
    return Table(("", "answers", "min", "mean", *_SHARES, "max"), tuple(rows)) if rows else None


def _summary(latencies: Floats) -> tuple[str, ...]:
    shares = (milliseconds(percentile(latencies, share)) for share in _SHARES.values())
    ends = (milliseconds(float(one)) for one in (latencies.min(), latencies.mean()))
    return (f"{len(latencies):,}", *ends, *shares, milliseconds(float(latencies.max())))


def rate_table(recorded: Recorded) -> Table | None:
    """Ticks and answers per wall second in the measurement interval: mean, and what 95 of 100 seconds exceed."""
    if recorded.speed is None:
        return None
    begin, end = (recorded.wall_of(one) for one in recorded.interval_ms)
    seconds = int(end - begin)
    if seconds < 1:
        return None
    rows = [
        row
        for name, column in (("ticks sent", "produced"), ("ticks taken", "consumed"))
        if (row := _paced_row(recorded, name, column, begin, seconds)) is not None
    ]
    for stream, answers in recorded.answers.items():
        if answers is not None and len(answers):
            arrived = recorded.wall_s(answers.sink_us)
            counts, _ = np.histogram(arrived, bins=seconds, range=(begin, begin + seconds))
            rows.append(_rate_row(f"{stream} received", counts.astype(np.float64)))
    return Table(("in the measurement interval, a second", "mean", "p5", "most"), tuple(rows)) if rows else None


def _paced_row(recorded: Recorded, name: str, column: str, begin: float, seconds: int) -> tuple[str, ...] | None:
    table = recorded.throughput
    if table is None or column not in table.column_names:
        return None
    edges = begin + np.arange(seconds + 1)
    totals = np.interp(edges, recorded.wall_s(table["time"].to_numpy()), table[column].to_numpy())
    return _rate_row(name, np.diff(totals))


def _rate_row(name: str, per_second: Floats) -> tuple[str, ...]:
    values = (float(per_second.mean()), percentile(per_second, 0.05), float(per_second.max()))
    return (name, *(number(value, 1 if value < 100 else 0) for value in values))


def lateness_table(recorded: Recorded) -> Table | None:
    """How late drivers sent their ticks."""
    if not recorded.drivers:
        return None
    rows = tuple((f"driver {place}", *_lateness(one)) for place, one in enumerate(recorded.drivers))
    return Table(("lateness", "ticks", "p50", "p99", "p99.9", "max"), rows)


def _lateness(driver: Driver) -> Sequence[str]:
    passed = np.cumsum(driver.counts)
    total = int(passed[-1]) if len(passed) else 0
    if not total:
        return ("0", *[NONE] * 4)
    at = [float(driver.late_s[np.searchsorted(passed, np.ceil(share * total))]) for share in (0.5, 0.99, 0.999, 1.0)]
    return (f"{total:,}", *(milliseconds(one) for one in at))


def batch_table(recorded: Recorded) -> Table | None:
    """How long the engine's batches took, by its own account."""
    batches = [one for one in recorded.batches if one.time_us >= recorded.origin_us]
    if not batches:
        return None
    totals = np.array([one.total_ms for one in batches]) / 1000
    rows = np.array([one.rows for one in batches], np.float64)
    at = (milliseconds(percentile(totals, share)) for share in (0.5, 0.99, 1.0))
    return Table(
        ("batches", "median", "p99", "longest", "mean ticks a batch", "most"),
        ((f"{len(batches):,}", *at, number(float(rows.mean()), 0), number(float(rows.max()), 0)),),
    )


def validation_table(recorded: Recorded) -> Table | None:
    """Return the counts of the validator, stream by stream."""
    found = recorded.validation
    if found is None or not {"indicators", "orders"} <= found.keys():
        return None
    rows = tuple(
        (label, *(f"{found[stream].get(name, 0):,}" for stream in ("indicators", "orders")))
        for name, label in _COUNTS.items()
    )
    return Table(("", "indicators", "orders"), rows)
