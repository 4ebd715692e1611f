"""`make bench-validate`: the expected answers on Spark at three scale factors, and the reference beside it."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from pairs.config.profile import Profile
from pairs.config.workload import Workload, complete
from pairs.core.spark import session, warm_up
from pairs.dataset.folder import Dataset, new_dataset
from pairs.dataset.reader import read_ticks
from pairs.generator import job
from pairs.generator.query_generator import generate_strategies
from pairs.generator.ticks import TickSource
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies, write_strategies
from pairs.model.tuples import StockTick
from pairs.validator.expected import compute
from pairs.validator.panes import reduce_part
from pairs.validator.state_machine import StateMachine
from pairs.validator.validation import validate

CORES = 2
ROUNDS = 5
REFERENCE_TICKS = 400_000
STANDARD = complete({})
TENFOLD = complete({"scale_factor": 10})  # the same ticks for ten times the strategies
WIDE = complete({"scale_factor": 100, "duration": 720_000})  # as many ticks, ten times the symbols
NAMES = {STANDARD: "standard SF 1", TENFOLD: "standard SF 10", WIDE: "SF 100 for 12 min"}


@dataclass(frozen=True)
class Measured:
    """A measurement."""

    ticks: int
    answers: int
    seconds: float
    worker_peak_bytes: int


def make_dataset(spark: SparkSession, profile: Profile, path: Path) -> Dataset:
    """Generate a dataset with its strategies."""
    workload = profile.workload
    source = TickSource(workload)
    with new_dataset(path, overwrite=False) as building:
        ranges = job.cut_into_files(source.timeline.ticks, None)
        job.generate(spark, source, building, profile, "parquet", ranges)
        strategies = generate_strategies(building.correlations(), workload.strategies, workload.seed, workload.duration)
        write_strategies(building.strategies_file, strategies)
    return Dataset(path)


def measure(spark: SparkSession, dataset: Dataset) -> Measured:
    """Time the expected answers, as `pairs expected` computes them."""
    started = time.perf_counter()
    found = compute(spark, dataset)
    seconds = time.perf_counter() - started
    return Measured(found.ticks, sum(found.answers.values()), seconds, found.worker_peak_bytes)


def ticks_of(dataset: Dataset) -> Iterator[StockTick]:
    """Yield the ticks of a dataset."""
    for file in dataset.tick_files():
        for batch in read_ticks(file):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield StockTick(*row)


def reference_speed(strategies: StrategySet, dataset: Dataset) -> float:
    """Return the ticks per second of the reference state machine."""
    machine = StateMachine(strategies)
    ticks = list(islice(ticks_of(dataset), REFERENCE_TICKS))
    started = time.perf_counter()
    for tick in ticks:
        machine.on_tick(tick)
    return REFERENCE_TICKS / (time.perf_counter() - started)


def comparison_seconds(dataset: Dataset) -> float:
    """Return the seconds it takes to compare the expected answers with themselves."""
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    started = time.perf_counter()
    if not validate(dataset, aliases, dataset.expected_folder).passed:
        raise SystemExit("the expected answers differ from themselves")
    return time.perf_counter() - started


def main() -> None:
    """Measure in turns and print medians and ratios."""
    with tempfile.TemporaryDirectory() as name, session("bench-validate", f"local[{CORES}]") as spark:
        warm_up(spark, reduce_part)
        datasets = {
            workload: make_dataset(spark, Profile("bench", workload), Path(name) / str(number))
            for number, workload in enumerate(NAMES)
        }
        for dataset in datasets.values():
            compute(spark, dataset)
        rounds = [{workload: measure(spark, dataset) for workload, dataset in datasets.items()} for _ in range(ROUNDS)]
        report(datasets, rounds)


def report(datasets: dict[Workload, Dataset], rounds: list[dict[Workload, Measured]]) -> None:
    """Print the medians of all rounds and their ratios."""
    title = f"expected answers on {CORES} cores, median of {ROUNDS} rounds"
    headings = (
        "",
        "ticks",
        "answers",
        "s",
        "to SF 1",
        "million ticks/s",
        "largest worker",
        "reference, ticks/s",
        "compare, s",
    )
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if not heading else "right")
    base = statistics.median(measured[STANDARD].seconds for measured in rounds)
    for workload, dataset in datasets.items():
        seconds = statistics.median(measured[workload].seconds for measured in rounds)
        last = rounds[-1][workload]
        table.add_row(
            NAMES[workload],
            f"{last.ticks:,}",
            f"{last.answers:,}",
            f"{seconds:.2f}",
            f"{seconds / base:.2f}",
            f"{last.ticks / seconds / 1e6:.1f}",
            decimal(max(measured[workload].worker_peak_bytes for measured in rounds)),
            f"{reference_speed(read_strategies(dataset.strategies_file), dataset):,.0f}",
            f"{comparison_seconds(dataset):.2f}",
        )
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
