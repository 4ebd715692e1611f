"""The small tables of a report, and how numbers and settings are written in them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pairs.core.units import counted, show_duration
from pairs.measure.latency import figures
from pairs.measure.phases import by_phase
from pairs.measure.recordings import Recorded
from pairs.measure.resources import summarize_batches
from pairs.measure.send_delay import percentiles
from pairs.measure.throughput import rate_summaries
from pairs.model.streams import STREAMS

NOT_RECORDED = "not recorded"
NONE = "\u2013"
SCORED_FIRST = sorted(STREAMS.values(), key=lambda stream: not stream.scored)
PUBLISHED = {  # scale factor, 99th percentile in ms, p_score: of two engines, kept anonymous, on eight cores
    "X": [(1, 63, 47.62), (2, 175, 34.29), (3, 203, 44.33), (4, 351, 34.19), (5, 91_862, 0.16)],
    "Y": [(1, 22, 136.36), (2, 24, 250.00)],
}
_PUBLISHED_BURST = {  # of three engines, kept anonymous: max ms, ratio of p99.9, seconds, ratio of means
    "engine X": (4_725, 82.8, 43.1, 1.0),
    "engine Y": (1_262, 57.4, 1.3, 0.9),
    "engine Z": (1_483, 5.9, 1.6, 1.0),
}
_DELAY_SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
_PHASE_HEADINGS = ("planned/s", "produced/s", "orders", "p50", "p99", "worst backlog, ticks", "of input")
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


class Table(NamedTuple):
    """A heading and rows; the first column holds names, the others numbers."""

    heading: tuple[str, ...]
    rows: list[tuple[str, ...]]


def number(value: float | None, digits: int = 2) -> str:
    return NONE if value is None else f"{value:,.{digits}f}"


def cores(count: int | None) -> str:
    return "unknown cores" if count is None else counted(count, "core")


def milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    value = seconds * 1000
    return f"{value:,.0f} ms" if abs(value) >= 100 else f"{value:,.1f} ms" if abs(value) >= 10 else f"{value:.2f} ms"


def flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", "none" if value == {} else _plain(value)


def _plain(value: Any) -> str:
    if value is None:
        return NOT_RECORDED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    return str(value)


def tables(recorded: Recorded) -> dict[str, Table]:
    """Return all tables of a run; without rows where nothing is known."""
    return {
        "latency": _latency(recorded),
        "rates": _rates(recorded),
        "phases": _phases(recorded),
        "burst": _burst(recorded),
        "send_delay": _send_delays(recorded),
        "batches": _batches(recorded),
        "validation": _validation(recorded),
    }


def _latency(recorded: Recorded) -> Table:
    """Latency of each stream in the measurement interval, from scheduled and from send time."""
    rows = []
    for stream in SCORED_FIRST:
        scheduled = recorded.measured(stream)
        for timed, since in ((scheduled, "scheduled"), (scheduled.from_send_time, "send")):
            if timed:
                values = list(map(milliseconds, figures(timed.latency_s).values()))
                rows.append((f"{stream.name}, from {since} time", f"{len(timed):,}", *values))
    return Table(("", "answers", "min", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"), rows)


def _burst(recorded: Recorded) -> Table:
    """Put the four measures of a burst beside those that were published."""
    found = None if recorded.score is None else recorded.score.adaptivity
    heading = ("", "max peak latency, ms", "p99.9 in the burst / before", "recovery, s", "mean after / before")
    if found is None:
        return Table(heading, [])
    ratios = found.peak_degradation_ratio, found.recovery_time_s, found.post_peak_variation_ratio
    own = ("this run", number(found.max_peak_latency_s * 1000, 0), *map(number, ratios))
    published = [
        (f"{name}, published", number(worst, 0), *(number(value, 1) for value in others))
        for name, (worst, *others) in _PUBLISHED_BURST.items()
    ]
    return Table(heading, [own, *published])


def _rates(recorded: Recorded) -> Table:
    """Ticks and answers per wall second in the measurement interval."""
    rows = [
        (name, *(number(value, 1 if value < 100 else 0) for value in values))
        for name, *values in rate_summaries(recorded)
    ]
    return Table(("in the measurement interval, a second", "mean", "p5", "most"), rows)


def _phases(recorded: Recorded) -> Table:
    """Rates, latency and backlog of each phase."""
    rows: list[tuple[str, ...]] = []
    for found in by_phase(recorded):
        name, begin_ms, end_ms = found.span
        rates = (number(found.planned_per_s, 0), number(found.produced_per_s, 0))
        orders = (f"{found.orders.count:,}", milliseconds(found.orders.p50), milliseconds(found.orders.p99))
        backlog = (number(found.backlog_ticks, 0), NONE if found.backlog_s is None else f"{found.backlog_s:,.2f} s")
        rows.append((name, show_duration(begin_ms), show_duration(end_ms), *rates, *orders, *backlog))
    return Table(("phase", "from", "to", *_PHASE_HEADINGS), rows)


def _send_delays(recorded: Recorded) -> Table:
    rows = []
    for place, driver in enumerate(recorded.drivers):
        ticks, values = percentiles([driver], list(_DELAY_SHARES.values()))
        rows.append((f"driver {place}", f"{ticks:,}", *(milliseconds(value) if ticks else NONE for value in values)))
        if (sample := driver.acknowledged) is not None:
            known = {"p50": sample.p50_us, "p99": sample.p99_us, "max": sample.max_us}
            shown = (milliseconds(known[name] / 1e6) if name in known else NONE for name in _DELAY_SHARES)
            rows.append((f"driver {place}, until the broker acknowledged", f"{sample.sample:,}", *shown))
    return Table(("send delay", "ticks", *_DELAY_SHARES), rows)


def _batches(recorded: Recorded) -> Table:
    found, mean_rows, most_rows = summarize_batches(recorded.batches)
    durations = map(milliseconds, (found.p50, found.p99, found.max))
    row = (f"{found.count:,}", *durations, number(mean_rows, 0), number(most_rows, 0))
    return Table(("batches", "median", "p99", "longest", "mean ticks a batch", "most"), [row] if found.count else [])


def _validation(recorded: Recorded) -> Table:
    if recorded.validation is None:
        return Table((), [])
    streams = recorded.validation.streams
    rows = [(label, *(f"{getattr(streams[name], kind):,}" for name in STREAMS)) for kind, label in _COUNTS.items()]
    return Table(("", *STREAMS), rows)
