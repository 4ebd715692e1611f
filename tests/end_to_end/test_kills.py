"""Killed at any moment, the engine recovers under every plan: nothing is missing, and what comes again is counted."""

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pairs.cli import app as cli
from pairs.dataset.folder import Dataset
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run
from pairs.stages.bench import score
from pairs.validator.expected import compute
from tests.markets import golden_market
from tests.processes import Command

CASES = {
    "vectorized": ["--plan", "vectorized", "--set", "state=whole"],
    "vectorized, state in parts": ["--plan", "vectorized", "--set", "state=parts"],
    "keyed": ["--plan", "keyed"],
    "native": ["--plan", "native"],
    "native, real-time mode": ["--plan", "native", "--set", "mode=realtime", "--set", "batch-seconds=5"],
    "realtime": ["--plan", "realtime"],
    "realtime, written through": ["--plan", "realtime", "--set", "write-state=through", "--set", "shards=2"],
}
SPEEDS = {
    "unpaced": ["--speed", "max", "--set", "max-ticks-per-batch=300"],
    "paced": ["--speed", "10"],
}


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Make the golden market, with its expected answers."""
    dataset = Dataset(golden_market(tmp_path_factory.mktemp("market") / "golden"))
    compute(spark, dataset)
    return dataset.path


def kills_ms(dataset: Path, dice: random.Random) -> list[int]:
    """Choose when to kill: at any moment, twice in a row, and right when a window closes."""
    periods = [strategy.period_ms for strategy in read_strategies(Dataset(dataset).strategies_file).strategies]
    anywhere, twice = dice.randrange(50_000, 850_000), dice.randrange(50_000, 850_000)
    period = dice.choice(periods)
    return sorted([anywhere, twice, twice + 1, dice.randrange(1, 800_000 // period) * period])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("case", CASES)
def test_killed_at_random(
    market: Path, case: str, speed: str, tmp_path: Path, pairs_command: Command, random_seed: int
) -> None:
    """Four times each, at moments drawn from the seed."""
    kills = kills_ms(market, random.Random(random_seed))  # noqa: S311
    faults = [word for kill in kills for word in ("--fault", f"kill@{kill}ms")]
    run = tmp_path / "run"
    done = pairs_command("run", str(market), "-o", str(run), *CASES[case], *SPEEDS[speed], *faults)
    assert done.returncode == 0, (kills, done.stderr)
    assert cli.run(["validate", str(run)]) == 0, kills
    assert [fault.kind for fault in Run(run).manifest.faults] == ["kill"] * len(kills)
    recovery = score(Run(run)).recovery
    assert recovery is not None
    repeated = sum(Run(run).repeated_answers().values())  # of a batch delivered right before a kill
    assert recovery.kind == ("rollback" if repeated else "precise"), kills
