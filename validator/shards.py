"""Evaluates a shard of the strategies, a contiguous range of the set, and writes its answers. Runs on executors."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from pairs.core.memory import keep_freed_memory, peak_bytes
from pairs.model.strategy import Strategy
from pairs.model.streams import INDICATORS, ORDERS, STREAMS
from pairs.validator.panes import read_panes, read_table, table_file
from pairs.validator.replay import Answers, Replay, Triggers, panes_by_symbol

# The columns that do not depend on the run: all but the wall time.
EXPECTED = {name: stream.schema.remove(stream.schema.get_field_index("inputTS")) for name, stream in STREAMS.items()}
_ROWS_PER_PORTION = 100_000


@dataclass(frozen=True)
class ShardTask:
    """Strategies to evaluate, the files of their panes, and the files for their answers."""

    strategies: tuple[Strategy, ...]
    symbols: tuple[str, ...]
    market_close_ms: int
    pane_files: tuple[Path, ...]
    triggers_file: Path
    targets: dict[str, Path]  # by stream


@dataclass(frozen=True)
class EvaluatedShard:
    """The result of a task for its shard."""

    answers: dict[str, int]  # by stream
    knife_edges: dict[str, int]  # decisions by strategy, of strategies that have any
    worker_peak_bytes: int


def evaluate_shard(task: ShardTask) -> EvaluatedShard:
    """Write the answers of a shard, strategy after strategy; runs on an executor."""
    keep_freed_memory()
    triggers = Triggers.from_table(read_table(task.triggers_file), task.market_close_ms)
    places = {symbol: place for place, symbol in enumerate(task.symbols)}
    watched = {places[symbol] for strategy in task.strategies for symbol in (strategy.symbol1, strategy.symbol2)}
    panes = read_panes(task.pane_files, np.array(sorted(watched), np.int32))
    replay = Replay(places, panes_by_symbol(panes), triggers)
    counts = dict.fromkeys(EXPECTED, 0)
    knife_edges: dict[str, int] = {}
    with ExitStack() as files:
        targets = {
            stream: files.enter_context(table_file(path, EXPECTED[stream])) for stream, path in task.targets.items()
        }
        for portion in _portions(replay, task.strategies):
            rows = {
                INDICATORS.name: _indicator_rows(portion, triggers),
                ORDERS.name: _order_rows(portion, triggers, task.symbols),
            }
            for stream, batch in rows.items():
                targets[stream].write_batch(batch)
                counts[stream] += len(batch)
            knife_edges |= {alias: count for alias, answers in portion.items() if (count := answers.knife_edges)}
    return EvaluatedShard(counts, knife_edges, peak_bytes())


def _portions(replay: Replay, strategies: tuple[Strategy, ...]) -> Iterator[dict[str, Answers]]:
    """Evaluate the strategies in order; yield their answers by alias, those of several strategies together."""
    portion: dict[str, Answers] = {}
    rows = 0
    for strategy in strategies:
        portion[strategy.alias] = answers = replay.answers(strategy)
        rows += len(answers.ratio)
        if rows >= _ROWS_PER_PORTION:
            yield portion
            portion, rows = {}, 0
    yield portion


def _indicator_rows(portion: dict[str, Answers], triggers: Triggers) -> pa.RecordBatch:
    answers = list(portion.values())
    aliases = _repeated(portion, [len(answer.ratio) for answer in answers])
    values = [
        np.concatenate([np.empty(0), *(getattr(answer, name) for answer in answers)])
        for name in ("ratio", "average", "upper", "lower")
    ]
    times = triggers.tick_ts[np.concatenate([np.empty(0, np.int64), *(answer.trigger for answer in answers)])]
    return pa.record_batch([aliases, *values, times], EXPECTED[INDICATORS.name])


def _order_rows(portion: dict[str, Answers], triggers: Triggers, symbols: tuple[str, ...]) -> pa.RecordBatch:
    aliases = _repeated(portion, [len(answers.orders) for answers in portion.values()])
    orders = [order for answers in portion.values() for order in answers.orders]
    columns = [
        ["BUY" if order.buys else "SELL" for order in orders],
        [symbols[order.symbol] for order in orders],
        [order.price for order in orders],
        [order.size for order in orders],
        [int(triggers.tick_ts[order.trigger]) for order in orders],
    ]
    return pa.record_batch([aliases, *columns], EXPECTED[ORDERS.name])


def _repeated(names: Iterable[str], counts: list[int]) -> pa.Array:
    return pa.array(list(names), pa.string()).take(pa.array(np.repeat(np.arange(len(counts)), counts)))
