"""Reads tick files, Parquet, CSV or drawn, in pieces of bounded size, any part, and refuses what is no market."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from pairs.core.errors import BadInputError
from pairs.dataset.csv_columns import CsvColumns, refuse_missing
from pairs.dataset.tick_rules import Broken, TickRules, as_ticks, first_problem, refuse_types, wrong_rows
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED

_ROWS_AT_A_TIME = 262_144
_ROWS_OF_A_PART = 4_194_304
_UNREADABLE = (pa.ArrowException, KeyError, ValueError, OSError)  # what the libraries raise over a broken file


@dataclass(frozen=True)
class FilePart:
    """A tick file, or some of its row groups, and the position of its first row in the file."""

    path: Path
    first_row: int
    row_groups: range | None = None


def parts_of(path: Path) -> list[FilePart]:
    """Cut a file into parts that tasks can share, at row groups; other files have none and stay whole."""
    if path.suffix == ".csv":
        with _refusing_unreadable(path):
            CsvColumns(path, STOCK_TICK.names).refuse_missing()
    if path.suffix != ".parquet":
        return [FilePart(path, 0)]
    with _refusing_unreadable(path), pq.ParquetFile(path) as source:
        _refuse_schema(source.schema_arrow)
        rows = [source.metadata.row_group(number).num_rows for number in range(source.num_row_groups)]
    return cut_at_row_groups(path, rows)


def cut_at_row_groups(path: Path, rows: list[int]) -> list[FilePart]:
    """Cut a Parquet file whose row groups have so many rows each."""
    parts, begin, first_row, length = [], 0, 0, 0
    for number, more in enumerate(rows):
        if length and length + more > _ROWS_OF_A_PART:
            parts.append(FilePart(path, first_row, range(begin, number)))
            begin, first_row, length = number, first_row + length, 0
        length += more
    return [*parts, FilePart(path, first_row, range(begin, len(rows)))]


def has_ticks(path: Path) -> bool:
    """Say whether there is a row in a file that is readable."""
    with _refusing_unreadable(path):
        return any(len(batch) for batch in _SOURCES[path.suffix.lstrip(".")](FilePart(path, 0)).batches())


class TickReader:
    """Reads parts of a stream of ticks one after the other, and holds every row against the rules."""

    def __init__(self, known: Collection[str] | None = None) -> None:
        self._rules = TickRules(known)

    def read(self, part: FilePart) -> Iterator[pa.RecordBatch]:
        """Yield the ticks of a part, in order, with symbols as numbers into a dictionary; refuse the first bad row."""
        for ticks, broken in self.look(part):
            if broken:
                raise first_problem(broken).refusal(part.path)
            yield ticks

    def look(self, part: FilePart) -> Iterator[tuple[pa.RecordBatch, list[Broken]]]:
        """Yield the ticks of a part with what is wrong with them; it ends where the file cannot be read on."""
        if part.first_row == 0:
            self._rules.begin_file()
        source = _SOURCES[part.path.suffix.lstrip(".")](part)
        kept = 0
        rest: list[Broken] = []
        batches = source.batches()
        while True:
            try:
                raw = next(batches, None)
            except _UNREADABLE as error:
                rest = wrong_rows([source.row_of(kept)], [f"not readable from here on: {_reason(error)}"])
                break
            if raw is None:
                break
            ticks, broken = as_ticks(raw)
            broken += self._rules.broken_by(ticks)
            broken = [one.at([source.row_of(kept + row) for row in one.rows]) for one in broken]
            kept += len(raw)
            yield ticks, broken + source.skipped_until(kept)
        if rest := source.skipped_until(None) + rest:
            yield pa.RecordBatch.from_pylist([], STOCK_TICK_CODED), rest


def read_ticks(path: Path, row_groups: range | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the ticks of a file, or of some of its row groups, in order; refuse the first bad row."""
    return TickReader().read(FilePart(path, 0, row_groups))


@contextmanager
def _refusing_unreadable(path: Path) -> Iterator[None]:
    """Turn whatever a library says of a broken file into one line."""
    try:
        yield
    except _UNREADABLE as error:
        raise BadInputError(f"{path}: not a readable tick file: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    return f"{' '.join(str(error).split())}; generate or import the dataset again"


def _refuse_schema(schema: pa.Schema) -> None:
    refuse_missing(STOCK_TICK.names, schema.names)
    refuse_types(schema)


class _Source(Protocol):
    """A part of a tick file: its rows as the file holds them, and where they are in it."""

    def __init__(self, part: FilePart) -> None: ...

    def batches(self) -> Iterator[pa.RecordBatch]: ...

    def row_of(self, kept: int) -> int: ...

    def skipped_until(self, kept: int | None) -> list[Broken]: ...


class _ParquetSource:
    """Some row groups of a Parquet file."""

    def __init__(self, part: FilePart) -> None:
        self._part = part

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows."""
        with pq.ParquetFile(self._part.path, read_dictionary=["symbol"]) as source:
            _refuse_schema(source.schema_arrow)
            groups = range(source.num_row_groups) if self._part.row_groups is None else self._part.row_groups
            for batch in source.iter_batches(
                _ROWS_AT_A_TIME, list(groups), columns=STOCK_TICK.names, use_threads=False
            ):
                yield batch.select(STOCK_TICK.names)

    def row_of(self, kept: int) -> int:
        """Return the row of the file; none is skipped."""
        return self._part.first_row + kept

    def skipped_until(self, kept: int | None) -> list[Broken]:
        """Return nothing; see row_of."""
        return []


class _CsvSource:
    """A CSV file. Rows with too few or too many values are skipped and told of."""

    def __init__(self, part: FilePart) -> None:
        self._columns = CsvColumns(part.path, STOCK_TICK.names, frozenset({"symbol"}))
        self._told = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows that are none of these."""
        yield from self._columns.batches()

    def row_of(self, kept: int) -> int:
        """Return the row of the file."""
        return self._columns.row_of(kept)

    def skipped_until(self, kept: int | None) -> list[Broken]:
        """Tell of the skipped rows before the next that is kept, or of all, that were not told of yet."""
        end = None if kept is None else self.row_of(kept - 1)
        new = [row for row in list(self._columns.skipped)[self._told :] if end is None or row < end]
        self._told += len(new)
        return wrong_rows(new, [self._columns.skipped[row] for row in new])


class _DrawnSource(_ParquetSource):
    """A file that says from what its ticks are drawn."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Draw all ticks."""
        from pairs.generator.files import (
            read_drawn,  # only where a dataset is a function: it takes scipy and time to load
        )

        yield from read_drawn(self._part.path)


_SOURCES: dict[str, type[_Source]] = {"parquet": _ParquetSource, "csv": _CsvSource, "drawn": _DrawnSource}
TICK_FORMATS = tuple(_SOURCES)
