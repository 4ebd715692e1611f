"""The JSON files of a run, one typed model each."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import core_schema

from pairs.config.run_settings import RunSettings
from pairs.core.records import Count, Model, Positive, Record, Whole
from pairs.dataset.manifest import DatasetManifest, InputDigests
from pairs.model.plan import Doer, PlanClass
from pairs.model.streams import STREAMS

SLOT_US = 10_000  # of scheduled time; driver-N.parquet has the worst send delay of every slot: slot, delay_us


class _AsPlain:
    """Lets pydantic read and write run settings by their own parser."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _run_settings, serialization=core_schema.plain_serializer_function_ser_schema(RunSettings.as_plain)
        )


def _run_settings(raw: Any) -> RunSettings:
    if isinstance(raw, RunSettings):
        return raw
    if not isinstance(raw, dict):
        raise ValueError("Input should be settings by name")
    return RunSettings.from_plain(raw, "settings")


class Environment(Model):
    """The facts about a machine that matter for comparing runs."""

    system: str
    processor: str
    cores: Count | None
    memory_bytes: Count
    versions: dict[str, str]  # of Python and of the libraries that matter
    affinity: tuple[Count, ...] = ()  # the cores that the run may use; empty if the system does not tell
    load_average: float | None = None  # of the last minute, when the run began
    governor: str | None = None  # of the CPU frequency; None if the system does not tell
    virtualized: str | None = None  # the hypervisor, "none" on bare metal; None if the system does not tell


class InjectedFault(Model):
    """A fault as it happened."""

    kind: str
    at_us: Count  # wall time


class RunManifest(Record):
    """The content of run.json: what was run, how, and how it ended. It is written at the start and at the end."""

    FORMAT = 3
    REMEDY = "run it again"

    dataset: str  # its folder
    dataset_manifest: DatasetManifest | None  # None for a hand-made dataset
    strategies_digest: str
    strategies_generated: bool  # whether they are byte for byte what the query generator writes for the dataset
    strategies: Count
    warm_strategies: Count  # those that can have enough ratios when the measurement interval begins
    load: float  # zero if the run is unpaced or the basis rate is not known
    plan_class: PlanClass
    plan_steps: dict[str, Doer]  # who does each step of a strategy
    settings: Annotated[RunSettings, _AsPlain]
    ticks: Count | None  # in the dataset, if known
    duration_ms: Positive
    phases_ms: dict[str, Count]  # when each phase begins, in simulated time
    measurement_interval_ms: tuple[Count, Count]
    command: tuple[str, ...]
    environment: Environment
    engine_versions: dict[str, str]
    state: Literal["running", "ended", "failed", "overloaded"] = "running"
    reason: str | None = None  # of a run that did not end normally
    start_us: Count | None = None  # when tickTS 0 was due, wall time; None if unpaced, or before that
    seconds: float | None = None  # including the start of the engine
    ticks_per_second: float | None = None  # between the engine's first and last progress
    cluster: str | None = None  # that did the engine's work, outside the processes of the run
    faults: tuple[InjectedFault, ...] = ()
    exit_codes: dict[str, int | None] = Field(default_factory=dict)

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; None if unpaced."""
        return self.settings.speed if isinstance(self.settings.speed, float) else None

    @property
    def nonstandard(self) -> list[str]:
        """What keeps the run from being standard, by what it says itself: settings by name, all else in a few words."""
        known, settings = self.dataset_manifest, self.settings
        if known is None:
            return ["no dataset.json"]
        found = list(known.nonstandard if known.trades_by_symbol else known.workload.nonstandard)
        found += [] if self.strategies_generated else ["strategies that the query generator does not write"]
        found += [] if settings.speed == 1 else ["speed"]
        found += ["faults"] if settings.faults else []
        return found + ([] if self.state == "ended" else ["a run that did not come to its end"])


class AcknowledgedRecord(Model):
    """How long after sending the transport acknowledged a tick, of a sample of ticks."""

    sample: Count
    p50_us: Count
    p99_us: Count
    max_us: Count


class SendDelayRecord(Record):
    """The content of driver-N.json: how long after its scheduled time a driver sent each tick."""

    FORMAT = 2
    REMEDY = "run it again"

    ticks: Count
    due_in_interval: Count  # ticks that were due in the measurement interval
    sent_in_interval: Count  # ticks that were sent in it
    step_us: Count
    histogram: list[tuple[Count, Count]]  # step, ticks
    seconds: list[tuple[Count, Count, Whole]]  # of wall time: second, ticks, worst delay in us
    acknowledged: AcknowledgedRecord | None = None  # none if the transport acknowledges nothing


class InvalidRow(Model):
    """A row that cannot be read as an answer. In CSV the line counts from 1, in Parquet the row does."""

    file: str
    line: Count
    problem: str


class SinkRecord(Record):
    """The content of sink.json: counts of batches and answers, kept up to date while the run lasts."""

    FORMAT = 1
    REMEDY = "run it again"

    writers: Count
    batches: Count  # recorded
    rows: dict[str, Count]  # recorded, by stream
    repeated_batches: Count  # dropped
    repeated_rows: dict[str, Count]  # dropped, by stream
    recent_latency_us: dict[str, int]  # p50, p99 and max of the last seconds, for the live view
    refused_connections: Count = 0  # closed, as they sent invalid data
    invalid_rows: dict[str, tuple[InvalidRow, ...]] = Field(default_factory=dict)  # what it was, by stream if known


class WrongColumn(Model):
    """A column of which every value is of another type than the benchmark's."""

    file: str
    column: str
    found: str  # what its values are, in the plural
    expected: str
    first: str  # what is wrong with the first value
    files: Count = 1  # in which it is so; `file` is the first

    def sentence(self) -> str:
        more = f" and {self.files - 1:,} more" if self.files > 1 else ""
        has = f"column {self.column} has {self.found} throughout, where {self.expected} are expected"
        return f"{self.file}{more}: {has}; the first: {self.first}"


class StreamCounts(Model):
    """The counts of a stream: validator = correct + missing + wrong, sut = correct + wrong + undue."""

    validator: Count
    sut: Count
    correct: Count
    missing: Count
    undue: Count
    wrong: Count
    duplicates: Count  # among the undue answers
    repeated: Count = 0  # delivered again after a restart and dropped by the sink; not among the others
    wrong_columns: tuple[WrongColumn, ...] = ()
    malformed: Count = 0
    malformed_examples: tuple[InvalidRow, ...] = ()
    unknown_strategies: dict[str, Count] = Field(default_factory=dict)


class FirstError(Model):
    """The first error of a strategy, and how many of its answers are incorrect in all."""

    inputTickTS: int
    strategy: str
    stream: str
    kind: str
    incorrect: Count


class ValidationRecord(Record):
    """The content of validation.json: the verdict with all its counts; each stream is a key of its own."""

    FORMAT = 3
    REMEDY = "validate the run again"

    verdict: Literal["PASSED", "FAILED"]
    streams: dict[str, StreamCounts]
    first_errors: tuple[FirstError, ...]
    knife_edges: Count  # decisions of all strategies that rounding may decide
    knife_edge_strategies: tuple[str, ...]  # those with such decisions and incorrect answers, by their first error
    dataset: str
    digests: InputDigests
    dataset_confirmed: bool | None = None  # whether the generator gives these ticks; None if that was not checked

    @property
    def passed(self) -> bool:
        return self.verdict == "PASSED"

    def total(self, kind: str, streams: Iterable[str] = STREAMS) -> int:
        return sum(getattr(self.streams[stream], kind) for stream in streams)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, content: Any) -> Any:
        if not isinstance(content, dict) or "streams" in content:
            return content
        streams = {name: content[name] for name in STREAMS if name in content}
        return {key: value for key, value in content.items() if key not in streams} | {"streams": streams}

    @model_serializer(mode="wrap")
    def _spread(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        streams: dict[str, Any] = content.pop("streams")
        return content | streams


class LatencySummary(Model):
    """Latencies of a stream in seconds; percentiles that the answers are too few for are None."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    count: Count
    min: float | None = None
    avg: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = Field(default=None, alias="p99.9")
    max: float | None = None


class SendDelaySummary(Model):
    """How long after their scheduled time the drivers sent the ticks."""

    ticks: Count
    p50_s: float
    p99_s: float
    max_s: float
    acknowledged_p99_s: float | None = None  # after it was sent, of the slowest driver; none if nothing acknowledges


class Recovery(Model):
    """How the engine recovered from faults."""

    kind: str  # precise, rollback, gap, or none
    explanation: str
    faults: Count
    times_s: tuple[float | None, ...]  # from each fault until the engine had caught up; None if it never did
    latency_s: dict[str, LatencySummary]  # of answers to ticks due before the engine had caught up


class Adaptivity(Model):
    """How the engine handled a burst, by the latencies of its answers before, in and after it."""

    max_peak_latency_s: float  # during the burst or after it
    peak_degradation_ratio: float | None  # p99.9 in the burst to p99.9 before it
    recovery_time_s: float | None  # from the end of the burst to the first answer as quick as the mean before it
    post_peak_variation_ratio: float | None  # mean latency after that to the mean before the burst


class ScoreRecord(Record):
    """The content of score.json: the score with everything it was computed from."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    FORMAT = 3
    REMEDY = "score the run again"

    scale_factor: Count | None
    target: str
    plan: str
    plan_class: PlanClass = Field(validation_alias="class", serialization_alias="class")
    transport: str
    speed: float | str | None
    standard: bool
    nonstandard: tuple[str, ...]
    valid: bool
    reasons: tuple[str, ...]  # why the score is void
    warnings: tuple[str, ...]  # why it should be taken with care, be it void or not
    load: float
    p99: float | None  # seconds
    p99_interval: tuple[float, float] | None  # 95 %, by a bootstrap over triggers
    orders: Count  # in the measurement interval
    triggers: Count  # different ticks that triggered them
    p_score: float | None
    p_score_interval: tuple[float, float] | None
    verdict: str
    latency_s: dict[str, LatencySummary]  # by stream
    send_delay: SendDelaySummary | None
    recovery: Recovery | None
    adaptivity: Adaptivity | None
