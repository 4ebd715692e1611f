"""Reads tick files, Parquet, CSV or drawn, in pieces of bounded size, any part, and refuses what is no market."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.errors import BadInputError
from pairs.model import STOCK_TICK, STOCK_TICK_CODED

_ROWS_AT_A_TIME = 262_144
_ROWS_OF_A_PART = 4_194_304


@dataclass(frozen=True)
class FilePart:
    """A tick file, or some of its row groups, and the position of its first row in the file or in the whole stream."""

    path: Path
    first_row: int
    row_groups: range | None = None


def parts_of(path: Path) -> list[FilePart]:
    """Cut a file into parts that tasks can share, at row groups; other files have none and stay whole."""
    if path.suffix != ".parquet":
        return [FilePart(path, 0)]
    with _refusing_unreadable(path), pq.ParquetFile(path) as source:
        rows = [source.metadata.row_group(number).num_rows for number in range(source.num_row_groups)]
    parts, begin, first_row, length = [], 0, 0, 0
    for number, more in enumerate(rows):
        if length and length + more > _ROWS_OF_A_PART:
            parts.append(FilePart(path, first_row, range(begin, number)))
            begin, first_row, length = number, first_row + length, 0
        length += more
    return [*parts, FilePart(path, first_row, range(begin, len(rows)))]


def read_ticks(path: Path, row_groups: range | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the ticks of a file, or of some of its row groups, in order, with symbols as numbers into a dictionary."""
    with _refusing_unreadable(path):
        for batch in _OPENERS[path.suffix.lstrip(".")](path, row_groups):
            ticks = batch.select(STOCK_TICK.names).cast(STOCK_TICK_CODED)
            if any(column.null_count for column in ticks.columns):
                raise ValueError("a row has no value in one of its columns")
            yield ticks


def refuse_bad_rows(part: FilePart, done: int, price: NDArray[Any], tick_ts: NDArray[Any], after_ts: int) -> None:
    """Refuse rows that are no trades: prices must be above zero, and time must not run backwards.

    `done` rows of the part came before these, the last of them at `after_ts`.
    """
    if price.min(initial=1) <= 0:
        row = int(np.argmax(price <= 0))
        raise _bad_row(part, done + row, f"price {price[row]}; prices are whole cents above zero")
    steps = np.diff(tick_ts, prepend=after_ts)
    if steps.min(initial=0) < 0:
        row = int(np.argmax(steps < 0))
        raise _bad_row(part, done + row, f"tickTS {tick_ts[row]} after {tick_ts[row] - steps[row]}; sort by time")


def _bad_row(part: FilePart, row: int, problem: str) -> BadInputError:
    return BadInputError(f"{part.path}: row {part.first_row + row + 1:,}: {problem}")


@contextmanager
def _refusing_unreadable(path: Path) -> Iterator[None]:
    """Turn whatever a library says of a broken file into one line."""
    try:
        yield
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise BadInputError(f"{path}: not a readable tick file: {reason}; generate the dataset again") from None


def _parquet_batches(path: Path, row_groups: range | None) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path, read_dictionary=["symbol"]) as source:
        groups = range(source.num_row_groups) if row_groups is None else row_groups
        yield from source.iter_batches(_ROWS_AT_A_TIME, list(groups), columns=STOCK_TICK.names, use_threads=False)


def _csv_batches(path: Path, row_groups: range | None) -> Iterator[pa.RecordBatch]:
    types = {one.name: one.type for one in STOCK_TICK_CODED}
    convert = pa_csv.ConvertOptions(column_types=types, include_columns=STOCK_TICK.names, strings_can_be_null=False)
    with pa_csv.open_csv(path, read_options=pa_csv.ReadOptions(use_threads=False), convert_options=convert) as source:
        yield from source


def _drawn_batches(path: Path, row_groups: range | None) -> Iterator[pa.RecordBatch]:
    from generator.files import read_drawn  # only where a dataset is a function: it takes scipy and time to load

    return read_drawn(path)


_OPENERS = {"parquet": _parquet_batches, "csv": _csv_batches, "drawn": _drawn_batches}
TICK_FORMATS = tuple(_OPENERS)
