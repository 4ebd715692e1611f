"""Reads columns of a CSV file as text, in pieces of bounded size, and notes the rows that are no rows.

Whoever reads the text decides what it means, so that every wrong value can be named with its row.
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
_MOST_SHOWN = 40  # characters of a row in a message
_MOST_SKIPPED = 100_000  # rows; a file with more of them is something else
CODED = pa.dictionary(pa.int32(), pa.string())


class NotCsvError(ValueError):
    """The file is not a table of these columns."""


@dataclass
class CsvColumns:
    """Some columns of a CSV file: those of `coded` as codes into a dictionary, all as text, never null."""

    path: Path
    names: list[str]
    coded: frozenset[str] = frozenset()
    skipped: dict[int, str] = field(default_factory=dict)  # by row of the file, from 0: what is wrong with it

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that have as many values as there are columns; note the others."""
        self.refuse_missing()
        types = {name: CODED if name in self.coded else pa.string() for name in self.names}
        options = pa_csv.ConvertOptions(column_types=types, include_columns=self.names, strings_can_be_null=False)
        with pa_csv.open_csv(
            self.path,
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._note),
            convert_options=options,
        ) as source:
            yield from source

    def refuse_missing(self) -> None:
        """Refuse a file without these columns."""
        with pa.input_stream(str(self.path), compression="detect") as source:
            beginning = source.read(_BLOCK_BYTES).decode("utf-8-sig", errors="replace")
        refuse_missing(self.names, next(csv.reader(io.StringIO(beginning, newline="")), []))

    def row_of(self, kept: int) -> int:
        """Return the row of the file, from 0, of a row that was kept."""
        rows = np.fromiter(self.skipped, np.int64, len(self.skipped))
        return kept + int(np.searchsorted(rows - np.arange(len(rows)), kept, side="right"))

    def _note(self, row: Any) -> str:
        """Note a row that is skipped. The first line of the file, the names, has number 1."""
        if len(self.skipped) >= _MOST_SKIPPED:
            return "error"
        shown = row.text if len(row.text) <= _MOST_SHOWN else row.text[:_MOST_SHOWN] + "..."
        self.skipped[row.number - 2] = f"{row.actual_columns} values for {row.expected_columns} columns: {shown!r}"
        return "skip"


def refuse_missing(wanted: list[str], there: list[str]) -> None:
    """Refuse a table that lacks a column, or has it twice."""
    for name in wanted:
        if there.count(name) != 1:
            found = ", ".join(map(repr, there[:20])) or "nothing"
            raise NotCsvError(f"{'no column' if name not in there else 'more than one column'} {name!r}; has {found}")
