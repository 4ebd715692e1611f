"""`make bench-engine`: how many ticks a second each target and plan takes unpaced, at three scale factors.

Every figure is of a run of its own, on two cores, between its first and its last word of progress, so without the start
of Spark; every run's answers are validated, and one that fails ends the bench.
"""

import tempfile
from pathlib import Path

from pairs.config.load import RunSettings
from pairs.stages.execution import job_for, run_job
from rich.console import Console
from rich.table import Table

from pairs.config.workload import complete
from pairs.core.spark import session
from pairs.dataset.folder import Dataset
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run, new_run
from pairs.validator.expected import compute
from pairs.validator.validation import validate
from tests.bench.validate import make_dataset

MASTER = "local[2]"
TICKS = {("pyspark", "shared"): 20_000_000, ("pyspark", "direct"): 1_000_000, ("bare", "shared"): 12_000_000}
SCALE_FACTORS = (1, 10, 100)


def market(folder: Path, scale_factor: int, ticks: int) -> Dataset:
    """Generate a market of about so many ticks, with its expected answers."""
    path = folder / f"{scale_factor}-{ticks}"
    if not path.exists():
        markets = -(-scale_factor // 10)
        duration = ticks * 1000 // (6_250 * markets)
        with session("bench-engine", MASTER) as spark:
            dataset = make_dataset(spark, complete({"scale_factor": scale_factor, "duration": duration}), path)
            compute(spark, dataset)
    return Dataset(path)


def speed(folder: Path, dataset: Dataset, name: str, plan: str) -> float:
    """Run a program unpaced and check its answers; return its ticks per second."""
    run: Run = new_run(folder / f"run-{name}-{plan}-{dataset.path.name}", overwrite=False)
    engine = {"master": MASTER} if name == "pyspark" else {}
    took = run_job(run, job_for(dataset, RunSettings(name, plan, "max", 1, MASTER, 60_000, 120_000, (), engine)))
    aliases = [one.alias for one in read_strategies(dataset.strategies_file).strategies]
    if not validate(dataset, aliases, run.path).passed or took.ticks_per_second is None:
        raise SystemExit(f"{run.path}: the answers are not right")
    return took.ticks_per_second


def main() -> None:
    """Measure all, scale factor by scale factor, and print speeds and ratios."""
    headings = ("ticks/s, unpaced", *(f"SF {one}" for one in SCALE_FACTORS))
    speeds: dict[tuple[str, str], list[float]] = {key: [] for key in TICKS}
    with tempfile.TemporaryDirectory() as name:
        for scale_factor in SCALE_FACTORS:
            for (target, plan), ticks in TICKS.items():
                dataset = market(Path(name), scale_factor, ticks)
                speeds[target, plan].append(speed(Path(name), dataset, target, plan))
    table = Table(*headings, box=None, pad_edge=False)
    for (target, plan), found in speeds.items():
        table.add_row(f"{target}, {plan}", *(f"{one:,.0f}" for one in found))
    shared, direct, bare = speeds.values()
    table.add_row("shared to direct", *(f"{one / other:.1f}" for one, other in zip(shared, direct, strict=True)))
    table.add_row("shared to bare", *(f"{one / other:.2f}" for one, other in zip(shared, bare, strict=True)))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
