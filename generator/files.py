"""Draws and writes one tick file, Parquet, CSV or drawn: what a task of the Spark job does on an executor.

A drawn file holds no ticks, only from what they are drawn, again and just the same, whenever it is read.

Every task gives the same rows whenever and wherever it runs, so it may be tried again, or run twice at once: a file is
written under a name of the task's own and renamed when it is whole.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pairs.config.load import workload_from_plain
from pairs.config.workload import Workload
from pairs.core.memory import peak_bytes
from pairs.dataset.digest import PartialDigest
from pairs.generator.ticks import TickSource
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED

_ROWS_PER_GROUP = 1_048_576

# Measured on generated ticks: half the time and two thirds of the bytes of the library's defaults. Times and prices
# are stored as packed differences, symbols and sizes as dictionary codes; only the symbols' cycle compresses further.
_PARQUET_OPTIONS = {
    "use_dictionary": ["symbol", "size"],
    "column_encoding": {"price": "DELTA_BINARY_PACKED", "tickTS": "DELTA_BINARY_PACKED"},
    "compression": {"symbol": "snappy", "price": "none", "size": "none", "tickTS": "none"},
    "write_statistics": ["tickTS"],
    "store_schema": False,  # readers see plain strings, not our dictionaries
}


class TickFile(ABC):
    """A file being written, as a context: renamed to its final name on success, removed on failure."""

    def __init__(self, path: Path, recipe: str = "") -> None:
        self.path = path
        self.recipe = recipe
        self.partial = path.with_name(f".{path.name}.{uuid4().hex}")
        self.rows = 0
        self._pending: list[pa.Table] = []
        self._pending_rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
            self._close()
            if kind is None:
                self.partial.rename(self.path)
        finally:
            self.partial.unlink(missing_ok=True)

    def write(self, ticks: pa.Table) -> bool:
        """Add ticks; say whether some went to disk."""
        self._pending.append(ticks)
        self._pending_rows += len(ticks)
        return self._pending_rows >= _ROWS_PER_GROUP and self._flush()

    def _flush(self) -> bool:
        if self._pending_rows:
            self._write(pa.concat_tables(self._pending))
            self.rows += self._pending_rows
        self._pending, self._pending_rows = [], 0
        return True

    @abstractmethod
    def _write(self, ticks: pa.Table) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...


class ParquetTickFile(TickFile):
    """Ticks as Parquet, a row group a million rows."""

    def __init__(self, path: Path, recipe: str = "") -> None:
        super().__init__(path, recipe)
        self._writer = pq.ParquetWriter(self.partial, STOCK_TICK_CODED, **_PARQUET_OPTIONS)

    def _write(self, ticks: pa.Table) -> None:
        self._writer.write_table(ticks, row_group_size=len(ticks))

    def _close(self) -> None:
        self._writer.close()


class CsvTickFile(TickFile):
    """Ticks as CSV with a header line, nothing quoted."""

    def __init__(self, path: Path, recipe: str = "") -> None:
        super().__init__(path, recipe)
        self._target = self.partial.open("wb")
        self._target.write((",".join(STOCK_TICK.names) + "\n").encode())

    def _write(self, ticks: pa.Table) -> None:
        options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
        pa_csv.write_csv(ticks.cast(STOCK_TICK), self._target, options)

    def _close(self) -> None:
        self._target.close()


class DrawnTickFile(TickFile):
    """No ticks, only from what they are drawn."""

    def _write(self, ticks: pa.Table) -> None:
        pass

    def _close(self) -> None:
        self.partial.write_text(self.recipe, encoding="utf-8")


TICK_FILES: dict[str, type[TickFile]] = {"parquet": ParquetTickFile, "csv": CsvTickFile, "drawn": DrawnTickFile}


@lru_cache(maxsize=1)
def tick_source(workload: Workload) -> TickSource:
    """Return the source of a workload; a worker that writes several files sets it up once."""
    return TickSource(workload)


@dataclass(frozen=True)
class FileTask:
    """One file to write: ticks [first_tick, end_tick) of a workload."""

    workload: Workload
    first_tick: int
    end_tick: int
    path: Path
    format: str

    @property
    def recipe(self) -> str:
        """From what the ticks are drawn."""
        ticks = {"first_tick": self.first_tick, "end_tick": self.end_tick}
        return json.dumps(ticks | {"parameters": self.workload.as_plain()}, indent=2) + "\n"

    @property
    def progress_file(self) -> Path:
        """Where the task says how many ticks it has written."""
        return self.path.with_name(f".{self.path.name}.progress")


@dataclass(frozen=True)
class WrittenFile:
    """What a task reports of the file it wrote."""

    name: str
    digest: PartialDigest
    bytes: int
    worker_peak_bytes: int


def write_file(task: FileTask) -> WrittenFile:
    """Draw and write one file; runs on an executor."""
    digest = PartialDigest()
    with TICK_FILES[task.format](task.path, task.recipe) as target:
        for ticks, part in tick_source(task.workload).draw(task.first_tick, task.end_tick):
            digest += part
            if target.write(ticks):
                task.progress_file.write_text(str(target.rows))
    task.progress_file.write_text(str(target.rows))
    return WrittenFile(task.path.name, digest, task.path.stat().st_size, peak_bytes())


def read_drawn(path: Path) -> Iterator[pa.RecordBatch]:
    """Draw the ticks of a drawn file."""
    recipe = json.loads(path.read_text(encoding="utf-8"))
    source = tick_source(workload_from_plain(recipe["parameters"], str(path)))
    for ticks, _ in source.draw(recipe["first_tick"], recipe["end_tick"]):
        yield from ticks.to_batches()
