"""Ticks as CSV, with a header line and no quotes; the caller converts the text, and names every invalid value."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from pairs.dataset.formats.base import FilePart, StoredRows, TickFormat, WriteTicks, refuse_missing
from pairs.dataset.formats.csv_rows import csv_header, csv_rows
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED

_AS_TEXT = dict.fromkeys(STOCK_TICK.names, pa.string()) | {"symbol": STOCK_TICK_CODED.field("symbol").type}

_TAIL_BYTES = 65_536


class Csv(TickFormat):
    """Ticks as CSV; a file is one part."""

    def parts(self, path: Path) -> list[FilePart]:
        refuse_missing(STOCK_TICK.names, csv_header(path))
        return super().parts(path)

    def source(self, part: FilePart) -> Iterator[StoredRows]:
        return csv_rows(part.path, _AS_TEXT)

    def last_ts(self, path: Path) -> int | None:
        with path.open("rb") as source:
            source.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            last_line = source.read().decode().splitlines()[-1]
        return int(last_line.split(",")[csv_header(path).index("tickTS")])

    @contextmanager
    def _opened(self, path: Path, recipe: str) -> Iterator[WriteTicks]:
        options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
        with path.open("wb") as target:
            target.write((",".join(STOCK_TICK.names) + "\n").encode())
            yield lambda ticks: pa_csv.write_csv(ticks.cast(STOCK_TICK), target, options)
