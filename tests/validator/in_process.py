"""The replay without Spark or files: ticks cut into pieces anywhere, reduced, joined and evaluated."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.model.strategy import Strategy, StrategySet
from pairs.model.tuples import Indicator, MarketOrder, StockTick
from pairs.validator.panes import PANES, TRIGGERS, Clock, reduce_piece
from pairs.validator.replay import Answers, Replay, Triggers, panes_by_symbol
from pairs.validator.state_machine import Answer, StateMachine, replay_by_tick


def replay_in_process(strategies: StrategySet, ticks: Sequence[StockTick], cuts: Iterable[int] = ()) -> list[Answer]:
    """Return the answers of the replay with the ticks in pieces, cut before the given rows."""
    symbols = sorted(strategies.symbols)
    replay, triggers = _prepared(strategies, symbols, ticks, cuts)
    answers = [
        answer
        for strategy in strategies.strategies
        for answer in _rows(strategy, replay.answers(strategy), triggers, symbols)
    ]
    return in_order(strategies, answers)


def knife_edges_in_process(
    strategies: StrategySet, ticks: Sequence[StockTick], cuts: Iterable[int] = ()
) -> dict[str, int]:
    """Return the decisions by strategy that rounding may decide, as the replay counts them."""
    replay, _ = _prepared(strategies, sorted(strategies.symbols), ticks, cuts)
    counts = {strategy.alias: replay.answers(strategy).knife_edges for strategy in strategies.strategies}
    return {alias: count for alias, count in counts.items() if count}


def _prepared(
    strategies: StrategySet, symbols: list[str], ticks: Sequence[StockTick], cuts: Iterable[int]
) -> tuple[Replay, Triggers]:
    every = strategies.strategies
    clock = Clock(tuple(sorted({strategy.period_ms for strategy in every})), strategies.market_close_ms)
    symbol, price, tick_ts = coded(symbols, ticks)
    borders = sorted({0, len(ticks), *cuts})
    pieces = [
        reduce_piece(clock, len(symbols), symbol[first:end], price[first:end], tick_ts[first:end])
        for first, end in pairwise(borders)
    ]
    panes = pa.Table.from_batches([piece for piece, _ in pieces], PANES)
    triggers = Triggers.from_table(
        pa.Table.from_batches([piece for _, piece in pieces], TRIGGERS), strategies.market_close_ms
    )
    places = {name: place for place, name in enumerate(symbols)}
    return Replay(places, panes_by_symbol(panes), triggers), triggers


def coded(symbols: list[str], ticks: Sequence[StockTick]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return symbols as numbers, prices and times; symbols that are not listed get numbers of their own after them."""
    others = sorted({tick.symbol for tick in ticks} - set(symbols))
    places = {name: place for place, name in enumerate([*symbols, *others])}
    return (
        np.array([places[tick.symbol] for tick in ticks], np.int32),
        np.array([tick.price for tick in ticks], np.int32),
        np.array([tick.tickTS for tick in ticks], np.int64),
    )


def _rows(strategy: Strategy, answers: Answers, triggers: Triggers, symbols: list[str]) -> Iterator[Answer]:
    columns = (answers.ratio, answers.average, answers.upper, answers.lower, triggers.tick_ts[answers.trigger])
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield Indicator(strategy.alias, *row)
    for order in answers.orders:
        tick_ts = int(triggers.tick_ts[order.trigger])
        side = "BUY" if order.buys else "SELL"
        yield MarketOrder(strategy.alias, side, symbols[order.symbol], order.price, order.size, tick_ts)


def reference(strategies: StrategySet, ticks: Iterable[StockTick]) -> list[Answer]:
    """Return the answers of the reference."""
    return in_order(strategies, replay_by_tick(strategies, ticks))


def reference_knife_edges(strategies: StrategySet, ticks: Iterable[StockTick]) -> dict[str, int]:
    """Return the decisions by strategy that rounding may decide, as the reference counts them."""
    machine = StateMachine(strategies)
    for tick in ticks:
        machine.on_tick(tick)
    return machine.knife_edges()


def in_order(strategies: StrategySet, answers: Iterable[Answer]) -> list[Answer]:
    """Sort answers by time, then by strategy, indicators first; the orders of a strategy keep their order."""
    place = {strategy.alias: number for number, strategy in enumerate(strategies.strategies)}

    def rank(answer: Answer) -> tuple[int, int, bool]:
        return answer.inputTickTS, place[answer.strategy], isinstance(answer, MarketOrder)

    return sorted(answers, key=rank)
