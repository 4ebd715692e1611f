"""Tests of the way from tick files to the answers of a shard, in this process, with every buffer made tiny."""

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from pairs.dataset.formats import parquet as tick_parquet
from pairs.dataset.reader import parts_of
from pairs.model.tuples import Indicator, MarketOrder
from pairs.validator import panes, shards
from pairs.validator.panes import Clock, PartTask, read_table, reduce_part
from pairs.validator.shards import EXPECTED, ShardTask, evaluate_shard
from pairs.validator.state_machine import Answer
from tests.validator.in_process import in_order, reference, reference_knife_edges
from tests.validator.markets import SILENT, WATCHED, random_walk, write_market


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("tiny", [1, 50, 1_000_000])
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_buffers_of_any_size_give_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, tiny: int, seed: int
) -> None:
    """Batches of rows, of panes and of answers do not change the result, nor does the end of a shard."""
    for module, name in (
        (tick_parquet, "_ROWS_AT_A_TIME"),
        (tick_parquet, "_ROWS_OF_A_PART"),
        (panes, "_PANES_PER_BATCH"),
        (shards, "_ROWS_PER_PORTION"),
    ):
        monkeypatch.setattr(module, name, tiny)
    market = random_walk(seed)
    every, close = market.strategies.strategies, market.strategies.market_close_ms
    dataset = write_market(tmp_path / "market", market, 3, suffix, rows_of_a_group=30)
    clock = Clock(tuple(sorted({strategy.period_ms for strategy in every})), close)
    symbols = (*WATCHED, SILENT)
    parts = [part for file in dataset.tick_files() for part in parts_of(file)]
    pane_files = tuple(tmp_path / f"panes-{number}.arrow" for number in range(len(parts)))
    reduced = [reduce_part(PartTask(part, clock, symbols, file)) for part, file in zip(parts, pane_files, strict=True)]
    triggers_file = tmp_path / "triggers.arrow"
    triggers = pa.concat_tables([part.triggers for part in reduced])
    with pa.OSFile(str(triggers_file), "wb") as sink, pa.ipc.new_stream(sink, triggers.schema) as target:
        target.write_table(triggers)
    found: list[Answer] = []
    knife_edges: dict[str, int] = {}
    for first, end in pairwise([0, 1, 4, len(every)]):
        targets = {stream: tmp_path / f"{stream}-{first}.arrow" for stream in EXPECTED}
        done = evaluate_shard(ShardTask(every[first:end], symbols, close, pane_files, triggers_file, targets))
        indicators = [Indicator(**row) for row in read_table(targets["indicators"]).to_pylist()]
        orders = [MarketOrder(**row) for row in read_table(targets["orders"]).to_pylist()]
        assert done.answers == {"indicators": len(indicators), "orders": len(orders)}
        found += [*indicators, *orders]
        knife_edges |= done.knife_edges
    assert in_order(market.strategies, found) == reference(market.strategies, market.ticks)
    assert knife_edges == reference_knife_edges(market.strategies, market.ticks)
