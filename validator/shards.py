"""Evaluates a shard of the strategies, a contiguous run of the set, and writes its answers. Runs on executors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from pairs.memory import keep_freed_memory, peak_bytes
from pairs.model import INDICATOR, MARKET_ORDER, Strategy
from validator.panes import read_panes
from validator.replay import Answers, Replay, Triggers, panes_by_symbol


def _expected(schema: pa.Schema) -> pa.Schema:
    """Return the columns that can be known beforehand: all but the wall time; and sizes of any magnitude."""
    known = [one.with_type(pa.int64()) if one.type == pa.int32() else one for one in schema if one.name != "inputTS"]
    return pa.schema(known)


EXPECTED = {"indicators": _expected(INDICATOR), "orders": _expected(MARKET_ORDER)}
_SIDES = np.array(["SELL", "BUY"])


@dataclass(frozen=True)
class ShardTask:
    """Strategies to evaluate, where their panes are, and where their answers go."""

    shard: int
    strategies: tuple[Strategy, ...]
    symbols: tuple[str, ...]
    market_close_ms: int
    pane_files: tuple[Path, ...]
    triggers_file: Path
    targets: dict[str, Path]  # by stream


@dataclass(frozen=True)
class EvaluatedShard:
    """What a task reports of its shard."""

    indicators: int
    orders: int
    worker_peak_bytes: int


def evaluate_shard(task: ShardTask) -> EvaluatedShard:
    """Write the answers of a shard, strategy after strategy; runs on an executor."""
    keep_freed_memory()
    triggers = Triggers.from_table(read_table(task.triggers_file), task.market_close_ms)
    places = {symbol: place for place, symbol in enumerate(task.symbols)}
    replay = Replay(places, panes_by_symbol(read_panes(task.pane_files, task.shard)), triggers)
    names = np.array(task.symbols, object)
    indicators = orders = 0
    with (
        _stream(task.targets["indicators"], "indicators") as first,
        _stream(task.targets["orders"], "orders") as second,
    ):
        for strategy in task.strategies:
            answers = replay.answers(strategy)
            indicators += len(answers.ratio)
            orders += len(answers.orders)
            first.write_batch(_indicator_rows(strategy, answers, triggers))
            second.write_batch(_order_rows(strategy, answers, triggers, names))
    return EvaluatedShard(indicators, orders, peak_bytes())


def _indicator_rows(strategy: Strategy, answers: Answers, triggers: Triggers) -> pa.RecordBatch:
    values: list[Any] = [
        answers.ratio,
        answers.average,
        answers.upper,
        answers.lower,
        triggers.tick_ts[answers.trigger],
    ]
    return pa.record_batch([pa.repeat(strategy.alias, len(answers.ratio)), *values], EXPECTED["indicators"])


def _order_rows(strategy: Strategy, answers: Answers, triggers: Triggers, names: Any) -> pa.RecordBatch:
    rows = np.array([(one.buys, one.symbol, one.price, one.size, one.trigger) for one in answers.orders], np.int64)
    buys, symbol, price, size, trigger = rows.reshape(-1, 5).T
    values: list[Any] = [_SIDES[buys].astype(object), names[symbol], price, size, triggers.tick_ts[trigger]]
    return pa.record_batch([pa.repeat(strategy.alias, len(rows)), *values], EXPECTED["orders"])


@contextmanager
def _stream(path: Path, stream: str) -> Iterator[pa.ipc.RecordBatchStreamWriter]:
    """Write a file of Arrow batches under a name of the task's own; it may be tried again, or run twice at once."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_stream(sink, EXPECTED[stream]) as target:
        yield target
    partial.rename(path)


def read_table(path: Path) -> pa.Table:
    """Read a file of Arrow batches."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_stream(source).read_all()
