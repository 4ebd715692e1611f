"""Evaluates a shard of the strategies, a contiguous run of the set, and writes its answers. Runs on executors."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from pairs.core.memory import keep_freed_memory, peak_bytes
from pairs.model.strategy import Strategy
from pairs.model.streams import INDICATORS, ORDERS, STREAMS
from pairs.validator.panes import read_panes
from pairs.validator.replay import Answers, Replay, Triggers, panes_by_symbol

# What can be known beforehand: all columns but the wall time.
EXPECTED = {name: stream.schema.remove(stream.schema.get_field_index("inputTS")) for name, stream in STREAMS.items()}
_ROWS_OF_A_PORTION = 100_000


@dataclass(frozen=True)
class ShardTask:
    """Strategies to evaluate, where their panes are, and where their answers go."""

    strategies: tuple[Strategy, ...]
    symbols: tuple[str, ...]
    market_close_ms: int
    pane_files: tuple[Path, ...]
    triggers_file: Path
    targets: dict[str, Path]  # by stream


@dataclass(frozen=True)
class EvaluatedShard:
    """What a task reports of its shard."""

    answers: dict[str, int]  # by stream
    worker_peak_bytes: int


def evaluate_shard(task: ShardTask) -> EvaluatedShard:
    """Write the answers of a shard, strategy after strategy; runs on an executor."""
    keep_freed_memory()
    triggers = Triggers.from_table(read_table(task.triggers_file), task.market_close_ms)
    places = {symbol: place for place, symbol in enumerate(task.symbols)}
    watched = {places[symbol] for one in task.strategies for symbol in (one.symbol1, one.symbol2)}
    panes = read_panes(task.pane_files, np.array(sorted(watched), np.int32))
    replay = Replay(places, panes_by_symbol(panes), triggers)
    counts = dict.fromkeys(EXPECTED, 0)
    with ExitStack() as files:
        targets = {stream: files.enter_context(_stream(path, stream)) for stream, path in task.targets.items()}
        for portion in _portions(replay, task.strategies):
            rows = {
                INDICATORS.name: _indicator_rows(portion, triggers),
                ORDERS.name: _order_rows(portion, triggers, task.symbols),
            }
            for stream, batch in rows.items():
                targets[stream].write_batch(batch)
                counts[stream] += len(batch)
    return EvaluatedShard(counts, peak_bytes())


def _portions(replay: Replay, strategies: tuple[Strategy, ...]) -> Iterator[dict[str, Answers]]:
    """Evaluate one strategy after the other; yield their answers by alias, many small ones together."""
    portion: dict[str, Answers] = {}
    rows = 0
    for strategy in strategies:
        portion[strategy.alias] = answers = replay.answers(strategy)
        rows += len(answers.ratio)
        if rows >= _ROWS_OF_A_PORTION:
            yield portion
            portion, rows = {}, 0
    yield portion


def _indicator_rows(portion: dict[str, Answers], triggers: Triggers) -> pa.RecordBatch:
    answers = list(portion.values())
    aliases = _repeated(portion, [len(one.ratio) for one in answers])
    values = [
        np.concatenate([np.empty(0), *(getattr(one, name) for one in answers)])
        for name in ("ratio", "average", "upper", "lower")
    ]
    times = triggers.tick_ts[np.concatenate([np.empty(0, np.int64), *(one.trigger for one in answers)])]
    return pa.record_batch([aliases, *values, times], EXPECTED[INDICATORS.name])


def _order_rows(portion: dict[str, Answers], triggers: Triggers, symbols: tuple[str, ...]) -> pa.RecordBatch:
    aliases = _repeated(portion, [len(one.orders) for one in portion.values()])
    orders = [order for one in portion.values() for order in one.orders]
    columns: list[Any] = [
        ["BUY" if one.buys else "SELL" for one in orders],
        [symbols[one.symbol] for one in orders],
        [one.price for one in orders],
        [one.size for one in orders],
        [int(triggers.tick_ts[one.trigger]) for one in orders],
    ]
    kinds = [one.type for one in EXPECTED[ORDERS.name]][1:]
    filled = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.record_batch([aliases, *filled], EXPECTED[ORDERS.name])


def _repeated(names: Iterable[str], counts: list[int]) -> pa.Array:
    """Return each name as often as its count says."""
    places = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return pa.array(list(names), pa.string()).take(pa.array(places))


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
