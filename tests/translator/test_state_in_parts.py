"""A state in parts: whatever fails and is run again, in the same process or in another, the answers are the same."""

import copy
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from pairs.dataset.folder import Dataset
from pairs.harness.driver import read_pieces
from pairs.translator import targets
from pairs.translator.translate import translate
from pairs.transport.tick_records import Records
from tests.markets import CALM, GOLDEN, golden_market


class Store:
    """A state store, as far as the program knows it: named values and maps of values."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Any, ...], Any] = {}

    def getValueState(self, name: str, _: str) -> "State":  # noqa: N802 - Spark's name
        """Return a value."""
        return State(self, name)

    def getMapState(self, name: str, *_: str) -> "State":  # noqa: N802 - Spark's name
        """Return a map."""
        return State(self, name)


class State:
    """A value or a map in a store."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def getValue(self, key: Any) -> Any:  # noqa: N802 - Spark's name
        """Read a value of the map."""
        return self._store.kept.get((self._name, key))

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802 - Spark's name
        """Write a value of the map."""
        self._store.kept[self._name, key] = value

    def get(self) -> Any:
        """Read the value."""
        return self.getValue(None)

    def update(self, value: Any) -> None:
        """Write the value."""
        self.updateValue(None, value)


@pytest.fixture(params=["golden", "calm"])
def market(request: pytest.FixtureRequest) -> str:
    """Name a golden dataset."""
    return str(request.param)


@pytest.fixture
def app(market: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Translate the golden strategies, and load the program."""
    folder = tmp_path / "app"
    target, plan = targets.find("pyspark", "vectorized")
    made = golden_market(tmp_path / "market", source={"golden": GOLDEN, "calm": CALM}[market])
    translate(made / "strategies.xml", target, plan, folder)
    for name in ("trading", "session", "streaming", "progress", "kafka", "blocks", "merging"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(folder))
    module = ModuleType("app")
    module.__file__ = str(folder / "app.py")
    exec(compile((folder / "app.py").read_text(), module.__file__, "exec"), module.__dict__)  # noqa: S102
    monkeypatch.setattr(module.SparkFiles, "get", lambda name: str(folder / name))
    return module


def answers_to(app: ModuleType, store: Store, records: Records, first: int) -> list[pd.DataFrame]:
    """Let the program process a batch, as a task of its own."""
    processor = app.AnswerWithStateInParts([0], [0])
    processor.init(store)
    blocks = pd.DataFrame({"seq": [first], "ticks": [records.tobytes()]})
    return list(processor.handleInputRows((0,), iter([blocks]), None))


@pytest.mark.parametrize("seed", range(3))
def test_batches_that_fail_and_processes_that_die(app: ModuleType, market: str, tmp_path: Path, seed: int) -> None:
    """A third of the batches fail after they were computed, and are run again; some processes forget all they kept."""
    records = np.concatenate(list(read_pieces(Dataset(tmp_path / "market"))))
    dice, store, trading = random.Random(seed), Store(), sys.modules["trading"]  # noqa: S311
    [undisturbed] = answers_to(app, Store(), records, 0)
    trading._kept.clear()
    answers, first = [], 0
    while first < len(records):
        end = min(first + dice.randrange(1, 700), len(records))
        before = copy.copy(store.kept)
        found = answers_to(app, store, records[first:end], first)
        if dice.random() < 0.4:
            trading._kept.clear()
        if dice.random() < 0.35:  # the task fails: nothing of it is kept
            store.kept = before
            continue
        answers += found
        first = end
    assert len(undisturbed) == {"golden": 1_499 + 130, "calm": 3_379 + 390}[market]
    pd.testing.assert_frame_equal(pd.concat(answers, ignore_index=True), undisturbed, check_dtype=False)


@pytest.mark.parametrize("market", ["golden"], indirect=True)
def test_every_shard_has_a_partition_of_its_own(app: ModuleType, spark: SparkSession) -> None:
    """Spark sends the keys of shards to as many partitions, and they are the same each time a program starts."""
    for shards in (1, 2, 3, 5, 16):
        keys = app.keys_of_shards(spark, shards)
        frame = spark.createDataFrame([(key,) for key in keys], "shard INT").repartition(shards, "shard")
        assert len({row[0] for row in frame.selectExpr("spark_partition_id()").collect()}) == shards
        assert app.keys_of_shards(spark, shards) == keys
