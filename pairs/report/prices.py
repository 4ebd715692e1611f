"""Reads the prices of symbols over time from a dataset, with bounded work however large it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.dataset.folder import Dataset
from pairs.dataset.formats.base import FilePart
from pairs.dataset.reader import TickReader, read_ticks, whole_file
from pairs.generator import virtual  # noqa: F401 - registers the format

BUCKETS = 300
_MOST_PIECES = 200  # row groups or files that are opened
_MOST_ROWS = 50_000_000  # that are read as a whole
_ROWS_OF_A_PIECE = 65_536
_MOST_CSV_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Prices:
    """The last price of each symbol in each bucket of simulated time, in cents; 0 where it did not trade."""

    symbols: list[str]
    bucket_ms: float
    cents: NDArray[np.int32]  # symbols x buckets
    whole: bool  # whether every tick was looked at


def read_prices(dataset: Dataset, symbols: Sequence[str], duration_ms: int) -> Prices:
    """Read the prices of symbols; of a large dataset only some pieces, evenly spread over time."""
    places = {symbol: place for place, symbol in enumerate(symbols)}
    cents = np.zeros((len(symbols) + 1, BUCKETS), np.int32)  # the last row takes what nobody asked for
    bucket_ms = max(duration_ms, 1) / BUCKETS
    files = dataset.tick_files()
    whole = _small(dataset, files)
    for batch in chain.from_iterable(map(read_ticks, files)) if whole else _spread_batches(files):
        names = batch["symbol"].dictionary.to_pylist()
        row = np.array([places.get(name, len(symbols)) for name in names], np.int64)[batch["symbol"].indices.to_numpy()]
        bucket = np.minimum(batch["tickTS"].to_numpy() // bucket_ms, BUCKETS - 1).astype(np.int64)
        cents[row, bucket] = batch["price"].to_numpy()  # ticks are in order: of a bucket the last tick stays
    return Prices(list(symbols), bucket_ms, cents[:-1], whole)


def _small(dataset: Dataset, files: list[Path]) -> bool:
    if files[0].suffix == ".csv":
        return sum(file.stat().st_size for file in files) <= _MOST_CSV_BYTES
    if files[0].suffix == ".parquet":
        return sum(int(pq.read_metadata(file).num_rows) for file in files) <= _MOST_ROWS
    return dataset.manifest.counts.ticks <= _MOST_ROWS  # virtual: the files do not tell


def _spread_batches(files: list[Path]) -> Iterator[pa.RecordBatch]:
    """Yield the first rows of pieces that are evenly spread; symbols trade in turns, so few rows hold all of them."""
    pieces = [piece for file in files for piece in _pieces(file)]
    chosen = np.unique(np.linspace(0, len(pieces) - 1, min(_MOST_PIECES, len(pieces))).astype(int))
    for place in chosen.tolist():
        batches = TickReader().read(pieces[place])
        yield from (batch.slice(0, _ROWS_OF_A_PIECE) for batch in islice(batches, 1))


def _pieces(file: Path) -> list[FilePart]:
    """Return the row groups of a Parquet file, or the whole of any other."""
    whole = whole_file(file)
    if file.suffix != ".parquet":
        return [whole]
    groups = range(pq.read_metadata(file).num_row_groups)
    return [replace(whole, row_groups=range(group, group + 1)) for group in groups]
