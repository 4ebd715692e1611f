"""The sections of a run's page that hold charts: their data, and what is said about them."""

from dataclasses import dataclass

from pairs.measure.recordings import Recorded
from pairs.model.streams import SCORED, STREAMS
from pairs.report import tables
from pairs.report.charts import Data, engine, latency, load, machine
from pairs.report.tables import Table


@dataclass(frozen=True)
class Chart:
    """A chart on the page: its data, and a line for people who distrust charts."""

    id: str
    title: str
    explanation: str
    data: Data


@dataclass(frozen=True)
class Section:
    """A part of the page: a small table, then charts, at most two in a row."""

    id: str
    title: str
    lead: str
    rows: tuple[tuple[Chart, ...], ...]
    table: Table | None = None


def sections(recorded: Recorded) -> list[Section]:
    """Return all sections with charts."""
    return [_load(recorded), _latency(recorded), _driver(recorded), _machine(recorded), _engine(recorded)]


def quarters_chart(recorded: Recorded) -> Chart:
    """Return the chart of the section about trust."""
    return Chart(
        "quarters",
        "The four quarters of the measurement interval",
        "First and fourth quarter get the same load, so do second and third: a difference there has other reasons.",
        latency.quarters(recorded),
    )


def _load(recorded: Recorded) -> Section:
    rate = Chart(
        "rate",
        "Planned and achieved throughput",
        "Dotted the plan, then what the drivers produced and what the engine consumed (committed), by the second or "
        "more. An engine that keeps up lies on the line of what was produced.",
        load.rate(recorded),
    )
    backlog = Chart(
        "backlog",
        "Backlog",
        "Ticks produced and not yet committed by the engine, the most in each slot. An engine that works in batches "
        "always has one batch here; growth means that it does not keep up.",
        load.backlog(recorded),
    )
    lead = "Drivers send every tick when it is due, whatever the engine does (open loop)."
    return Section("load", "Load", lead, ((rate,), (backlog,)), tables.rate_table(recorded))


def _latency(recorded: Recorded) -> Section:
    over_time = [
        Chart(
            f"latency-{name}",
            f"Latency of {name} over time",
            "Of each slot of time the median, the 99th percentile and the worst; dots are single answers. No outlier "
            "is ever left out."
            if stream.scored
            else f"The same for {name}, which are not scored.",
            latency.over_time(recorded, stream, dots=stream.scored),
        )
        for name, stream in sorted(STREAMS.items(), key=lambda item: item[1] is not SCORED)
    ]
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
    lead = (
        "From the moment the trigger of an answer was due to the moment the answer reached the sink, on the same clock."
    )
    rows = ((over_time[0],), (histogram, percentiles), *((chart,) for chart in over_time[1:]))
    return Section("latency", "Latency", lead, rows, tables.latency_table(recorded))


def _driver(recorded: Recorded) -> Section:
    delays = Chart(
        "send-delay",
        "Send delay of the drivers",
        "How long after its scheduled time the latest of the ticks due in a slot left its driver. A void score if the "
        "99th percentile exceeds 10 ms and a tenth of the latency.",
        load.delays(recorded),
    )
    both = Chart(
        "scheduled-sent",
        "Scored latency beside latency from send time",
        "Where the lines part, the driver was late and the engine is charged for it. Many tools show the lower line. "
        "(For all ticks due within 10 ms, the longest send delay is taken.)",
        latency.scheduled_and_sent(recorded),
    )
    lead = "A late driver would flatter the engine if latency counted from sending. It counts from the schedule."
    return Section("driver", "Driver", lead, ((delays, both),), tables.send_delay_table(recorded))


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
    lead = "What the processes of the run took of the machine, sampled about once a second."
    return Section("machine", "Machine", lead, ((cpu,), (memory, disk), (collection,)))


def _engine(recorded: Recorded) -> Section:
    durations = engine.batch_durations(recorded)
    together = durations.get("together", 1)
    longest = f" Of every {together} batches the longest is drawn." if together > 1 else ""
    explanation = f"Where the time of a batch goes, by the engine's own account.{longest}"
    batches = Chart("batches", "Batch durations by part", explanation, durations)
    rows = Chart("batch-rows", "Ticks in a batch", "Extremes are kept.", engine.batch_rows(recorded))
    state = Chart("state", "State", "What the engine keeps between batches.", engine.state(recorded))
    lead = "What the engine says about itself. The kit measures latency without it; this is for finding out why."
    return Section("engine", "The engine's own view", lead, ((batches,), (rows, state)), tables.batch_table(recorded))
