"""Reads the files that the harness and the engine's program left in the folder of a run, as typed arrays.

What is missing or broken is None or left out, never zero and never an error. Nothing else knows the columns of these
files.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pairs.core.errors import BadInputError
from pairs.core.records import Record
from pairs.measure.reduce import Floats, Wholes
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SendDelayRecord

RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True)
class Throughput:
    """How many ticks the drivers had produced and the engine had consumed, about every second."""

    time_us: Wholes
    produced: Wholes
    consumed: Wholes

    @property
    def waiting(self) -> Wholes:
        return self.produced - self.consumed


@dataclass(frozen=True)
class DriverDelays:
    """The send delays of a driver: by second, as a histogram, and, if recorded, the worst by slot of scheduled time."""

    due_in_interval: int  # ticks
    sent_in_interval: int
    seconds: Wholes  # of wall time
    ticks: Wholes
    worst_s: Floats
    steps_s: Floats  # upper ends of the histogram's steps
    counts: Wholes
    by_slot: tuple[Wholes, Wholes] | None  # slots, and the worst delay in each, us


@dataclass(frozen=True)
class Samples:
    """What the processes of a run used: a row for each moment, a column for each part; NaN where nothing is known."""

    time_us: Wholes
    parts: list[str]
    cpu_seconds: Floats
    rss_bytes: Floats
    read_bytes: Floats
    written_bytes: Floats


@dataclass(frozen=True)
class MachineSamples:
    """What else the machine did, about every second: CPU seconds outside the run, and stolen by the host."""

    time_us: Wholes
    seconds: Floats  # since the sample before
    outside_s: Floats
    stolen_s: Floats


class Batch(BaseModel):
    """A batch as the engine itself saw it."""

    kind: Literal["batch"]
    time: int  # us of wall time
    rows: int
    duration_ms: dict[str, float | None]
    state_rows: float | None = None
    state_bytes: float | None = None
    handed: int | None = None  # when its answers were handed to the sink, us of wall time

    @cached_property
    def parts_ms(self) -> dict[str, float]:
        return {part: value for part, value in self.duration_ms.items() if part != "total" and value is not None}

    @property
    def total_ms(self) -> float:
        total = self.duration_ms.get("total")
        return sum(self.parts_ms.values()) if total is None else total


class Heap(BaseModel):
    """A look into the engine's JVM."""

    kind: Literal["jvm"]
    time: int  # us of wall time
    gc_seconds: float  # since its start
    heap_bytes: float


class EngineSettings(BaseModel, coerce_numbers_to_str=True):
    """The settings that were in effect in the engine."""

    kind: Literal["settings"]
    settings: dict[str, str]


_PROGRESS: TypeAdapter[Batch | Heap | EngineSettings] = TypeAdapter(
    Annotated[Batch | Heap | EngineSettings, Field(discriminator="kind")]
)


def optional_record(model: type[RecordT], file: Path) -> RecordT | None:
    with suppress(FileNotFoundError, BadInputError):
        return model.read(file)
    return None


def read_throughput(run: Run) -> Throughput | None:
    table = _sorted_table(run.throughput_file, "time", "produced", "consumed")
    return None if table is None else Throughput(*(_wholes(table, name) for name in ("time", "produced", "consumed")))


def read_drivers(run: Run, drivers: int) -> list[DriverDelays]:
    """Read the send delays of all drivers that recorded them."""
    found = []
    for driver in range(drivers):
        record = optional_record(SendDelayRecord, run.driver_file(driver))
        if record is not None:
            table = _sorted_table(run.send_delay_file(driver), "slot", "delay_us")
            by_slot = None if table is None else (_wholes(table, "slot"), _wholes(table, "delay_us"))
            seconds, ticks, worst_us = np.array(record.seconds, np.int64).reshape(-1, 3).T
            steps, counts = np.array(record.histogram, np.int64).reshape(-1, 2).T
            steps_s = (steps + 1) * record.step_us / 1e6
            in_interval = record.due_in_interval, record.sent_in_interval
            found.append(DriverDelays(*in_interval, seconds, ticks, worst_us / 1e6, steps_s, counts, by_slot))
    return found


def read_samples(run: Run, since_us: int) -> Samples | None:
    """Read what the processes of a run used since a time; parts of the engine come first."""
    columns = ("cpu_seconds", "rss_bytes", "read_bytes", "written_bytes")
    table = _sorted_table(run.resources_file, "time", "part", *columns)
    table = None if table is None else table.filter(pc.field("time") >= since_us)
    if not table:
        return None
    moments, row = np.unique(_wholes(table, "time"), return_inverse=True)
    names = table["part"].to_pylist()
    parts = sorted(set(names), key=lambda part: (not part.startswith("engine"), part))
    column = np.array([parts.index(name) for name in names])
    grids = []
    for name in columns:
        grid = np.full((len(moments), len(parts)), np.nan)
        grid[row, column] = table[name].cast(pa.float64()).to_numpy()
        grids.append(grid)
    return Samples(moments, parts, *grids)


def read_machine(run: Run, since_us: int) -> MachineSamples | None:
    columns = ("seconds", "outside_seconds", "stolen_seconds")
    table = _sorted_table(run.machine_file, "time", *columns)
    table = None if table is None else table.filter(pc.field("time") >= since_us)
    return MachineSamples(_wholes(table, "time"), *(table[name].to_numpy() for name in columns)) if table else None


def read_progress(run: Run, since_us: int) -> tuple[list[Batch], list[Heap], dict[str, str]]:
    """Read batches and heaps since a time, and the engine's settings; a line that was cut off is left out."""
    batches: list[Batch] = []
    heaps: list[Heap] = []
    settings: dict[str, str] = {}
    lines = run.progress_file.read_bytes().splitlines() if run.progress_file.is_file() else []
    for line in lines:
        with suppress(ValidationError):
            noted = _PROGRESS.validate_json(line)
            if isinstance(noted, EngineSettings):
                settings.update(noted.settings)
            elif noted.time >= since_us:
                batches.append(noted) if isinstance(noted, Batch) else heaps.append(noted)
    return sorted(batches, key=lambda batch: batch.time), sorted(heaps, key=lambda heap: heap.time), settings


def _sorted_table(file: Path, order: str, *columns: str) -> pa.Table | None:
    """Read some columns of a table, sorted by the first; None if that is not possible or there is no row."""
    try:
        table = pq.read_table(file, columns=[order, *columns])
    except (OSError, pa.ArrowException):
        return None
    return table.sort_by(order) if len(table) and {order, *columns} <= set(table.column_names) else None


def _wholes(table: pa.Table, name: str) -> Wholes:
    return np.asarray(table[name].to_numpy(), np.int64)
