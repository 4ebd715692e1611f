"""`make bench-engine`: the unpaced throughput of each target and plan at three scale factors.

Every figure comes from a separate run on two cores, between the first and the last progress of the engine, so without
the start of Spark. The answers of every run are validated; a failure ends the bench.
"""

import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pairs.config.profile import Profile
from pairs.config.run_settings import load_run
from pairs.config.workload import complete
from pairs.core.spark import session
from pairs.dataset.folder import Dataset
from pairs.model.strategy_xml import read_strategies
from pairs.stages.run import run_program, with_master
from pairs.validator.expected import compute
from pairs.validator.validation import validate
from tests.bench.validate import make_dataset

MASTER = "local[2]"
TICKS = {
    ("pyspark", "vectorized"): 20_000_000,
    ("pyspark", "keyed"): 1_000_000,
    ("pyspark", "native"): 5_000_000,
    ("pyspark", "realtime"): 12_000_000,
    ("bare", "vectorized"): 12_000_000,
}
SCALE_FACTORS = (1, 10, 100)


def market(folder: Path, scale_factor: int, ticks: int) -> Dataset:
    """Generate a market of about so many ticks, with its expected answers."""
    path = folder / f"{scale_factor}-{ticks}"
    if not path.exists():
        markets = -(-scale_factor // 10)
        duration = ticks * 1000 // (6_250 * markets)
        workload = complete({"scale_factor": scale_factor, "duration": duration})
        with session("bench-engine", MASTER) as spark:
            dataset = make_dataset(spark, Profile("bench", workload), path)
            compute(spark, dataset)
    return Dataset(path)


def throughput(folder: Path, dataset: Dataset, target: str, plan: str) -> float:
    """Run a program unpaced and check its answers; return its ticks per second."""
    settings = with_master(load_run("local", {"target": target, "plan": plan, "speed": "max"}), MASTER)
    run = run_program(dataset, settings, folder / f"run-{target}-{plan}-{dataset.path.name}")
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    rate = run.manifest.ticks_per_second
    if rate is None or not validate(dataset, aliases, run.path).passed:
        raise SystemExit(f"{run.path}: the answers are not correct")
    return rate


def main() -> None:
    """Measure all, scale factor by scale factor, and print rates and ratios."""
    headings = ("ticks/s, unpaced", *(f"SF {factor}" for factor in SCALE_FACTORS))
    rates: dict[tuple[str, str], list[float]] = {key: [] for key in TICKS}
    with tempfile.TemporaryDirectory() as name:
        for scale_factor in SCALE_FACTORS:
            for (target, plan), ticks in TICKS.items():
                dataset = market(Path(name), scale_factor, ticks)
                rates[target, plan].append(throughput(Path(name), dataset, target, plan))
    table = Table(*headings, box=None, pad_edge=False)
    for (target, plan), found in rates.items():
        table.add_row(f"{target}, {plan}", *(f"{rate:,.0f}" for rate in found))
    vectorized, keyed, bare = rates.values()
    table.add_row(
        "vectorized to keyed", *(f"{rate / other:.1f}" for rate, other in zip(vectorized, keyed, strict=True))
    )
    table.add_row("vectorized to bare", *(f"{rate / other:.2f}" for rate, other in zip(vectorized, bare, strict=True)))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
