"""The reference: what a strategy computes, one tick at a time, in plain Python.

Written to be read next to the section "What every strategy computes" of docs/specification.md. It is plain and slow on
purpose; validator/replay.py gives the same answers at scale, and tests compare the two.
"""

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pairs.model.strategy import Strategy, StrategySet
from pairs.model.streams import TOLERANCE
from pairs.model.tuples import Indicator, MarketOrder, StockTick

Answer = Indicator | MarketOrder


def replay_by_tick(strategies: StrategySet, ticks: Iterable[StockTick]) -> Iterator[Answer]:
    """Yield every answer to a stream of ticks, in the order of their triggers."""
    machine = StateMachine(strategies)
    for tick in ticks:
        yield from machine.on_tick(tick)


class StateMachine:
    """All strategies of a set; the stream of all ticks is their clock."""

    def __init__(self, strategies: StrategySet) -> None:
        self.market_close_ms = strategies.market_close_ms
        self.last_price: dict[str, int] = {}
        self.traders = [_Trader(strategy, self.last_price) for strategy in strategies.strategies]
        self.legs: defaultdict[str, list[_Leg]] = defaultdict(list)
        for trader in self.traders:
            self.legs[trader.strategy.symbol1].append(trader.leg1)
            self.legs[trader.strategy.symbol2].append(trader.leg2)
        self.next_end_ms = 0
        self.closed = False

    def on_tick(self, tick: StockTick) -> list[Answer]:
        """Take the next tick; return the answers that it triggers."""
        if self.closed:
            return []
        self.last_price[tick.symbol] = tick.price  # before any order: the trigger is the last trade of its symbol
        self.closed = bell = tick.tickTS >= self.market_close_ms
        answers: list[Answer] = []
        if tick.tickTS >= self.next_end_ms:
            answers += self._close_windows(tick.tickTS, bell)
        if bell:
            for trader in self.traders:
                answers += trader.sell(tick.tickTS)
        for leg in self.legs.get(tick.symbol, ()):
            leg.add(tick.price)  # after closing windows: the trigger belongs to the new window
        return answers

    def knife_edges(self) -> dict[str, int]:
        """Return, by strategy, how many decisions so far lay so close to a band or a stop that rounding may decide."""
        return {trader.strategy.alias: len(trader.knife_edges) for trader in self.traders if trader.knife_edges}

    def _close_windows(self, tick_ts: int, bell: bool) -> list[Answer]:
        answers: list[Answer] = []
        for trader in self.traders:
            if tick_ts >= trader.window_end_ms:
                answers += trader.close_window(tick_ts, bell)
        self.next_end_ms = min((trader.window_end_ms for trader in self.traders), default=0)
        return answers


class _Leg:
    """The ticks of one of the two symbols in the current window."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.total_cents = 0
        self.ticks = 0

    def add(self, price_cents: int) -> None:
        self.total_cents += price_cents
        self.ticks += 1


@dataclass
class _Holding:
    """The shares of a strategy: long-short if of symbol1, short-long if of symbol2; without it the strategy is flat."""

    symbol: str
    shares: int
    ratio: float  # at which the position was taken


class _Trader:
    """A strategy: its current window, its last ratios, its previous indicator, its money and shares."""

    def __init__(self, strategy: Strategy, last_price: dict[str, int]) -> None:
        self.strategy = strategy
        self.last_price = last_price
        self.leg1, self.leg2 = _Leg(), _Leg()
        self.window_end_ms = strategy.period_ms
        self.ratios: deque[float] = deque(maxlen=strategy.num_periods)
        self.previous: Indicator | None = None
        self.balance_cents = strategy.available_funds_cents
        self.holding: _Holding | None = None
        self.knife_edges: set[int] = set()  # the triggers of those windows: a window counts once

    def close_window(self, tick_ts: int, bell: bool) -> list[Answer]:
        """Close the window; windows that time has jumped over are empty and yield nothing."""
        period = self.strategy.period_ms
        self.window_end_ms = (tick_ts // period + 1) * period
        ratio = self._take_ratio()
        if ratio is None:
            return []
        self.ratios.append(ratio)
        if len(self.ratios) < self.strategy.num_periods:
            return []
        indicator, previous = self._indicator(ratio, tick_ts), self.previous
        self.previous = indicator
        return [indicator, *([] if bell else self._act(indicator, previous, tick_ts))]

    def _take_ratio(self) -> float | None:
        """Return the ratio of the window if both symbols traded in it, and begin the next window."""
        leg1, leg2 = self.leg1, self.leg2
        ratio = None
        if leg1.ticks and leg2.ticks:
            ratio = (leg1.total_cents / leg1.ticks) / (leg2.total_cents / leg2.ticks)
        leg1.clear()
        leg2.clear()
        return ratio

    def _indicator(self, ratio: float, tick_ts: int) -> Indicator:
        average = _total(self.ratios) / len(self.ratios)
        variance = _total((value - average) * (value - average) for value in self.ratios) / (len(self.ratios) - 1)
        width = self.strategy.bands_multiplier * math.sqrt(variance)
        return Indicator(self.strategy.alias, ratio, average, average + width, average - width, tick_ts)

    def _act(self, now: Indicator, then: Indicator | None, tick_ts: int) -> list[Answer]:
        """Follow a signal if it changes the position, else check the stop-loss."""
        strategy, owned = self.strategy, self.holding.symbol if self.holding else None
        for compared in (now, then) if then is not None else ():
            self._note_if_close(compared, compared.upperBand)
            self._note_if_close(compared, compared.lowerBand)
        up = then is not None and now.ratio >= now.upperBand and then.ratio < then.upperBand
        down = then is not None and now.ratio <= now.lowerBand and then.ratio > then.lowerBand
        if up and owned != strategy.symbol2:
            return [*self.sell(tick_ts), *self._buy(strategy.symbol2, now.ratio, tick_ts)]
        if down and owned != strategy.symbol1:
            return [*self.sell(tick_ts), *self._buy(strategy.symbol1, now.ratio, tick_ts)]
        return self.sell(tick_ts) if self._loses_too_much(now) else []

    def _loses_too_much(self, now: Indicator) -> bool:
        if self.holding is None:
            return False
        short_long = self.holding.symbol == self.strategy.symbol2
        fraction = self.strategy.stop_loss_fraction
        limit = (1 + fraction if short_long else 1 - fraction) * self.holding.ratio
        self._note_if_close(now, limit)
        return now.ratio >= limit if short_long else now.ratio <= limit

    def _note_if_close(self, indicator: Indicator, limit: float) -> None:
        if abs(indicator.ratio - limit) <= TOLERANCE * abs(limit):
            self.knife_edges.add(indicator.inputTickTS)

    def sell(self, tick_ts: int) -> list[Answer]:
        if self.holding is None:
            return []
        symbol, shares = self.holding.symbol, self.holding.shares
        price = self.last_price[symbol]
        self.balance_cents += shares * price
        self.holding = None
        return [MarketOrder(self.strategy.alias, "SELL", symbol, price, shares, tick_ts)]

    def _buy(self, symbol: str, ratio: float, tick_ts: int) -> list[Answer]:
        """Buy as many tens of shares as the balance pays for; with too little the strategy stays flat."""
        price = self.last_price[symbol]
        shares = 10 * (self.balance_cents // (10 * price))
        if shares == 0:
            return []
        self.balance_cents -= shares * price
        self.holding = _Holding(symbol, shares, ratio)
        return [MarketOrder(self.strategy.alias, "BUY", symbol, price, shares, tick_ts)]


def _total(values: Iterable[float]) -> float:
    """Add doubles in order, as every engine can; newer versions of Python's sum() correct rounding errors."""
    total = 0.0
    for value in values:
        total += value
    return total
