"""`make bench`: the effect of each design choice: the same market, played in real time to each variant in turn.

The answers of every run are validated; a failure ends the bench. Latency is that of the indicators in the second
half of the run, of which there are many; CPU is that of the engine, for a million ticks.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from pairs.config.profile import load_profile
from pairs.config.run_settings import load_run
from pairs.core.spark import session
from pairs.dataset.folder import Dataset
from pairs.measure.recordings import read_run
from pairs.measure.resources import cost
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import INDICATORS
from pairs.stages.run import run_program, with_master
from pairs.validator.expected import compute
from pairs.validator.validation import validate
from tests.bench.validate import make_dataset

MASTER = "local[*]"


@dataclass(frozen=True)
class Market:
    """A market to play, and what to play it to."""

    name: str
    profile: str
    flags: dict[str, str]
    variants: dict[str, tuple[str, str, dict[str, str]]]  # by name: target, plan and settings


def vectorized(**settings: str) -> tuple[str, str, dict[str, str]]:
    """Return the plan vectorized with other settings; dots in their names are written as `__`."""
    return "pyspark", "vectorized", {name.replace("__", "."): value for name, value in settings.items()}


SMALL = Market(
    "quick SF 1, 40 s: 5,000 to 7,500 ticks/s, 25 strategies",
    "quick",
    {"duration": "40m"},
    {
        "vectorized, as it comes": vectorized(),
        "JVM and Python talk over TCP": vectorized(spark__python__unix__domain__socket__enabled="false"),
        "Java's thorough compiler": vectorized(spark__driver__defaultJavaOptions="-XX:+UseSerialGC"),
        "state in parts": vectorized(state="parts"),
        "keyed": ("pyspark", "keyed", {}),
        "native": ("pyspark", "native", {}),
        "native, real-time mode": ("pyspark", "native", {"mode": "realtime"}),
        "realtime": ("pyspark", "realtime", {}),
        "bare": ("bare", "vectorized", {}),
    },
)
LARGE = Market(
    "standard SF 1000, 90 s: 500,000 to 750,000 ticks/s, 25,000 strategies",
    "standard",
    {"scale_factor": "1000", "duration": "90s"},
    {
        "vectorized, as it comes": vectorized(),
        "Java's heap as it comes": vectorized(
            spark__driver__defaultJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        ),
        "all blocks of a batch at once": vectorized(spark__sql__execution__arrow__maxBytesPerBatch="256m"),
        "state as a whole": vectorized(state="whole"),
    },
)


def play(folder: Path, dataset: Dataset, variant: tuple[str, str, dict[str, str]]) -> list[float]:
    """Play a market in real time and check the answers; return p50, p99, a batch's median, and CPU."""
    target, plan, engine = variant
    flags = {"target": target, "plan": plan, "settings": [f"{name}={value}" for name, value in engine.items()]}
    run = run_program(dataset, with_master(load_run("local", flags), MASTER), folder)
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    if not validate(dataset, aliases, run.path).passed:
        raise SystemExit(f"{run.path}: the answers are not correct")
    recorded = read_run(run)
    timed = recorded.timed(INDICATORS)
    assert timed is not None
    latencies = timed.latency_s[timed.tick_ts > recorded.manifest.duration_ms / 2] * 1000
    batches = [batch.total_ms for batch in recorded.batches[len(recorded.batches) // 2 :]]
    median = float(np.median(batches)) if batches else float("nan")
    return [*np.quantile(latencies, [0.5, 0.99]).tolist(), median, cost(recorded) or float("nan")]


def compare(folder: Path, market: Market) -> Table:
    """Play a market to all variants; return their figures, and ratios to the first."""
    profile = load_profile(market.profile, market.flags)
    with session("bench", MASTER) as spark:
        dataset = make_dataset(spark, profile, folder / "market")
        compute(spark, dataset)
    table = Table(title=market.name, title_justify="left", box=None, pad_edge=False)
    for heading in ("variant", "p50, ms", "p99, ms", "batch, ms", "CPU s/M ticks", "p99 to first", "CPU to first"):
        table.add_column(heading, justify="left" if heading == "variant" else "right")
    first: list[float] = []
    for number, (name, variant) in enumerate(track(market.variants.items(), market.name)):
        found = play(folder / f"run-{number}", dataset, variant)
        first = first or found
        ratios = (f"{found[place] / first[place]:.2f}" for place in (1, 3))
        table.add_row(name, *("-" if np.isnan(figure) else f"{figure:,.1f}" for figure in found), *ratios)
    return table


def main() -> None:
    """Compare on a small market and on a large market."""
    for market in (SMALL, LARGE):
        with tempfile.TemporaryDirectory() as name:
            Console(width=140).print(compare(Path(name), market))


if __name__ == "__main__":
    main()
