"""`make bench-import`: the whole import beside Spark's and DuckDB's sort of the same trades.

The import reads, validates, sorts and writes. The others only read Parquet that is known to be valid, and sort it by
time, file and row. All are measured in turns in one run, so that a noisy machine hits all. DuckDB is optional.
"""

import importlib
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from pairs.core.spark import session, warm_up
from pairs.dataset.folder import new_dataset
from pairs.generator.import_job import import_trades
from pairs.generator.pairing import PairsWanted
from pairs.generator.sorting import write_runs
from pairs.generator.trades import TradeColumns

CORES = 2
ROUNDS = 3
FILES = 8
TRADES_PER_FILE = 2_500_000
SYMBOLS = pa.array([f"SYM{number:03d}" for number in range(400)])
START_US = 1_704_205_800_000_000  # 2024-01-02T14:30:00Z
DAY_US = 23_400_000_000
COLUMNS = TradeColumns("sym", "px", "ts", "qty")
LISTED = PairsWanted((("SYM000", "SYM001"),))
ORDER = ("ts", "file", "row")
DUCKDB_SETTINGS = {"threads": CORES, "memory_limit": "1GB"}


def write_trades(folder: Path) -> None:
    """Write the same trades, in random order, as CSV and as Parquet."""
    rng = np.random.default_rng(7)
    for file in range(FILES):
        times_us = START_US + rng.integers(0, DAY_US, TRADES_PER_FILE)
        trades = pa.table(
            {
                "ts": pa.array(times_us * 1_000).cast(pa.timestamp("ns", "UTC")),
                "sym": SYMBOLS.take(pa.array(rng.integers(0, len(SYMBOLS), TRADES_PER_FILE))),
                "px": np.round(rng.uniform(5, 500, TRADES_PER_FILE), 4),
                "qty": rng.integers(1, 1_000, TRADES_PER_FILE),
                "file": np.full(TRADES_PER_FILE, file, np.int32),
                "row": np.arange(TRADES_PER_FILE, dtype=np.int32),
            }
        )
        pa_csv.write_csv(trades.select(["ts", "sym", "px", "qty"]), folder / f"{file}.csv")
        pq.write_table(trades, folder / f"{file}.parquet", row_group_size=500_000)


def import_all(spark: SparkSession, folder: Path, suffix: str) -> None:
    """Import the trades as `pairs import` does."""
    with new_dataset(folder / "dataset", overwrite=True) as dataset:
        import_trades(spark, sorted(folder.glob(f"*.{suffix}")), COLUMNS, LISTED, dataset)


def sort_with_spark(spark: SparkSession, folder: Path) -> None:
    """Sort the trades with Spark and drop the result."""
    spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", True)  # it has no timestamps of nanoseconds
    trades = spark.read.parquet(*map(str, sorted(folder.glob("*.parquet"))))
    ranges = trades.repartitionByRange(2 * CORES, *ORDER).sortWithinPartitions(*ORDER)
    ranges.write.format("noop").mode("overwrite").save()


def sort_with_duckdb(folder: Path) -> None:
    """Sort the trades with DuckDB, out of core, and drop the result."""
    settings = DUCKDB_SETTINGS | {"temp_directory": str(folder / "duckdb")}
    with importlib.import_module("duckdb").connect(config=settings) as connection:
        query = f"SELECT sym, px, qty, ts FROM '{folder}/*.parquet' ORDER BY {', '.join(ORDER)}"  # noqa: S608
        for _ in connection.sql(query).to_arrow_reader(262_144):
            pass


def main() -> None:
    """Measure in turns and print medians and ratios."""
    with tempfile.TemporaryDirectory() as name, session("bench-import", f"local[{CORES}]") as spark:
        folder = Path(name)
        write_trades(folder)
        warm_up(spark, write_runs)
        measured: dict[str, Callable[[], None]] = {
            "import of Parquet, whole": lambda: import_all(spark, folder, "parquet"),
            "import of CSV, whole": lambda: import_all(spark, folder, "csv"),
            "Spark, sort only": lambda: sort_with_spark(spark, folder),
        }
        if find_spec("duckdb"):
            measured["DuckDB, sort only"] = lambda: sort_with_duckdb(folder)
        seconds: dict[str, list[float]] = {label: [] for label in measured}
        for _ in range(ROUNDS):
            for label, function in measured.items():
                started = time.perf_counter()
                function()
                seconds[label].append(time.perf_counter() - started)
    report(seconds)


def report(seconds: dict[str, list[float]]) -> None:
    """Print the median of each and its ratio to the first."""
    medians = {label: statistics.median(values) for label, values in seconds.items()}
    first = next(iter(medians.values()))
    title = f"{FILES * TRADES_PER_FILE:,} trades, {CORES} cores, median of {ROUNDS} rounds"
    table = Table("", "s", "ratio", "all rounds, s", box=None, pad_edge=False, title=title, title_justify="left")
    for label, median in medians.items():
        rounds = ", ".join(f"{value:.1f}" for value in seconds[label])
        table.add_row(label, f"{median:.1f}", f"{median / first:.2f}", rounds)
    Console().print(table)


if __name__ == "__main__":
    main()
