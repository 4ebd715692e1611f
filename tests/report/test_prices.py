"""Prices for the view of a strategy: the last of each bucket, whatever the format, and few reads of large datasets."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from pairs.config.profile import Profile
from pairs.config.workload import complete
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import Content, DatasetManifest, TickFileEntry, describe_generated
from pairs.dataset.reader import read_ticks
from pairs.generator.virtual import recipe
from pairs.model.tuples import STOCK_TICK
from pairs.report import prices
from pairs.report.prices import BUCKETS, read_prices


def manifest(ticks: int) -> DatasetManifest:
    """Describe a virtual dataset of so many ticks."""
    files = (TickFileEntry(name="part-00000.virtual", ticks=ticks, bytes=1),)
    content = Content(format="virtual", digest="d", correlations_digest="c", files=files)
    return describe_generated(Profile("test", complete({})), content)


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


def test_a_virtual_dataset(tmp_path: Path) -> None:
    """Its files are small whatever they stand for, so its manifest decides how much of it is read."""
    workload = complete({"duration": 1_000, "basis_rate": Fraction(1_000)})
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    for number in range(3):
        file = dataset.tick_file(number, "virtual")
        file.write_text(recipe(workload, 200 * number, 200 * (number + 1)), encoding="utf-8")
    symbols = sorted({name for file in dataset.tick_files() for name in next(read_ticks(file))["symbol"].to_pylist()})
    found = []
    for ticks in (600, 448_000_000):
        manifest(ticks).write(dataset.manifest_file)
        found.append(read_prices(Dataset(tmp_path), symbols, 1_000))
    assert [prices.whole for prices in found] == [True, False]
    assert (found[0].cents == found[1].cents).all()
    assert found[0].cents.any(axis=1).all()


def test_no_dataset(tmp_path: Path) -> None:
    """An error that the report turns into a sentence."""
    with pytest.raises(BadInputError, match="file there"):
        read_prices(Dataset(tmp_path), ["A"], 1_000)
