"""The report of one run: its sections, its charts and what is said about them."""

import shlex
from dataclasses import dataclass, field
from typing import Any

from pairs.measure.recordings import Recorded
from pairs.report import published, tables
from pairs.report.charts import Data, engine, latency, load, machine
from pairs.report.findings import findings
from pairs.report.incorrect import incorrect_answers
from pairs.report.page import render
from pairs.report.strategies import strategies_view
from pairs.report.tables import Table
from pairs.report.verdict import verdict
from pairs.report.wording import NOT_RECORDED, bytes_of, flattened, number, plain


@dataclass(frozen=True)
class Chart:
    """A chart on the page: its data, and one line for people who distrust charts."""

    id: str
    title: str
    explanation: str
    data: Data


@dataclass(frozen=True)
class Section:
    """A part of the page: small tables, then charts, one or two in a row."""

    id: str
    title: str
    lead: str
    rows: tuple[tuple[Chart, ...], ...]
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Group:
    """Some settings under a heading."""

    title: str
    rows: list[tuple[str, str]] = field(default_factory=list)


def report_of(recorded: Recorded) -> str:
    """Return the page of a run."""
    sections = [_load(recorded), _latency(recorded), _driver(recorded), _machine(recorded), _engine(recorded)]
    quarters = _quarters(recorded)
    incorrect, strategies = incorrect_answers(recorded), strategies_view(recorded)
    every = [quarters, *(chart for section in sections for row in section.rows for chart in row)]
    payload = {
        "marks": marks(recorded),
        "charts": {chart.id: chart.data for chart in every},
        "incorrect": incorrect,
        "strategies": strategies,
    }
    context = {
        "subtitle": _subtitle(recorded),
        "verdict": verdict(recorded),
        "published": published_rows(),
        "published_machine": published.MACHINE,
        "findings": findings(recorded),
        "quarters": quarters,
        "sections": sections,
        "validation": _validation(recorded, incorrect),
        "strategies_remark": _strategies_remark(strategies),
        "command": _command(recorded),
        "disclosure": disclosure(recorded),
    }
    return render("run.html.jinja", f"Pairs: {recorded.name}", payload, context)


def marks(recorded: Recorded) -> dict[str, Any]:
    """Return the phases of a run, when its engine was killed, and its end, in wall milliseconds."""
    end = load.run_end_s(recorded)
    kills = [(one - recorded.origin_us) / 1000 for one in recorded.facts.get("kills_us") or ()]
    known = recorded.facts.get("phases_ms")
    if recorded.speed is None or not isinstance(known, dict):
        return {"phases": [], "kills": kills, "end": end * 1000}
    begins = {str(name): recorded.wall_of(value) for name, value in known.items()}
    ends = [*list(begins.values())[1:], recorded.wall_of(recorded.duration_ms)]
    phases = [
        {"name": name, "begin": begin * 1000, "end": last * 1000}
        for (name, begin), last in zip(begins.items(), ends, strict=True)
    ]
    return {"phases": phases, "kills": kills, "end": end * 1000}


def published_rows() -> list[tuple[str, ...]]:
    """Return the published results as a table."""
    return [
        (f"engine {one.engine}", str(one.scale_factor), f"{one.p99_ms:,.0f} ms", number(one.p_score))
        for one in published.RESULTS
    ]


def _subtitle(recorded: Recorded) -> str:
    settings = recorded.settings
    target, plan = settings.get("target", "an unknown engine"), settings.get("plan", "unknown")
    return f"{target}, plan {plan}, on the market {recorded.dataset.path.name}"


def _quarters(recorded: Recorded) -> Chart:
    return Chart(
        "quarters",
        "The four quarters of the measurement interval",
        "First and fourth quarter get the same load, so do second and third: a difference there has other reasons.",
        latency.quarters(recorded),
    )


def _load(recorded: Recorded) -> Section:
    rate = Chart(
        "rate",
        "Offered and achieved rate",
        "Dotted the plan, then what the drivers sent and what the engine was done with (committed), by the second or "
        "more. An engine that keeps up lies on the line of what was sent.",
        load.rate(recorded),
    )
    backlog = Chart(
        "backlog",
        "Backlog",
        "Ticks sent and not yet committed by the engine, the most in each slot. An engine that works in batches always "
        "has one batch here; growth means that it does not keep up.",
        load.backlog(recorded),
    )
    table = tables.rate_table(recorded)
    return Section(
        "load",
        "Load",
        "Drivers send every tick when it is due, whatever the engine does (open loop).",
        ((rate,), (backlog,)),
        () if table is None else (table,),
    )


def _latency(recorded: Recorded) -> Section:
    orders, indicators = (
        Chart(
            f"latency-{stream}",
            f"Latency of {stream} over time",
            text,
            latency.over_time(recorded, stream, dots=stream == "orders"),
        )
        for stream, text in (
            (
                "orders",
                "Of each slot of time the median, the 99th percentile and the worst; dots are single orders. No "
                "outlier is ever left out.",
            ),
            ("indicators", "The same for indicators, of which there are many more; they are not scored."),
        )
    )
    histogram = Chart(
        "histogram",
        "How often which latency",
        "All answers triggered in the measurement interval, in bins of equal ratio.",
        latency.histogram(recorded),
    )
    percentiles = Chart(
        "percentiles",
        "Percentile curve",
        "The latency that a given share of the answers did not exceed; it ends where answers are too few to tell.",
        latency.percentiles(recorded),
    )
    table = tables.latency_table(recorded)
    return Section(
        "latency",
        "Latency",
        "From the moment the trigger of an answer was due to the moment the answer arrived at the sink, on one clock.",
        ((orders,), (histogram, percentiles), (indicators,)),
        () if table is None else (table,),
    )


def _driver(recorded: Recorded) -> Section:
    lateness = Chart(
        "lateness",
        "Lateness of the drivers",
        "How late the latest of the ticks due in a slot left its driver. A void score if the 99th percentile "
        "exceeds 10 ms and a tenth of the latency.",
        machine.lateness(recorded),
    )
    both = Chart(
        "scheduled-sent",
        "Scored latency beside latency from send time",
        "Where the lines part, the driver was late and the engine is charged for it. Many tools show the lower one. "
        "(Of the ticks due within 10 ms, the latest one's lateness is taken.)",
        latency.scheduled_and_sent(recorded),
    )
    table = tables.lateness_table(recorded)
    return Section(
        "driver",
        "Driver",
        "A driver that is late would flatter the engine if latency counted from sending. Here it counts from schedule.",
        ((lateness, both),),
        () if table is None else (table,),
    )


def _machine(recorded: Recorded) -> Section:
    cpu = Chart(
        "cpu",
        "CPU",
        "Cores in use by each part of the run; the engine's JVM and its Python processes are told apart.",
        machine.cpu(recorded),
    )
    memory = Chart(
        "memory",
        "Memory",
        "Resident memory, the most in each slot. Pages that processes share are counted in each of them.",
        machine.memory(recorded),
    )
    disk = Chart(
        "disk",
        "Disk",
        "What processes read from and wrote to storage, without what the system's cache served. Parts that "
        "moved nothing are left out.",
        machine.disk(recorded),
    )
    collection = Chart(
        "collection",
        "Garbage collection",
        "Share of time the JVM spent collecting, and its heap; collections stop the engine for a moment.",
        machine.collection(recorded),
    )
    return Section(
        "machine",
        "Machine",
        "What the processes of the run took of the machine, sampled about once a second.",
        ((cpu,), (memory, disk), (collection,)),
    )


def _engine(recorded: Recorded) -> Section:
    durations = engine.batch_durations(recorded)
    together = durations.get("together", 1)
    longest = f" Of every {together} batches the longest is drawn." if together > 1 else ""
    charts = (
        (
            Chart(
                "batches",
                "Batch durations by part",
                f"Where the time of a batch goes, by the engine's own account.{longest}",
                durations,
            ),
        ),
        (
            Chart("batch-rows", "Ticks in a batch", "Extremes are kept.", engine.batch_rows(recorded)),
            Chart("state", "State", "What the engine keeps between batches.", engine.state(recorded)),
        ),
    )
    table = tables.batch_table(recorded)
    return Section(
        "engine",
        "The engine's own view",
        "What the engine says about itself. The kit measures latency without it; this is for finding out why.",
        charts,
        () if table is None else (table,),
    )


def _validation(recorded: Recorded, incorrect: dict[str, Any]) -> dict[str, Any]:
    found = recorded.validation
    lead = "The answers were not validated; 'pairs validate' does that."
    remarks = []
    if found is not None:
        lead = (
            "Every answer is matched by key (strategy, time of the trigger, type of an order) with that of an "
            f"independent reference; numbers are equal within a relative {found.get('tolerance', 1e-9):g}."
        )
        for stream in ("indicators", "orders"):
            counts = found.get(stream) or {}
            if counts.get("malformed"):
                remarks.append(f"{counts['malformed']:,} rows of {stream} are no answers at all and count as undue.")
            if counts.get("unknown_strategies"):
                unknown = sum(counts["unknown_strategies"].values())
                remarks.append(f"{unknown:,} undue {stream} are of strategies that are not in the set.")
    return {
        "lead": lead,
        "table": tables.validation_table(recorded),
        "remarks": remarks,
        "failed": found is not None and found.get("verdict") == "FAILED",
        "problem": incorrect.get("absent"),
    }


def _strategies_remark(view: dict[str, Any]) -> str:
    if "absent" in view:
        return ""
    shown, every = len(view["strategies"]), view["all"]
    remark = view["missingPrices"] or ""
    if shown < every:
        remark += f" Only the first {shown:,} of {every:,} strategies are in this file, so that it stays small."
    prices = view["prices"]
    if prices is not None and not prices["whole"]:
        remark += " Prices are a sample, as the dataset is large."
    return remark.strip()


def _command(recorded: Recorded) -> str:
    command = recorded.facts.get("command")
    return shlex.join(map(str, command)) if isinstance(command, list) and command else NOT_RECORDED


def disclosure(recorded: Recorded) -> list[Group]:
    """Return everything that is known of how a run was made."""
    facts, known = recorded.facts, recorded.dataset_facts or {}
    environment = dict(facts.get("environment") or {})
    memory = environment.pop("memory_bytes", None)
    validated = (recorded.validation or {}).get("digests") or {}
    digests = {
        "dataset": facts.get("dataset_digest") or known.get("digest"),
        "pairs (correlations.csv)": known.get("correlations_digest"),
        "strategies": facts.get("strategies_digest") or validated.get("strategies"),
    }
    run = {
        "state": facts.get("state"),
        "reason": facts.get("reason", "none"),
        "seconds with the start of the engine": None if facts.get("seconds") is None else f"{facts['seconds']:.1f}",
        "first tick due, µs since 1970": facts.get("start_us"),
        **{f"exit code of {part}": code for part, code in (facts.get("exit_codes") or {}).items()},
        "kit version": facts.get("kit_version"),
        "format version": facts.get("format_version"),
        "folder": str(recorded.run.path.absolute()),
    }
    counts = facts.get("counts") or known.get("counts") or {"ticks": facts.get("ticks")}
    seed = facts.get("seed", known.get("seed"))
    market = {
        "folder": str(recorded.dataset.path),
        "profile": known.get("profile"),
        "seed": seed,
        **recorded.parameters,
    }
    return [
        Group("How it was run", [*flattened(recorded.settings), *flattened(run)]),
        Group("The market", [*flattened(market | dict(recorded.parameters)), *flattened(counts, "count of ")]),
        Group("Digests", [(name, plain(value)) for name, value in digests.items()]),
        Group(
            "Machine and versions",
            [*flattened(environment), ("memory", NOT_RECORDED if memory is None else bytes_of(memory))],
        ),
    ]
