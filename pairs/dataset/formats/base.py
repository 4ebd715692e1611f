"""The interface of a format of tick files: a reader and a writer, side by side."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from pairs.core.files import temporary_for
from pairs.dataset.tick_rules import Violation

_ROWS_PER_GROUP = 1_048_576


@dataclass(frozen=True)
class FilePart:
    """A tick file, or some of its row groups, and the position of its first row in the file."""

    path: Path
    format: "TickFormat"
    first_row: int = 0
    row_groups: range | None = None


class PartSource(ABC):
    """Reads a part of a tick file: its rows as stored, and their positions in the file."""

    def __init__(self, part: FilePart) -> None:
        self._part = part

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows with the right number of values."""

    def row_of(self, kept: int) -> int:
        """Return the position in the file, from 0, of the row at position `kept` among those that were not skipped."""
        return self._part.first_row + kept

    def skipped_until(self, kept: int | None) -> list[Violation]:
        """Return the rows skipped before row `kept`, or all, except those returned before."""
        return []


class TickFileWriter(ABC):
    """A file being written."""

    def __init__(self) -> None:
        self.rows = 0  # on disk
        self._pending: list[pa.Table] = []
        self._pending_rows = 0

    def write(self, ticks: pa.Table) -> bool:
        """Add ticks; return whether some went to disk."""
        self._pending.append(ticks)
        self._pending_rows += len(ticks)
        return self._pending_rows >= _ROWS_PER_GROUP and self.flush()

    def flush(self) -> bool:
        """Write all ticks to disk."""
        if self._pending_rows:
            self._write(pa.concat_tables(self._pending))
            self.rows += self._pending_rows
        self._pending, self._pending_rows = [], 0
        return True

    @abstractmethod
    def _write(self, ticks: pa.Table) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


class TickFormat(ABC):
    """A format of tick files. Tasks carry it with them, so that executors need no registry."""

    suffix: ClassVar[str]

    def parts(self, path: Path) -> list[FilePart]:
        """Cut a file into parts that tasks can share; raises the library's error if the file is not readable."""
        return [FilePart(path, self)]

    @abstractmethod
    def source(self, part: FilePart) -> PartSource:
        """Open a part for reading."""

    @contextmanager
    def writer(self, path: Path, recipe: str = "") -> Iterator[TickFileWriter]:
        """Write a file, which appears when it is whole; a format that stores no ticks stores the recipe."""
        with temporary_for(path) as partial, closing(self._open_writer(partial, recipe)) as target:
            yield target
            target.flush()

    @abstractmethod
    def _open_writer(self, path: Path, recipe: str) -> TickFileWriter: ...
