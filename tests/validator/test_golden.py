"""Both implementations give the answers of the golden datasets, to the last bit."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pairs.dataset.folder import Dataset
from pairs.model.tuples import Indicator, MarketOrder
from pairs.validator.expected import compute, current_manifest
from pairs.validator.state_machine import Answer, replay_by_tick
from tests.validator.golden import DATASETS, GoldenDataset
from tests.validator.in_process import knife_edges_in_process, reference_knife_edges, replay_in_process

COUNTS = {"golden": (26_669, 1_499, 130), "calm": (11_908, 3_379, 390)}
KNIFE_EDGES = {
    "golden": {},
    "calm": {
        "st_00001": 59,
        "st_00004": 9,
        "st_00009": 49,
        "st_00011": 9,
        "st_00012": 79,
        "st_00016": 59,
        "st_00021": 59,
        "st_00022": 9,
        "st_00030": 19,
    },
}


@pytest.fixture(params=DATASETS)
def name(request: pytest.FixtureRequest) -> str:
    """Name a golden dataset."""
    return str(request.param)


@pytest.fixture
def golden(name: str) -> GoldenDataset:
    """Return the golden dataset."""
    return DATASETS[name]


def check(answers: list[Answer], golden: GoldenDataset) -> None:
    """Compare answers, in the order of time and strategies, with the golden answers."""
    assert [answer for answer in answers if isinstance(answer, Indicator)] == golden.indicators()
    assert [answer for answer in answers if isinstance(answer, MarketOrder)] == golden.orders()


def test_golden_answers_are_all_there(name: str, golden: GoldenDataset) -> None:
    """The files hold what they are known to hold."""
    assert (len(golden.ticks()), len(golden.indicators()), len(golden.orders())) == COUNTS[name]


def test_the_reference_gives_the_golden_answers(golden: GoldenDataset) -> None:
    """One tick at a time."""
    check(list(replay_by_tick(golden.strategies(), golden.ticks())), golden)


def test_the_replay_gives_the_golden_answers(golden: GoldenDataset) -> None:
    """The ticks in a few pieces."""
    check(replay_in_process(golden.strategies(), golden.ticks(), [1, 777, 11_345]), golden)


def test_both_count_the_same_knife_edges(name: str, golden: GoldenDataset) -> None:
    """Where prices stand still, bands collapse onto the ratio."""
    assert reference_knife_edges(golden.strategies(), golden.ticks()) == KNIFE_EDGES[name]
    assert knife_edges_in_process(golden.strategies(), golden.ticks(), [1, 777, 11_345]) == KNIFE_EDGES[name]


def test_the_replay_on_spark_gives_the_golden_answers(
    spark: SparkSession, tmp_path: Path, name: str, golden: GoldenDataset
) -> None:
    """From a dataset made by hand, without dataset.json, to files of expected answers, strategy after strategy."""
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    dataset.tick_file(0, "csv").write_bytes((golden.folder / "ticks.csv").read_bytes())
    dataset.strategies_file.write_bytes((golden.folder / "strategies.xml").read_bytes())
    computed, manifest = compute(spark, dataset), current_manifest(dataset)
    assert (computed.ticks, *computed.answers.values()) == COUNTS[name]
    assert manifest is not None
    assert manifest.knife_edges == computed.knife_edges == KNIFE_EDGES[name]
    indicators = [Indicator(**row) for row in pq.read_table(dataset.expected_file("indicators")).to_pylist()]
    orders = [MarketOrder(**row) for row in pq.read_table(dataset.expected_file("orders")).to_pylist()]
    assert indicators == sorted(golden.indicators(), key=lambda answer: answer.strategy)
    assert orders == sorted(golden.orders(), key=lambda answer: answer.strategy)
