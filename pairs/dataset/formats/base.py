"""The interface of a format of tick files: a reader and a writer, side by side."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from pairs.core.files import temporary_for

_ROWS_PER_GROUP = 1_048_576

WriteTicks = Callable[[pa.Table], object]


@dataclass(frozen=True)
class FilePart:
    """A tick file, or some of its row groups, and the position of its first row in the file."""

    path: Path
    format: "TickFormat"
    first_row: int = 0
    row_groups: range | None = None


class PartSource:
    """The rows of a part of a file as stored, in batches, and their positions in the file."""

    def __init__(self, batches: Iterator[pa.RecordBatch], first_row: int = 0) -> None:
        self.batches = batches
        self._first_row = first_row

    def row_of(self, kept: int) -> int:
        """Return the position in the file, from 0, of the row at position `kept` among those that were not skipped."""
        return self._first_row + kept

    def skipped_until(self, kept: int | None) -> dict[int, str]:
        """Return why rows before row `kept`, or all, were skipped, by position; except those returned before."""
        return {}


class TickFileWriter:
    """A file being written, in groups of rows."""

    def __init__(self, write_ticks: WriteTicks) -> None:
        self.rows = 0  # on disk
        self._write_ticks = write_ticks
        self._pending: list[pa.Table] = []
        self._pending_rows = 0

    def write(self, ticks: pa.Table) -> bool:
        """Add ticks; return whether some went to disk."""
        self._pending.append(ticks)
        self._pending_rows += len(ticks)
        return self._pending_rows >= _ROWS_PER_GROUP and self.flush()

    def flush(self) -> bool:
        if self._pending_rows:
            self._write_ticks(pa.concat_tables(self._pending))
            self.rows += self._pending_rows
        self._pending, self._pending_rows = [], 0
        return True


class TickFormat(ABC):
    """A format of tick files. Tasks carry it with them, so that executors need no registry."""

    def parts(self, path: Path) -> list[FilePart]:
        """Cut a file into parts that tasks can share; raises the library's error if the file is not readable."""
        return [FilePart(path, self)]

    @abstractmethod
    def source(self, part: FilePart) -> PartSource: ...

    @contextmanager
    def writer(self, path: Path, recipe: str = "") -> Iterator[TickFileWriter]:
        """Write a file, which appears when it is whole; a format that stores no ticks stores the recipe."""
        with temporary_for(path) as partial, self._opened(partial, recipe) as write_ticks:
            target = TickFileWriter(write_ticks)
            yield target
            target.flush()

    @abstractmethod
    def _opened(self, path: Path, recipe: str) -> AbstractContextManager[WriteTicks]: ...


def refuse_missing(wanted: list[str], found: list[str]) -> None:
    for name in wanted:
        if found.count(name) != 1:
            shown = ", ".join(map(repr, found[:20])) or "nothing"
            raise ValueError(f"{'no column' if name not in found else 'more than one column'} {name!r}; has {shown}")
