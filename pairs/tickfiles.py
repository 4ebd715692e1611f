"""Reads tick files, Parquet or CSV, in pieces of bounded size."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pairs.errors import BadInputError
from pairs.model import STOCK_TICK, STOCK_TICK_CODED

_ROWS_AT_A_TIME = 262_144


def read_ticks(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the ticks of a file in order, with the symbols as numbers into a dictionary."""
    try:
        for batch in _OPENERS[path.suffix.lstrip(".")](path):
            yield batch.select(STOCK_TICK.names).cast(STOCK_TICK_CODED)
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise BadInputError(f"{path}: not a readable tick file: {reason}; generate the dataset again") from None


def _parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path, read_dictionary=["symbol"]) as source:
        yield from source.iter_batches(_ROWS_AT_A_TIME, columns=STOCK_TICK.names, use_threads=False)


def _csv_batches(path: Path) -> Iterator[pa.RecordBatch]:
    types = {one.name: one.type for one in STOCK_TICK_CODED}
    convert = pa_csv.ConvertOptions(column_types=types, include_columns=STOCK_TICK.names, strings_can_be_null=False)
    with pa_csv.open_csv(path, read_options=pa_csv.ReadOptions(use_threads=False), convert_options=convert) as source:
        yield from source


_OPENERS = {"parquet": _parquet_batches, "csv": _csv_batches}
TICK_FORMATS = tuple(_OPENERS)
