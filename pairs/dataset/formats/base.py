"""The interface of a format of tick files: a reader and a writer, side by side."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from pairs.core.files import temporary_for

_ROWS_PER_GROUP = 1_048_576
_MAX_SHOWN = 40  # characters of a column's name

WriteTicks = Callable[[pa.Table], object]


@dataclass(frozen=True)
class FilePart:
    """A tick file, or some of its row groups, and the position of its first row in the file."""

    path: Path
    format: "TickFormat"
    first_row: int = 0
    row_groups: range | None = None


@dataclass(frozen=True)
class SkippedRow:
    """A row that cannot be read: its position in the file, from 0, the line it begins at, and what is wrong."""

    row: int
    line: int
    problem: str


@dataclass(frozen=True)
class StoredRows:
    """Rows of a file as stored, in order, and the rows among them that cannot be read."""

    batch: pa.RecordBatch
    rows: Sequence[int]  # positions in the file, from 0
    lines: Sequence[int]  # where they begin, from 1; in a format without lines the rows from 1
    skipped: Sequence[SkippedRow] = ()

    @property
    def end(self) -> int:
        """The position of the row that follows."""
        return 1 + max([*self.rows[-1:], *(skipped.row for skipped in self.skipped[-1:])])


def numbered(batches: Iterable[pa.RecordBatch], first_row: int = 0) -> Iterator[StoredRows]:
    """Yield batches of a format without lines with their positions."""
    for batch in batches:
        rows = range(first_row, first_row + len(batch))
        yield StoredRows(batch, rows, range(rows.start + 1, rows.stop + 1))
        first_row = rows.stop


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
    def source(self, part: FilePart) -> Iterator[StoredRows]:
        """Yield the rows of a part; raises the library's error where the file is not readable."""

    def last_ts(self, path: Path) -> int | None:
        """Return the time of a file's last tick without reading them all, if possible; may raise if it is damaged."""
        return None

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
    """Refuse columns that lack a wanted name, or have it more than once."""
    for name in wanted:
        if found.count(name) != 1:
            alike = [other for other in found if other.lower() == name.lower()]
            problem = f"no column {name!r}" if name not in found else f"more than one column {name!r}"
            spelled = f", but {alike[0]!r}" if alike and name not in found else ""
            names = ", ".join(repr(other[:_MAX_SHOWN]) for other in found[:20])
            raise ValueError(f"{problem}{spelled}; has {names or 'nothing'}")
