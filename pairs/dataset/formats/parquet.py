"""Ticks as Parquet, one row group for every million rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pairs.dataset.formats.base import FilePart, StoredRows, TickFormat, WriteTicks, numbered, refuse_missing
from pairs.dataset.tick_rules import refuse_types
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED

_ROWS_AT_A_TIME = 262_144
_ROWS_OF_A_PART = 4_194_304
_MAGIC = b"PAR1"

RefuseSchema = Callable[[pa.Schema], None]

# Measured on generated ticks: half the time and two thirds of the bytes of the defaults. Times and prices are stored as
# packed differences, symbols and sizes as dictionary codes; only the cycle of symbols compresses further.
_OPTIONS = {
    "use_dictionary": ["symbol", "size"],
    "column_encoding": {"price": "DELTA_BINARY_PACKED", "tickTS": "DELTA_BINARY_PACKED"},
    "compression": {"symbol": "snappy", "price": "none", "size": "none", "tickTS": "none"},
    "write_statistics": ["tickTS"],
    "store_schema": False,  # readers see plain strings, not our dictionaries
}


class Parquet(TickFormat):
    """Ticks as Parquet; parts are cut at row groups."""

    def parts(self, path: Path) -> list[FilePart]:
        return [FilePart(path, self, *part) for part in cut_row_groups(path, _refuse_schema)]

    def source(self, part: FilePart) -> Iterator[StoredRows]:
        batches = read_row_groups(part.path, part.row_groups, STOCK_TICK.names, _refuse_schema, ["symbol"])
        return numbered((batch.select(STOCK_TICK.names) for batch in batches), part.first_row)

    def last_ts(self, path: Path) -> int | None:
        with pq.ParquetFile(path) as source:
            times = source.read_row_group(source.num_row_groups - 1, columns=["tickTS"])["tickTS"]
        return int(times[-1].as_py())

    @contextmanager
    def _opened(self, path: Path, recipe: str) -> Iterator[WriteTicks]:
        with pq.ParquetWriter(path, STOCK_TICK_CODED, **_OPTIONS) as target:
            yield lambda ticks: target.write_table(ticks, row_group_size=len(ticks))


def _refuse_schema(schema: pa.Schema) -> None:
    refuse_missing(STOCK_TICK.names, schema.names)
    refuse_types(schema)


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its first bytes or, if it is damaged there, by its name."""
    with path.open("rb") as source:
        return source.read(len(_MAGIC)) == _MAGIC or path.suffix.lower() == ".parquet"


def cut_row_groups(path: Path, refuse: RefuseSchema) -> list[tuple[int, range]]:
    """Combine the row groups of a file into parts; return the first row and the groups of each."""
    with pq.ParquetFile(path) as source:
        refuse(source.schema_arrow)
        rows = [source.metadata.row_group(number).num_rows for number in range(source.num_row_groups)]
    parts, begin, first_row, length = [], 0, 0, 0
    for number, more in enumerate(rows):
        if length and length + more > _ROWS_OF_A_PART:
            parts.append((first_row, range(begin, number)))
            begin, first_row, length = number, first_row + length, 0
        length += more
    return [*parts, (first_row, range(begin, len(rows)))]


def read_row_groups(
    path: Path,
    row_groups: range | None,
    names: list[str],
    refuse: RefuseSchema,
    coded: Sequence[str] = (),
    rows: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield columns of some row groups, or of all, some rows at a time; those in `coded` are dictionary-encoded."""
    with pq.ParquetFile(path, read_dictionary=list(coded)) as source:
        refuse(source.schema_arrow)
        groups = range(source.num_row_groups) if row_groups is None else row_groups
        yield from source.iter_batches(rows or _ROWS_AT_A_TIME, list(groups), columns=names, use_threads=False)
