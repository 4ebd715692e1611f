"""Reads columns of a CSV file as text, in batches of bounded size, and records the rows that it skips.

The caller converts the text, so that every invalid value can be named with its row.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

_BLOCK_BYTES = 1_048_576
_MAX_SHOWN = 40  # characters of a row in a message
_MAX_SKIPPED = 100_000  # rows; a file with more of them is not a table of these columns
_CODED = pa.dictionary(pa.int32(), pa.string())


@dataclass
class CsvColumns:
    """Columns of a CSV file as text, never null; those in `coded` are dictionary-encoded."""

    path: Path
    names: list[str]
    coded: frozenset[str] = frozenset()
    skipped: dict[int, str] = field(default_factory=dict)  # by row of the file, from 0: why it was skipped

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that have as many values as there are columns; record the others in `skipped`."""
        self.refuse_missing()
        types = {name: _CODED if name in self.coded else pa.string() for name in self.names}
        with pa_csv.open_csv(
            self.path,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._skip),
            convert_options=pa_csv.ConvertOptions(column_types=types, include_columns=self.names),
        ) as source:
            yield from source

    def refuse_missing(self) -> None:
        """Refuse a file without these columns."""
        with pa.input_stream(str(self.path), compression="detect") as source:
            beginning = source.read(_BLOCK_BYTES).decode("utf-8-sig", errors="replace")
        refuse_missing(self.names, next(csv.reader(io.StringIO(beginning, newline="")), []))

    def row_of(self, kept: int) -> int:
        """Return the position in the file, from 0, of the row at position `kept` among those that were not skipped."""
        rows = np.fromiter(self.skipped, np.int64, len(self.skipped))
        return kept + int(np.searchsorted(rows - np.arange(len(rows)), kept, side="right"))

    def _skip(self, row: Any) -> str:
        """Record a skipped row. Arrow counts from 1 and includes the header."""
        if len(self.skipped) >= _MAX_SKIPPED:
            return "error"
        shown = row.text if len(row.text) <= _MAX_SHOWN else row.text[:_MAX_SHOWN] + "..."
        self.skipped[row.number - 2] = f"{row.actual_columns} values for {row.expected_columns} columns: {shown!r}"
        return "skip"


def refuse_missing(wanted: list[str], found: list[str]) -> None:
    """Refuse a table that lacks a column, or has it twice."""
    for name in wanted:
        if found.count(name) != 1:
            shown = ", ".join(map(repr, found[:20])) or "nothing"
            raise ValueError(f"{'no column' if name not in found else 'more than one column'} {name!r}; has {shown}")
