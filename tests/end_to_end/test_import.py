"""`pairs import` as users call it: real trades become a dataset on which every other stage works."""

import csv
import json
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pairs.dataset.check import check
from pairs.dataset.folder import Dataset, new_dataset
from pairs.generator import import_job, sorting
from pairs.generator.import_job import import_trades
from pairs.generator.pairing import PairsWanted
from pairs.generator.trades import TradeColumns
from tests.conftest import Command
from tests.end_to_end.trades import COLUMNS, NASTY_SYMBOLS, SYMBOLS, write_trades
from tests.processes import errors_of

CHOSEN = TradeColumns("ticker", "last", "when", "volume")


def expected_ticks(files: list[Path]) -> list[tuple[str, int, int, int]]:
    """Return what the dataset must hold, computed in another way: all rows in memory, decimals, Python's own sort."""
    rows = [row for file in files for row in csv.DictReader(file.open(newline="", encoding="utf-8"))]
    times = [round(datetime.fromisoformat(row["when"]).timestamp() * 1_000) for row in rows]
    ticks = [
        (
            row["ticker"],
            int(max((Decimal(row["last"]) * 100).quantize(Decimal(1), ROUND_HALF_UP), Decimal(1))),
            int(row["volume"]),
            time - min(times),
        )
        for row, time in zip(rows, times, strict=True)
    ]
    ticks.sort(key=lambda tick: tick[3])
    return [*ticks, (*ticks[-1][:3], (ticks[-1][3] // 1_000 + 1) * 1_000)]


def ticks_of(dataset: Dataset) -> list[tuple[str, int, int, int]]:
    """Read all ticks."""
    table = pa.concat_tables([pq.read_table(file) for file in dataset.tick_files()])
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize(
    "symbols",
    [pytest.param(SYMBOLS, id="ordinary", marks=pytest.mark.slow), pytest.param(NASTY_SYMBOLS, id="nasty")],
)
def test_from_trades_to_a_verdict(tmp_path: Path, pairs_command: Command, symbols: tuple[str, ...]) -> None:
    """Every stage works on an imported dataset, whatever the symbols are called; the verdict is PASSED."""
    files = write_trades(tmp_path, symbols)
    master = ("--master", "local[2]")
    made = pairs_command("import", "first.csv", "second.csv", "-o", "real", *COLUMNS, "--top-pairs", "2", *master)
    assert (made.returncode, errors_of(made.stderr)) == (0, "")
    assert made.stdout.startswith("real: 20,001 ticks of 5 symbols in 20m, from 2 files")
    dataset = Dataset(tmp_path / "real")
    assert ticks_of(dataset) == expected_ticks(files)
    pairs = {frozenset((pair.symbol1, pair.symbol2)) for pair in dataset.correlations()}
    assert pairs == {frozenset(symbols[:2]), frozenset(symbols[2:4])}
    for arguments in (
        ["strategies", "real", "--count", "20"],
        ["translate", "real", "--target", "bare"],
        ["run", "real", "-o", "run", "--target", "bare", "--speed", "max"],
        ["validate", "run", *master],
        ["show", "real"],
    ):
        done = pairs_command(*arguments)
        assert (done.returncode, errors_of(done.stderr)) == (0, ""), arguments
    verdict = json.loads((tmp_path / "run" / "validation.json").read_text())
    assert verdict["verdict"] == "PASSED"
    assert verdict["indicators"]["correct"] > 100
    assert verdict["orders"]["correct"] > 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.csv", "real", "run", "second.csv"]
    for program in (tmp_path / "real" / "apps" / "bare-vectorized").glob("*.py"):
        assert not any(symbol in program.read_text() for symbol in symbols)


def test_the_manifest_of_an_imported_dataset(spark: SparkSession, tmp_path: Path) -> None:
    """Counts, interval and digest as of any dataset; marked as imported; trades by symbol, so that a load is right."""
    files = write_trades(tmp_path)
    with new_dataset(tmp_path / "real", overwrite=False) as building:
        import_trades(spark, files, CHOSEN, PairsWanted((("ALFA", "RARE"),)), building)
    dataset = Dataset(tmp_path / "real")
    manifest = dataset.manifest
    assert (manifest.standard, manifest.nonstandard) == (False, ("imported",))
    assert (manifest.duration_ms, manifest.measurement_interval_ms) == (1_200_000, (300_000, 900_000))
    assert manifest.basis_rate_per_second == pytest.approx(20_001 / 1_200)
    assert sum((manifest.trades_by_symbol or {}).values()) == manifest.counts.ticks == 20_001
    found = check(spark, dataset)
    assert (found.problems, found.digest) == ([], manifest.digest)
    assert [path.name for path in dataset.path.iterdir() if path.name.startswith(".")] == []


def test_files_runs_and_formats_do_not_change_the_content(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same trades as Parquet, in short runs, cut into several files, are the same ticks."""
    files = write_trades(tmp_path, trades=2_000)
    monkeypatch.setattr(sorting, "_ROWS_PER_RUN", 300)
    monkeypatch.setattr(import_job, "_TICKS_PER_FILE", 450)
    for file in files:
        rows = list(csv.DictReader(file.open(newline="")))
        table = pa.table(
            {
                "ticker": [row["ticker"] for row in rows],
                "last": [Decimal(row["last"]) for row in rows],
                "volume": [int(row["volume"]) for row in rows],
                "when": pa.array([datetime.fromisoformat(row["when"]) for row in rows], pa.timestamp("us", "UTC")),
            }
        )
        pq.write_table(table, file.with_suffix(".parquet"), row_group_size=200)
    with new_dataset(tmp_path / "real", overwrite=False) as building:
        parquet = [file.with_suffix(".parquet") for file in files]
        import_trades(spark, parquet, CHOSEN, PairsWanted((("ALFA", "BETA"),)), building)
    dataset = Dataset(tmp_path / "real")
    assert len(dataset.tick_files()) == 5
    assert ticks_of(dataset) == expected_ticks(files)
    assert check(spark, dataset).problems == []
