"""All that is known of a run: reads its folder into typed records and arrays.

Only run.json has to be there. What else is missing or broken is None, never zero and never an error.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.config.workload import Workload
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.measure import recorded_files as files
from pairs.measure.executors import with_executors
from pairs.measure.reduce import Floats, Wholes
from pairs.measure.send_delay import delay_of_slots
from pairs.model.arrivals import due_us
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS, StreamSpec
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SLOT_US, RunManifest, ScoreRecord, ValidationRecord


@dataclass(frozen=True)
class Answers:
    """The answers of a stream, in the order in which they arrived."""

    table: pa.Table
    strategies: list[str]
    strategy: NDArray[np.int32]  # into `strategies`
    tick_ts: Wholes  # ms of simulated time
    sink_us: Wholes

    def __len__(self) -> int:
        return len(self.tick_ts)


@dataclass(frozen=True)
class Timed:
    """Answers of a paced run: when their triggers were due, and how long they took from then on, which is scored."""

    tick_ts: Wholes
    due_s: Floats  # of wall time, since the first tick was due
    latency_s: Floats
    delay_s: Floats | None  # how late the triggers were sent; None if that was not recorded

    def __len__(self) -> int:
        return len(self.tick_ts)

    def where(self, chosen: NDArray[np.bool_]) -> "Timed":
        delay_s = None if self.delay_s is None else self.delay_s[chosen]
        return Timed(self.tick_ts[chosen], self.due_s[chosen], self.latency_s[chosen], delay_s)

    @property
    def from_send_time(self) -> "Timed | None":
        """The same answers with latency from the time at which their triggers were sent; None if that is not known."""
        return None if self.delay_s is None else replace(self, latency_s=self.latency_s - self.delay_s)


_FAR_MS = 2**40  # 34 years; an engine may answer to any time, but what is further away is not told apart

_NONE_TIMED = Timed(np.empty(0, np.int64), np.empty(0), np.empty(0), None)


@dataclass(frozen=True)
class Recorded:
    """All that is known of a run."""

    run: Run
    manifest: RunManifest
    score: ScoreRecord | None
    validation: ValidationRecord | None
    strategies: StrategySet | None
    answers: Mapping[str, Answers]  # by stream, of those that can be read
    resources: files.Samples | None  # of the processes of the run, and of the executors of a cluster
    machine: files.MachineSamples | None  # what else the machine did
    throughput: files.Throughput | None
    drivers: list[files.DriverDelays]  # of those that recorded their delays
    batches: list[files.Batch]
    heaps: list[files.Heap]
    executors: list[files.Executors]  # of a cluster, as far as the engine told
    engine_settings: dict[str, str]  # in effect in the engine, as far as it told

    @property
    def dataset(self) -> Dataset:
        """The dataset that was replayed; it may be gone."""
        return Dataset(self.run.path / self.manifest.dataset)

    @property
    def workload(self) -> Workload | None:
        """The parameters of the market; None for a dataset made by hand."""
        known = self.manifest.dataset_manifest
        return None if known is None else known.workload

    @property
    def scale_factor(self) -> int | None:
        return None if self.workload is None else self.workload.scale_factor

    @property
    def every_driver_recorded(self) -> bool:
        return len(self.drivers) == self.manifest.settings.drivers

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; None if unpaced or if the first tick was never due."""
        return None if self.manifest.start_us is None else self.manifest.speed

    @property
    def why_untimed(self) -> str:
        """Why nothing is known about latency, where that is so."""
        if self.manifest.settings.speed == "max":
            return "The run was unpaced: ticks had no time at which they were due, so there is no latency."
        return "The run did not come to its end, so it is not known when its ticks were due."

    @cached_property
    def origin_us(self) -> int:
        """The wall time that charts count from: when the first tick was due, or the first thing that was noted."""
        if self.manifest.start_us is not None:
            return self.manifest.start_us
        return min((int(times_us.min()) for times_us in self._noted_us), default=0)

    @property
    def end_s(self) -> float:
        """When the last thing was noted, in wall seconds since the first tick was due."""
        ends = [self.wall_of(self.manifest.duration_ms)] if self.speed else []
        return max([*ends, *(float(self.wall_s(times_us).max()) for times_us in self._noted_us)], default=1.0)

    @property
    def _noted_us(self) -> list[Wholes]:
        noted = [found.time_us for found in (self.throughput, self.resources) if found is not None]
        return noted + [answers.sink_us for answers in self.answers.values() if len(answers)]

    @property
    def interval_s(self) -> tuple[float, float]:
        """The measurement interval in wall seconds since the first tick was due."""
        begin, end = self.manifest.measurement_interval_ms
        return self.wall_of(begin), self.wall_of(end)

    def wall_s(self, times_us: NDArray[Any]) -> Floats:
        return np.asarray(times_us - self.origin_us) / 1e6

    def wall_of(self, simulated_ms: float) -> float:
        """Return when a moment of simulated time was due, in wall seconds since the first tick."""
        return simulated_ms / 1000 / (self.speed or 1.0)

    def timed(self, stream: StreamSpec) -> Timed | None:
        """Return the answers of a stream with their latencies; None if the run was unpaced or recorded none."""
        answers, start_us, speed = self.answers.get(stream.name), self.manifest.start_us, self.speed
        if answers is None or start_us is None or speed is None:
            return None
        due = due_us(start_us, answers.tick_ts, speed)
        return Timed(answers.tick_ts, self.wall_s(due), (answers.sink_us - due) / 1e6, self._delay_s(due - start_us))

    def measured(self, stream: StreamSpec) -> Timed:
        """Return the answers of a stream that were triggered within the measurement interval."""
        timed = self.timed(stream)
        return _NONE_TIMED if timed is None else timed.where(self.inside(timed.tick_ts))

    def inside(self, tick_ts: Wholes) -> NDArray[np.bool_]:
        """Return which moments of simulated time lie within the measurement interval."""
        begin, end = self.manifest.measurement_interval_ms
        return np.asarray((tick_ts >= begin) & (tick_ts < end))

    def _delay_s(self, since_start_us: Wholes) -> Floats | None:
        """Return how late ticks were sent: the worst delay of the slot in which they were due."""
        by_slot = self._delays_us
        if by_slot is None:
            return None
        return by_slot[np.clip(since_start_us // SLOT_US, 0, len(by_slot) - 1)] / 1e6

    @cached_property
    def _delays_us(self) -> Wholes | None:
        return delay_of_slots(self.drivers) if self.every_driver_recorded else None


def read_run(run: Run) -> Recorded:
    manifest = run.manifest
    since_us = manifest.start_us or 0  # what was before, the engine's start, is not part of the measurement
    progress = files.read_progress(run, since_us)
    read = {name: _answers(run, stream) for name, stream in STREAMS.items()}
    return Recorded(
        run=run,
        manifest=manifest,
        score=files.optional_record(ScoreRecord, run.score_file),
        validation=files.optional_record(ValidationRecord, run.validation_file),
        strategies=_strategies(run),
        answers={name: answers for name, answers in read.items() if answers is not None},
        resources=with_executors(files.read_samples(run, since_us), progress.executors),
        machine=files.read_machine(run, since_us),
        throughput=files.read_throughput(run),
        drivers=files.read_drivers(run, manifest.settings.drivers),
        batches=progress.batches,
        heaps=progress.heaps,
        executors=progress.executors,
        engine_settings=progress.settings,
    )


def _strategies(run: Run) -> StrategySet | None:
    with suppress(BadInputError, OSError):
        return read_strategies(run.strategies_file)
    return None


def _answers(run: Run, stream: StreamSpec) -> Answers | None:
    schema = stream.recorded_schema
    coded = schema.set(0, pa.field("strategy", pa.dictionary(pa.int32(), pa.string())))
    table = files.read_columns(run.answers_file(stream.name), dict(zip(coded.names, coded.types, strict=True)))
    if table is None:
        return None
    strategy = table["strategy"].combine_chunks()
    return Answers(
        table,
        strategy.dictionary.to_pylist(),
        strategy.indices.to_numpy(zero_copy_only=False),
        np.clip(table["inputTickTS"].to_numpy(), -_FAR_MS, _FAR_MS),
        table["sinkTS"].to_numpy(),
    )
