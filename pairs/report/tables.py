"""The small tables of a report: latency summaries, rates, send delays, batches, validation counts."""

from collections.abc import Iterator
from dataclasses import dataclass

from pairs.measure.engine import summarize_batches
from pairs.measure.latency import figures
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.send_delay import percentiles
from pairs.measure.throughput import rate_summaries
from pairs.model.streams import STREAMS
from pairs.report.wording import NONE, milliseconds, number

_DELAY_SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
_COUNTS = {
    "validator": "validator answers",
    "sut": "SUT answers (of the engine)",
    "correct": "correct answers",
    "missing": "missing answers: expected, not given",
    "undue": "undue answers: given, not expected",
    "duplicates": "of these, duplicates",
    "wrong": "wrong answers: given with other values",
    "repeated": "repeated answers: given again after a restart, dropped by the sink",
}


@dataclass(frozen=True)
class Table:
    """A heading and rows; the first column holds names, the others numbers."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def latency_table(recorded: Recorded) -> Table:
    """Latency of each stream in the measurement interval, from scheduled and from send time."""
    scored_first = sorted(STREAMS.values(), key=lambda stream: not stream.scored)
    rows = (row for stream in scored_first for row in _latency_rows(stream.name, recorded.measured(stream)))
    return Table(("", "answers", "min", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"), tuple(rows))


def _latency_rows(stream: str, scheduled: Timed) -> Iterator[tuple[str, ...]]:
    for timed, since in ((scheduled, "scheduled"), (scheduled.from_send_time, "send")):
        if timed:
            values = map(milliseconds, figures(timed.latency_s).values())
            yield (f"{stream}, from {since} time", f"{len(timed):,}", *values)


def rate_table(recorded: Recorded) -> Table:
    """Ticks and answers per wall second in the measurement interval."""
    rows = (
        (rate.name, *(number(value, 1 if value < 100 else 0) for value in (rate.mean, rate.p5, rate.most)))
        for rate in rate_summaries(recorded)
    )
    return Table(("in the measurement interval, a second", "mean", "p5", "most"), tuple(rows))


def send_delay_table(recorded: Recorded) -> Table:
    """How late drivers sent their ticks."""
    rows = []
    for place, driver in enumerate(recorded.drivers):
        ticks, values = percentiles([driver], list(_DELAY_SHARES.values()))
        rows.append((f"driver {place}", f"{ticks:,}", *(milliseconds(value) if ticks else NONE for value in values)))
    return Table(("send delay", "ticks", *_DELAY_SHARES), tuple(rows))


def batch_table(recorded: Recorded) -> Table:
    """How long the engine's batches took, by its own account."""
    found, mean_rows, most_rows = summarize_batches(recorded.batches)
    durations = map(milliseconds, (found.p50, found.p99, found.max))
    row = (f"{found.count:,}", *durations, number(mean_rows, 0), number(most_rows, 0))
    heading = ("batches", "median", "p99", "longest", "mean ticks a batch", "most")
    return Table(heading, (row,) if found.count else ())


def validation_table(recorded: Recorded) -> Table | None:
    """Return the counts of the validator, stream by stream."""
    if recorded.validation is None:
        return None
    streams = recorded.validation.streams
    rows = ((label, *(f"{getattr(streams[name], kind):,}" for name in STREAMS)) for kind, label in _COUNTS.items())
    return Table(("", *STREAMS), tuple(rows))
