"""`make bench-generate`: the generator on Spark beside a plain loop that draws and writes the same columns.

The plain loop uses numpy's own samplers, one thread, no slices, no correlation, no digest, and the same Parquet
settings. Both are measured in turns in one run, so that a noisy machine affects both.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from pairs.config.profile import Profile
from pairs.config.workload import Workload, complete
from pairs.core.spark import session, warm_up
from pairs.dataset.folder import new_dataset
from pairs.dataset.formats.parquet import Parquet
from pairs.generator import job
from pairs.generator.job import write_file
from pairs.generator.ticks import TickSource
from pairs.model.tuples import STOCK_TICK_CODED

CORES = 2
ROUNDS = 5
BARE_TICKS = 12_000_000
BLOCK = 1_000_000
STANDARD = complete({})
WIDE = complete({"scale_factor": 100, "duration": 720_000})  # as many ticks, over ten times the symbols


@dataclass(frozen=True)
class Measured:
    """A measurement."""

    ticks: int
    seconds: float
    worker_peak_bytes: int = 0

    @property
    def speed(self) -> float:
        """Ticks per second."""
        return self.ticks / self.seconds


def bare_blocks(total: int, symbols: int, rate_per_ms: float) -> Iterator[pa.Table]:
    """Draw ticks the plain way: exponential gaps, a random walk for each symbol."""
    random = np.random.default_rng(1)
    names = pa.array(TickSource(STANDARD).market.symbols)
    step = STANDARD.volatility * np.sqrt(symbols / rate_per_ms / 1000)
    now, logs = 0.0, np.log(random.uniform(3_000, 16_000, symbols))
    for begin in range(0, total, BLOCK):
        times = now + np.cumsum(random.exponential(1 / rate_per_ms, BLOCK))
        walks = logs + np.cumsum(step * random.standard_normal((BLOCK // symbols, symbols)), axis=0)
        now, logs = times[-1], walks[-1]
        prices = np.maximum(np.rint(np.exp(walks)), 1).astype(np.int32).reshape(-1)
        sizes = (10 * random.integers(10, 101, BLOCK)).astype(np.int32)
        codes = (np.arange(begin, begin + BLOCK) % symbols).astype(np.int32)
        named = pa.DictionaryArray.from_arrays(codes, names)
        yield pa.table([named, prices, sizes, times.astype(np.int64)], schema=STOCK_TICK_CODED)


def measure_bare(folder: Path) -> Measured:
    """Time the bare loop on one thread."""
    started = time.perf_counter()
    with Parquet().writer(folder / "bare.parquet") as target:
        for block in bare_blocks(BARE_TICKS, STANDARD.symbols, float(STANDARD.basis_rate) / 1000):
            target.write(block)
    return Measured(BARE_TICKS, time.perf_counter() - started)


def measure_kit(spark: SparkSession, workload: Workload, folder: Path) -> Measured:
    """Time the generator on Spark, as `pairs generate` runs it."""
    source = TickSource(workload)
    ranges = job.cut_into_files(source.timeline.ticks, None)
    started = time.perf_counter()
    with new_dataset(folder / "market", overwrite=True) as dataset:
        written = job.generate(spark, source, dataset, Profile("bench", workload), "parquet", ranges)
    seconds = time.perf_counter() - started
    return Measured(source.timeline.ticks, seconds, max(file.worker_peak_bytes for file in written))


def main() -> None:
    """Measure in turns and print medians and ratios."""
    bare, standard, wide = [], [], []
    with tempfile.TemporaryDirectory() as name, session("bench-generate", f"local[{CORES}]") as spark:
        warm_up(spark, write_file)
        for _ in range(ROUNDS):
            bare.append(measure_bare(Path(name)))
            standard.append(measure_kit(spark, STANDARD, Path(name)))
            wide.append(measure_kit(spark, WIDE, Path(name)))
    report(bare, standard, wide)


def report(bare: list[Measured], standard: list[Measured], wide: list[Measured]) -> None:
    """Print the medians of all rounds and their ratios."""
    speeds = [statistics.median(measured.speed for measured in group) for group in (bare, standard, wide)]
    table = Table(box=None, pad_edge=False, title=f"million ticks/s, median of {ROUNDS} rounds", title_justify="left")
    for heading in ("", "in all", "per core", "to bare", "to standard SF 1", "largest worker"):
        table.add_column(heading, justify="left" if not heading else "right")
    names = ("bare loop, 1 thread", f"standard SF 1, {CORES} cores", f"SF 100 for 12 min, {CORES} cores")
    for name, speed, group, cores in zip(names, speeds, (bare, standard, wide), (1, CORES, CORES), strict=True):
        peak = max(measured.worker_peak_bytes for measured in group)
        table.add_row(
            name,
            f"{speed / 1e6:.2f}",
            f"{speed / cores / 1e6:.2f}",
            f"{speed / cores / speeds[0]:.2f}",
            f"{speed / speeds[1]:.2f}" if cores > 1 else "",
            decimal(peak) if peak else "",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
