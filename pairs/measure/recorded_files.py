"""Reads the files that the harness and the engine's program left in the folder of a run, as typed arrays.

What is missing or broken is None or left out, never zero and never an error. Nothing else knows the columns of these
files.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pairs.core.errors import BadInputError
from pairs.core.records import LARGEST, Count, Record
from pairs.measure.reduce import Floats, Wholes
from pairs.run_folder.folder import Run
from pairs.run_folder.records import AcknowledgedRecord, SendDelayRecord

RecordT = TypeVar("RecordT", bound=Record)

_WHOLE, _NUMBER = pa.int64(), pa.float64()
_MOST_SLOTS = 100_000_000  # of scheduled time: eleven days


@dataclass(frozen=True)
class Throughput:
    """How many ticks the drivers had produced and the engine had consumed, about every second."""

    time_us: Wholes
    produced: Wholes
    consumed: Wholes

    @property
    def waiting(self) -> Wholes:
        return self.produced - self.consumed

    @property
    def furthest(self) -> Wholes:
        """How far the engine had ever been: after a crash it may consume ticks again."""
        return np.maximum.accumulate(self.consumed)


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
    acknowledged: AcknowledgedRecord | None = None  # by the transport, of a sample of ticks


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


class Batch(BaseModel, allow_inf_nan=False):
    """A batch as the engine itself saw it."""

    kind: Literal["batch"]
    time: Count  # us of wall time
    rows: Count
    duration_ms: dict[str, float | None]
    state_rows: float | None = None
    state_bytes: float | None = None
    handed: Count | None = None  # when its answers were handed to the sink, us of wall time

    @cached_property
    def parts_ms(self) -> dict[str, float]:
        return {part: value for part, value in self.duration_ms.items() if part != "total" and value is not None}

    @property
    def total_ms(self) -> float:
        total = self.duration_ms.get("total")
        return sum(self.parts_ms.values()) if total is None else total


class Heap(BaseModel, allow_inf_nan=False):
    """A look into the engine's JVM."""

    kind: Literal["jvm"]
    time: Count  # us of wall time
    gc_seconds: float  # since its start
    heap_bytes: float


class Executor(BaseModel, allow_inf_nan=False):
    """What an executor of a cluster had used by some moment, by part; None where the engine does not tell."""

    id: str
    host: str | None = None
    cpu_seconds: dict[str, float | None]  # since its start
    most_bytes: dict[str, float | None]  # of memory, since its start


class Executors(BaseModel):
    """The executors of a cluster that were alive at some moment, as the engine itself saw them."""

    kind: Literal["executors"]
    time: Count  # us of wall time
    executors: list[Executor]


class EngineSettings(BaseModel, coerce_numbers_to_str=True):
    """The settings that were in effect in the engine."""

    kind: Literal["settings"]
    settings: dict[str, str]


_Noted = Batch | Heap | Executors | EngineSettings
_PROGRESS: TypeAdapter[_Noted] = TypeAdapter(Annotated[_Noted, Field(discriminator="kind")])


@dataclass(frozen=True)
class Progress:
    """What the engine's program noted, in the order of time, and the engine's settings."""

    batches: list[Batch]
    heaps: list[Heap]
    executors: list[Executors]
    settings: dict[str, str]


def optional_record(model: type[RecordT], file: Path) -> RecordT | None:
    with suppress(FileNotFoundError, BadInputError):
        return model.read(file)
    return None


def read_throughput(run: Run) -> Throughput | None:
    table = _sorted_table(run.throughput_file, time=_WHOLE, produced=_WHOLE, consumed=_WHOLE)
    return None if table is None else Throughput(*(column.to_numpy() for column in table.columns))


def read_drivers(run: Run, drivers: int) -> list[DriverDelays]:
    """Read the send delays of all drivers that recorded them."""
    found = []
    for driver in range(drivers):
        record = optional_record(SendDelayRecord, run.driver_file(driver))
        if record is not None:
            table = _sorted_table(run.send_delay_file(driver), slot=_WHOLE, delay_us=_WHOLE)
            by_slot = None if table is None else (table["slot"].to_numpy(), table["delay_us"].to_numpy())
            by_slot = by_slot if by_slot and by_slot[0][0] >= 0 and by_slot[0][-1] < _MOST_SLOTS else None
            seconds, ticks, worst_us = np.array(record.seconds, np.int64).reshape(-1, 3).T
            steps, counts = np.array(record.histogram, np.int64).reshape(-1, 2).T
            steps_s = (steps + 1) * record.step_us / 1e6
            in_interval = record.due_in_interval, record.sent_in_interval
            sent = DriverDelays(*in_interval, seconds, ticks, worst_us / 1e6, steps_s, counts, by_slot)
            found.append(replace(sent, acknowledged=record.acknowledged))
    return found


def read_samples(run: Run, since_us: int) -> Samples | None:
    """Read what the processes of a run used since a time; parts of the engine come first."""
    columns = ("cpu_seconds", "rss_bytes", "read_bytes", "written_bytes")
    table = _sorted_table(run.resources_file, time=_WHOLE, part=pa.string(), **dict.fromkeys(columns, _NUMBER))
    table = None if table is None else table.filter(pc.field("time") >= since_us)
    if not table:
        return None
    moments, row = np.unique(table["time"].to_numpy(), return_inverse=True)
    names = table["part"].to_pylist()
    parts = sorted(set(names), key=lambda part: (not part.startswith("engine"), part))
    column = np.array([parts.index(name) for name in names])
    grids = []
    for name in columns:
        grid = np.full((len(moments), len(parts)), np.nan)
        grid[row, column] = table[name].to_numpy()
        grids.append(grid)
    return Samples(moments, parts, *grids)


def read_machine(run: Run, since_us: int) -> MachineSamples | None:
    columns = ("seconds", "outside_seconds", "stolen_seconds")
    table = _sorted_table(run.machine_file, time=_WHOLE, **dict.fromkeys(columns, _NUMBER))
    table = None if table is None else table.filter(pc.field("time") >= since_us)
    return MachineSamples(*(column.to_numpy() for column in table.columns)) if table else None


def read_progress(run: Run, since_us: int) -> Progress:
    """Read what was noted since a time, and the engine's settings; a line that was cut off is left out."""
    found: list[Batch | Heap | Executors] = []
    settings: dict[str, str] = {}
    lines = run.progress_file.read_bytes().splitlines() if run.progress_file.is_file() else []
    for line in lines:
        with suppress(ValidationError):
            noted = _PROGRESS.validate_json(line)
            if isinstance(noted, EngineSettings):
                settings.update(noted.settings)
            elif noted.time >= since_us:
                found.append(noted)
    found.sort(key=lambda noted: noted.time)
    return Progress(
        [noted for noted in found if isinstance(noted, Batch)],
        [noted for noted in found if isinstance(noted, Heap)],
        [noted for noted in found if isinstance(noted, Executors)],
        settings,
    )


def read_columns(file: Path, columns: Mapping[str, pa.DataType]) -> pa.Table | None:
    """Read some columns of a table in these types; None if that is not possible, or a value that is no number is null.

    A missing number is NaN.
    """
    coded = [name for name, kind in columns.items() if pa.types.is_dictionary(kind)]
    try:
        found = pq.read_table(file, columns=list(columns), read_dictionary=coded)
        table = found.select(list(columns)).cast(pa.schema(columns))
        table.validate(full=True)
    except (OSError, pa.ArrowException, ValueError, KeyError):
        return None
    missing = any(table[name].null_count for name, kind in columns.items() if kind != _NUMBER)
    return None if missing else table


def _sorted_table(file: Path, **columns: pa.DataType) -> pa.Table | None:
    """Read some columns of a table, sorted by the first; None if that is not possible, or numbers are impossible."""
    table = read_columns(file, columns)
    if not table or any(_is_impossible(table[name]) for name, kind in columns.items() if kind != pa.string()):
        return None
    return table.sort_by(next(iter(columns)))


def _is_impossible(column: pa.ChunkedArray) -> bool:
    """Return whether a number is infinite, or a whole number so large that it is not exact."""
    extremes = pc.min_max(column).as_py().values()
    return any(number is not None and abs(number) > LARGEST for number in extremes)
