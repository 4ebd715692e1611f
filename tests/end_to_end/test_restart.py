"""A program that is killed goes on from its checkpoint, and in the end every answer is there exactly once."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pairs.dataset.folder import Dataset
from pairs.harness.driver import read_pieces
from pairs.model.strategy_xml import read_strategies
from pairs.translator import targets
from pairs.translator.target import Launch, Target
from pairs.translator.translate import translate
from pairs.transport.ticklog import TickLogWriter
from pairs.transport.ticklog_file import create_log
from pairs.validator.expected import compute
from pairs.validator.validation import validate
from tests.markets import golden_market
from tests.processes import wait_until

pytestmark = pytest.mark.process


def batches(answers: Path) -> int:
    """Count the batches that have arrived."""
    return len(list((answers / "orders").glob("batch-*")))


def killed_and_started_again(launch: Launch, target: Target, answers: Path, after: int) -> None:
    """Start a program, kill it and all its processes after some batches, and let it run to its end then."""
    command = target.command(launch)
    running = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    wait_until(lambda: batches(answers) >= after or running.poll() is not None)
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


CASES = [
    ("vectorized", {"state": "parts"}),
    pytest.param("vectorized", {"state": "whole"}, marks=pytest.mark.slow),
    pytest.param("keyed", {}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("plan", "state"), CASES)
def test_a_killed_program_loses_nothing(tmp_path: Path, spark: SparkSession, plan: str, state: dict[str, str]) -> None:
    """Offsets and state are Spark's, batches are numbered, and the sink keeps each once."""
    dataset = Dataset(golden_market(tmp_path / "market"))
    compute(spark, dataset)
    create_log(tmp_path / "log")
    with TickLogWriter(tmp_path / "log") as log:
        for records in read_pieces(dataset):
            log.append(records)
    target, _ = targets.find("pyspark", plan)
    translate(dataset.strategies_file, target, plan, tmp_path / "app")
    settings = {"master": "local[2]", "max-ticks-per-batch": "1500", "shards": "2", **state}
    answers = tmp_path / "answers"
    launch = Launch(
        tmp_path / "app",
        str(tmp_path / "log"),
        str(answers),
        tmp_path / "state",
        tmp_path / "progress",
        settings,
    )
    killed_and_started_again(launch, target, answers, after=6)
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    found = validate(dataset, aliases, answers)
    assert found.passed
    assert found.streams["indicators"].counts.correct == 1499
