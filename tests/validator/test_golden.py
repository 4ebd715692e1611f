"""Both implementations give the answers of the golden dataset, to the last bit."""

from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pairs.dataset.folder import Dataset
from pairs.model.tuples import Indicator, MarketOrder
from pairs.validator.expected import compute
from pairs.validator.state_machine import Answer, replay_by_tick
from tests.validator import golden
from tests.validator.in_process import replay_in_process


def check(answers: list[Answer]) -> None:
    """Compare answers, in the order of time and strategies, with the golden answers."""
    assert [answer for answer in answers if isinstance(answer, Indicator)] == golden.indicators()
    assert [answer for answer in answers if isinstance(answer, MarketOrder)] == golden.orders()


def test_golden_answers_are_all_there() -> None:
    """The files hold what they are known to hold."""
    assert len(golden.indicators()) == 1_499
    assert len(golden.orders()) == 130


def test_the_reference_gives_the_golden_answers() -> None:
    """One tick at a time."""
    check(list(replay_by_tick(golden.strategies(), golden.ticks())))


def test_the_replay_gives_the_golden_answers() -> None:
    """The ticks in a few pieces."""
    check(replay_in_process(golden.strategies(), golden.ticks(), [1, 777, 12_345]))


def test_the_replay_on_spark_gives_the_golden_answers(spark: SparkSession, tmp_path: Path) -> None:
    """From a dataset made by hand, without dataset.json, to files of expected answers, strategy after strategy."""
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    dataset.tick_file(0, "csv").write_bytes((golden.GOLDEN / "ticks.csv").read_bytes())
    dataset.strategies_file.write_bytes((golden.GOLDEN / "strategies.xml").read_bytes())
    computed = compute(spark, dataset)
    assert (computed.ticks, computed.answers) == (26_669, {"indicators": 1_499, "orders": 130})
    indicators = [Indicator(**row) for row in pq.read_table(dataset.expected_file("indicators")).to_pylist()]
    orders = [MarketOrder(**row) for row in pq.read_table(dataset.expected_file("orders")).to_pylist()]
    assert indicators == sorted(golden.indicators(), key=lambda answer: answer.strategy)
    assert orders == sorted(golden.orders(), key=lambda answer: answer.strategy)
