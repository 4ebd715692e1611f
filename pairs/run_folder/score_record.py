"""score.json: the score of a run, with everything it was computed from."""

from pydantic import ConfigDict, Field

from pairs.core.records import Model, Record


class LatencySummary(Model):
    """Latencies of a stream in seconds; without answers only the count."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, serialize_by_alias=True)

    count: int
    min: float | None = None
    avg: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = Field(default=None, alias="p99.9")
    max: float | None = None


class SendDelaySummary(Model):
    """How long after their scheduled time the drivers sent the ticks."""

    ticks: int
    p50_s: float
    p99_s: float
    max_s: float


class Recovery(Model):
    """How the engine recovered from faults."""

    kind: str  # precise, rollback, gap, or none
    explanation: str
    faults: int
    times_s: tuple[float | None, ...]  # from each fault until the engine had caught up; None if it never did
    latency_s: dict[str, LatencySummary]  # of answers to ticks due before the engine had caught up


class Adaptivity(Model):
    """How the engine handled a burst, by the latencies of its answers before, in and after it."""

    max_peak_latency_s: float  # during the burst or after it
    peak_degradation_ratio: float | None  # p99.9 in the burst to p99.9 before it
    recovery_time_s: float | None  # from the end of the burst to the first answer as quick as the mean before it
    post_peak_variation_ratio: float | None  # mean latency after that to the mean before the burst


class ScoreRecord(Record):
    """The content of score.json."""

    FORMAT = 2
    REMEDY = "score the run again"

    scale_factor: int | None
    target: str
    plan: str
    transport: str
    speed: float | str | None
    standard: bool
    nonstandard: tuple[str, ...]
    valid: bool
    reasons: tuple[str, ...]  # why the score is void
    load: float
    p99: float | None  # seconds
    p_score: float | None
    verdict: str
    latency_s: dict[str, LatencySummary]  # by stream
    send_delay: SendDelaySummary | None
    recovery: Recovery | None
    adaptivity: Adaptivity | None
