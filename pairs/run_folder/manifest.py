"""run.json: what was run, how, on what machine, and how it ended."""

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import core_schema

from pairs.config.run_settings import RunSettings
from pairs.core.records import Model, Record
from pairs.dataset.manifest import DatasetManifest


class _AsPlain:
    """Lets pydantic read and write run settings by their own parser."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            lambda raw: raw if isinstance(raw, RunSettings) else RunSettings.from_plain(raw, "settings"),
            serialization=core_schema.plain_serializer_function_ser_schema(RunSettings.as_plain),
        )


class Environment(Model):
    """The facts about a machine that matter for comparing runs."""

    system: str
    processor: str
    cores: int | None
    memory_bytes: int
    versions: dict[str, str]  # of Python and of the libraries that matter


class InjectedFault(Model):
    """A fault as it happened."""

    kind: str
    at_us: int  # wall time


class RunManifest(Record):
    """The content of run.json. It is written when the run starts, and again when it ends."""

    FORMAT = 2
    REMEDY = "run it again"

    dataset: str  # its folder
    dataset_manifest: DatasetManifest | None  # None for a hand-made dataset
    strategies_digest: str
    settings: Annotated[RunSettings, _AsPlain]
    ticks: int | None  # in the dataset, if known
    duration_ms: int
    phases_ms: dict[str, int]  # when each phase begins, in simulated time
    measurement_interval_ms: tuple[int, int]
    command: tuple[str, ...]
    environment: Environment
    engine_versions: dict[str, str]
    state: Literal["running", "ended", "failed", "overloaded"] = "running"
    reason: str | None = None  # of a run that did not end normally
    start_us: int | None = None  # when tickTS 0 was due, wall time; None if unpaced, or before that
    seconds: float | None = None  # including the start of the engine
    ticks_per_second: float | None = None  # between the engine's first and last progress
    faults: tuple[InjectedFault, ...] = ()
    exit_codes: dict[str, int | None] = Field(default_factory=dict)

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; None if unpaced."""
        return self.settings.speed if isinstance(self.settings.speed, float) else None
