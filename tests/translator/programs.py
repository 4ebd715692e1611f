"""Loads the steps of generated programs into this process and plays ticks to them, cut into batches at will."""

import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import write_strategies
from pairs.model.tuples import Indicator, MarketOrder, StockTick
from pairs.translator import targets
from pairs.translator.translate import translate
from pairs.transport.tick_records import COLUMNS, RECORD, Records
from pairs.validator.state_machine import Answer


def translated(strategies: StrategySet, folder: Path, target: str, plan: str) -> Path:
    """Translate strategies; return the folder of the program."""
    source = folder / f"set-{uuid4().hex}"
    source.mkdir()
    write_strategies(source / "strategies.xml", strategies)
    found, chosen = targets.find(target, plan)
    translate(source / "strategies.xml", found, chosen, source / "app")
    return source / "app"


def load_steps(app: Path) -> ModuleType:
    """Load the steps of a program as a module of their own."""
    module = ModuleType(f"trading_{app.parent.name}")
    sys.modules[module.__name__] = module
    exec(compile((app / "trading.py").read_text(), str(app / "trading.py"), "exec"), module.__dict__)  # noqa: S102
    return module


def as_batch(ticks: Sequence[StockTick], first_seq: int) -> pa.RecordBatch:
    """Return ticks as the tick source hands them to Spark; TS is told apart from tickTS by its size."""
    columns = [
        pa.array(range(first_seq, first_seq + len(ticks)), pa.int64()),
        pa.array([tick.symbol for tick in ticks]),
        pa.array([tick.price for tick in ticks], pa.int32()),
        pa.array([tick.size for tick in ticks], pa.int32()),
        pa.array([tick.tickTS for tick in ticks], pa.int64()),
        pa.array([tick.tickTS * 1000 + 7 for tick in ticks], pa.int64()),
    ]
    return pa.record_batch(columns, list(COLUMNS))


def pieces_of(
    ticks: Sequence[StockTick], batch_cuts: Iterable[int], piece_cuts: Iterable[int]
) -> list[list[pa.RecordBatch]]:
    """Cut ticks into batches, and batches into the pieces that different tasks would read."""
    batches = []
    for first, end in pairwise(sorted({0, len(ticks), *batch_cuts})):
        borders = sorted({first, end, *(cut for cut in piece_cuts if first < cut < end)})
        batches.append([as_batch(ticks[start:stop], start) for start, stop in pairwise(borders)])
    return batches


def as_records(batch: pa.RecordBatch) -> Records:
    """Return ticks as records of the tick log."""
    records = np.zeros(len(batch), RECORD)
    for name in batch.schema.names:
        records[name] = [value.encode() if name == "symbol" else value for value in batch[name].to_pylist()]
    return records


def play_columns(steps: ModuleType, app: Path, batches: list[list[pa.RecordBatch]], shards: int) -> list[Answer]:
    """Play batches, piece after piece, to the column-wise steps; state is dumped and loaded between batches.

    Of several shards each gets the ticks that it needs, if the steps tell.
    """
    states: list[list[bytes] | None] = [None] * shards
    answers: list[Answer] = []
    for pieces in batches:
        for number in range(shards):
            shard = steps.Shard(steps.load_strategies(str(app / "strategies.csv"), number, shards))
            for part, state in zip(shard.parts, states[number] or (), strict=False):
                assert shard.load(part, state) == len(state)
            records = [as_records(piece) for piece in pieces]
            if shards > 1 and hasattr(steps, "needed"):
                records = [ticks[steps.needed(ticks, shard.strategies)] for ticks in records]
            parts = [part for ticks in records if len(ticks) for part in shard.process(ticks)]
            states[number] = list(map(shard.dump, shard.parts))
            answers += [answer for part in parts for answer in _column_answers(part)]
    return answers


def _column_answers(part: dict[str, Any]) -> Iterable[Answer]:
    kind = MarketOrder if "type" in part else Indicator
    for values in zip(*part.values(), strict=True):
        plain = (value.item() if hasattr(value, "item") else value for value in values)
        yield kind(**dict(zip(part, plain, strict=True)))


def play_rows(steps: ModuleType, app: Path, batches: list[list[pa.RecordBatch]]) -> list[Answer]:
    """Play batches to the steps that take one tick at a time; every strategy's state is dumped and loaded."""
    market = steps.load_market(str(app / "strategies.csv"))
    states: dict[str, Any] = {}
    answers: list[Answer] = []
    for pieces in batches:
        routed = [row for piece in pieces for row in steps.route(piece, market).to_pylist()]
        for alias in market.strategies:
            own = sorted((row for row in routed if row["strategy"] == alias), key=lambda row: (row["seq"], -row["leg"]))
            trader = steps.Trader(market.strategies[alias], states.get(alias))
            rows = [answer for row in own for answer in trader.on_tick(SimpleNamespace(**row))]
            states[alias] = trader.state()
            answers += [_row_answer(dict(zip(steps.ANSWER_COLUMNS, row, strict=True))) for row in rows]
    return answers


def _row_answer(row: dict[str, Any]) -> Answer:
    kind = Indicator if row["type"] is None else MarketOrder
    return kind(**{name: value for name, value in row.items() if value is not None})
