"""Ticks as CSV with a header line and no quotes. Rows with too few or too many values are skipped and reported."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from pairs.dataset.csv_columns import CsvColumns
from pairs.dataset.formats.base import FilePart, PartSource, TickFileWriter, TickFormat
from pairs.dataset.tick_rules import Violation, invalid_rows
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
        """Return the position in the file, with skipped rows."""
        return self._columns.row_of(kept)

    def skipped_until(self, kept: int | None) -> list[Violation]:
        """Return the rows skipped before row `kept`, or all, except those returned before."""
        end = None if kept is None else self.row_of(kept - 1)
        new = [row for row in list(self._columns.skipped)[self._reported :] if end is None or row < end]
        self._reported += len(new)
        return invalid_rows(new, [self._columns.skipped[row] for row in new])


class CsvWriter(TickFileWriter):
    """A CSV file being written."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._target = path.open("wb")
        self._target.write((",".join(STOCK_TICK.names) + "\n").encode())

    def _write(self, ticks: pa.Table) -> None:
        options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
        pa_csv.write_csv(ticks.cast(STOCK_TICK), self._target, options)

    def close(self) -> None:
        """Close the file."""
        self._target.close()


class Csv(TickFormat):
    """Ticks as CSV; a file is one part."""

    suffix = "csv"

    def parts(self, path: Path) -> list[FilePart]:
        """Return the whole file if its header is right."""
        CsvColumns(path, STOCK_TICK.names).refuse_missing()
        return super().parts(path)

    def source(self, part: FilePart) -> PartSource:
        """Open the file."""
        return CsvSource(part)

    def _open_writer(self, path: Path, recipe: str) -> TickFileWriter:
        return CsvWriter(path)
