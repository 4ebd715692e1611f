"""Prices for the view of a strategy: the last of each bucket, whatever the format, and few reads of large datasets."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED
from pairs.report import prices
from pairs.report.prices import BUCKETS, read_prices

DRAWN = dict.fromkeys(
    (
        "digest",
        "correlations_digest",
        "seed",
        "profile",
        "parameters",
        "duration_ms",
        "measurement_interval_ms",
        "files",
    )
) | {"format_version": 1, "counts": {"ticks": 6}}


def market(path: Path, suffix: str, rows: int = 3_000) -> tuple[Dataset, pa.Table]:
    """Write a market of three symbols in row groups of 100 ticks."""
    dataset = Dataset(path)
    dataset.ticks_folder.mkdir(parents=True)
    place = np.arange(rows)
    table = pa.table(
        {
            "symbol": np.array(["A", "B", "C"])[place % 3],
            "price": (place % 997 + 1).astype(np.int32),
            "size": np.full(rows, 100, np.int32),
            "tickTS": place * 10,
        },
        schema=STOCK_TICK,
    )
    if suffix == "csv":
        pa_csv.write_csv(table, dataset.tick_file(0, "csv"))
    else:
        pq.write_table(table, dataset.tick_file(0, "parquet"), row_group_size=100)
    return dataset, table


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_last_price_of_each_bucket(tmp_path: Path, suffix: str) -> None:
    """As a loop over all ticks finds it, for the symbols asked for."""
    dataset, table = market(tmp_path, suffix)
    found = read_prices(dataset, ["C", "A", "Z"], 30_000)
    expected = np.zeros((3, BUCKETS), np.int32)
    for row in table.to_pylist():
        if row["symbol"] in "CA":
            expected["CA".index(row["symbol"]), int(row["tickTS"] // 100)] = row["price"]
    assert (found.cents == expected).all()
    assert found.whole


def test_of_a_large_dataset_pieces_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly spread ones, no more than allowed; their prices are right and the others missing."""
    monkeypatch.setattr(prices, "_MOST_ROWS", 1_000)
    monkeypatch.setattr(prices, "_MOST_PIECES", 4)
    dataset, _ = market(tmp_path, "parquet")
    whole = read_prices(dataset, ["A", "B", "C"], 30_000)
    assert not whole.whole
    filled = np.flatnonzero(whole.cents.any(axis=0))
    assert len(filled) == 4 * 10  # buckets of a row group of a hundred ticks, ten milliseconds apart
    assert (filled.min(), filled.max()) == (0, BUCKETS - 1)


def test_a_dataset_that_is_drawn_when_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are small whatever they stand for, so its facts decide how much of it is read."""
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    files = [dataset.tick_file(number, "drawn") for number in range(3)]
    for file in files:
        file.touch()
    dataset.write_facts(DRAWN)
    batch = pa.record_batch([["A"], [700], [100], [5]], schema=STOCK_TICK).cast(STOCK_TICK_CODED)
    monkeypatch.setattr(prices, "read_ticks", lambda file, group=None: iter([batch, batch]))
    assert [read_prices(dataset, ["A"], 300).whole, read_prices(dataset, ["A"], 300).cents[0, 5]] == [True, 700]
    dataset.write_facts(DRAWN | {"counts": {"ticks": 448_000_000}})
    assert not read_prices(dataset, ["A"], 300).whole


def test_no_dataset(tmp_path: Path) -> None:
    """An error that the report turns into a sentence."""
    with pytest.raises(BadInputError, match="file there"):
        read_prices(Dataset(tmp_path), ["A"], 1_000)
