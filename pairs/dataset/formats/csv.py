"""Ticks as CSV with a header line, nothing quoted. Rows with too few or too many values are skipped and reported."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from pairs.dataset.csv_columns import CsvColumns
from pairs.dataset.formats.base import FilePart, PartSource, TickFileWriter, TickFormat
from pairs.dataset.tick_rules import Broken, wrong_rows
from pairs.model.tuples import STOCK_TICK


class CsvSource(PartSource):
    """A CSV file."""

    def __init__(self, part: FilePart) -> None:
        super().__init__(part)
        self._columns = CsvColumns(part.path, STOCK_TICK.names, frozenset({"symbol"}))
        self._reported = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that have a value for each column."""
        yield from self._columns.batches()

    def row_of(self, kept: int) -> int:
        """Return the row of the file, skipped rows counted."""
        return self._columns.row_of(kept)

    def skipped_until(self, kept: int | None) -> list[Broken]:
        """Return the skipped rows before the next that is kept, or all, that were not returned yet."""
        end = None if kept is None else self.row_of(kept - 1)
        new = [row for row in list(self._columns.skipped)[self._reported :] if end is None or row < end]
        self._reported += len(new)
        return wrong_rows(new, [self._columns.skipped[row] for row in new])


class CsvWriter(TickFileWriter):
    """A CSV file being written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._target = self.partial.open("wb")
        self._target.write((",".join(STOCK_TICK.names) + "\n").encode())

    def _write(self, ticks: pa.Table) -> None:
        options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
        pa_csv.write_csv(ticks.cast(STOCK_TICK), self._target, options)

    def _close(self) -> None:
        self._target.close()


class Csv(TickFormat):
    """Ticks as CSV; a file is one part."""

    suffix = "csv"

    def parts(self, path: Path) -> list[FilePart]:
        """Return the whole file, once its header is known to be right."""
        CsvColumns(path, STOCK_TICK.names).refuse_missing()
        return super().parts(path)

    def source(self, part: FilePart) -> PartSource:
        """Open the file."""
        return CsvSource(part)

    def writer(self, path: Path, recipe: str) -> TickFileWriter:
        """Open a file for writing."""
        return CsvWriter(path)
