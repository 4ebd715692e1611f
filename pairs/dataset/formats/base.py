"""What a format of tick files is: a reader and a writer, side by side."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self
from uuid import uuid4

import pyarrow as pa

from pairs.dataset.tick_rules import Broken

_ROWS_PER_GROUP = 1_048_576


@dataclass(frozen=True)
class FilePart:
    """A tick file, or some of its row groups, and the position of its first row in the file."""

    path: Path
    format: "TickFormat"
    first_row: int = 0
    row_groups: range | None = None


class PartSource(ABC):
    """Reads a part of a tick file: its rows as the file holds them, and where they are in it."""

    def __init__(self, part: FilePart) -> None:
        self._part = part

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows that have the right number of values."""

    def row_of(self, kept: int) -> int:
        """Return the row of the file, from 0, of a row that was kept."""
        return self._part.first_row + kept

    def skipped_until(self, kept: int | None) -> list[Broken]:
        """Return the rows skipped before the next that is kept, or all, that were not returned yet."""
        return []


class TickFileWriter(ABC):
    """A file being written, as a context: renamed to its final name on success, removed on failure.

    The temporary name is the task's own, so the same file may be written twice at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
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


class TickFormat(ABC):
    """A format of tick files. Tasks carry it with them, so that executors need no registry."""

    suffix: ClassVar[str]

    def parts(self, path: Path) -> list[FilePart]:
        """Cut a file into parts that tasks can share; raise what a library raises over a broken file."""
        return [FilePart(path, self)]

    @abstractmethod
    def source(self, part: FilePart) -> PartSource:
        """Open a part for reading."""

    @abstractmethod
    def writer(self, path: Path, recipe: str) -> TickFileWriter:
        """Open a file for writing; `recipe` says from what its ticks are drawn, should the format not store them."""
