"""CSV: any columns as text, and ticks with a header line and no quotes.

Rows with too few or too many values are skipped and reported. The caller converts the text, so that every invalid value
can be named with its row.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from pairs.core.units import counted
from pairs.dataset.formats.base import FilePart, PartSource, TickFormat, WriteTicks, refuse_missing
from pairs.model.tuples import STOCK_TICK

_BLOCK_BYTES = 1_048_576
_MAX_SHOWN = 40  # characters of a row in a message
_MAX_SKIPPED = 100_000  # rows; a file with more of them is not a table of these columns
_CODED = pa.dictionary(pa.int32(), pa.string())


class CsvColumns(PartSource):
    """Columns of a CSV file as text, never null; those in `coded` are dictionary-encoded."""

    def __init__(self, path: Path, names: list[str], coded: frozenset[str] = frozenset()) -> None:
        super().__init__(self._read(path, {name: _CODED if name in coded else pa.string() for name in names}))
        self._skipped: dict[int, str] = {}
        self._reported = 0

    def row_of(self, kept: int) -> int:
        rows = np.fromiter(self._skipped, np.int64, len(self._skipped))
        return kept + int(np.searchsorted(rows - np.arange(len(rows)), kept, side="right"))

    def skipped_until(self, kept: int | None) -> dict[int, str]:
        end = None if kept is None else self.row_of(kept - 1)
        new = [row for row in list(self._skipped)[self._reported :] if end is None or row < end]
        self._reported += len(new)
        return {row: self._skipped[row] for row in new}

    def _read(self, path: Path, types: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        refuse_missing_in_csv(path, list(types))
        with pa_csv.open_csv(
            path,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._skip),
            convert_options=pa_csv.ConvertOptions(column_types=types, include_columns=list(types)),
        ) as source:
            yield from source

    def _skip(self, row: Any) -> str:
        """Record a skipped row. Arrow counts from 1 and includes the header."""
        if len(self._skipped) >= _MAX_SKIPPED:
            return "error"
        shown = row.text if len(row.text) <= _MAX_SHOWN else row.text[:_MAX_SHOWN] + "..."
        values = counted(row.actual_columns, "value")
        self._skipped[row.number - 2] = f"{values} for {row.expected_columns} columns: {shown!r}"
        return "skip"


def refuse_missing_in_csv(path: Path, names: list[str]) -> None:
    with pa.input_stream(str(path), compression="detect") as source:
        beginning = source.read(_BLOCK_BYTES).decode("utf-8-sig", errors="replace")
    refuse_missing(names, next(csv.reader(io.StringIO(beginning, newline="")), []))


class Csv(TickFormat):
    """Ticks as CSV; a file is one part."""

    def parts(self, path: Path) -> list[FilePart]:
        refuse_missing_in_csv(path, STOCK_TICK.names)
        return super().parts(path)

    def source(self, part: FilePart) -> PartSource:
        return CsvColumns(part.path, STOCK_TICK.names, frozenset({"symbol"}))

    @contextmanager
    def _opened(self, path: Path, recipe: str) -> Iterator[WriteTicks]:
        options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
        with path.open("wb") as target:
            target.write((",".join(STOCK_TICK.names) + "\n").encode())
            yield lambda ticks: pa_csv.write_csv(ticks.cast(STOCK_TICK), target, options)
