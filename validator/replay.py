"""Computes the answers of all strategies from panes: the same as the reference's, column-wise and at scale.

A column has the values of one strategy over the whole day: its ratios, its bands. Only changes of position are
computed step by step. Sums of prices are whole numbers; means and deviations are summed for every window from its
oldest ratio.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.model.strategy import Strategy

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class SymbolPanes:
    """The panes in which a symbol traded, in the order of time."""

    start: Wholes
    total: Wholes
    ticks: Wholes
    last: Wholes

    def windows(self, period_ms: int) -> tuple[Wholes, Doubles]:
        """Return the windows in which the symbol traded, by number, and its average price in each."""
        number = self.start // period_ms
        first = np.flatnonzero(np.diff(number, prepend=-1))
        return number[first], np.add.reduceat(self.total, first) / np.add.reduceat(self.ticks, first)

    def last_price(self, before_ms: int) -> int:
        """Return the price of the last trade in panes that began before a time."""
        return int(self.last[np.searchsorted(self.start, before_ms) - 1])


def panes_by_symbol(panes: pa.Table) -> dict[int, SymbolPanes]:
    """Join panes that came in pieces, and split them by symbol."""
    symbol, start, total, ticks, last = (column.to_numpy() for column in panes.columns)
    order = np.lexsort([start, symbol])  # stable: the pieces of a pane stay in the order of time
    symbol, start = symbol[order], start[order]
    first = np.flatnonzero((np.diff(symbol, prepend=-1) != 0) | (np.diff(start, prepend=-1) != 0))
    if not len(first):
        return {}
    ends = np.append(first[1:], len(symbol)) - 1
    columns = [
        start[first],
        np.add.reduceat(total[order], first),
        np.add.reduceat(ticks[order], first),
        last[order][ends],
    ]
    codes, borders = np.unique(symbol[first], return_index=True)
    parts = zip(*(np.split(column, borders[1:]) for column in columns), strict=True)
    return {int(code): SymbolPanes(*part) for code, part in zip(codes, parts, strict=True)}


@dataclass(frozen=True)
class Triggers:
    """The ticks that close windows, in the order of time, up to the tick that closes the market, if any."""

    tick_ts: Wholes
    symbol: Wholes
    price: Wholes
    market_close_ms: int

    @classmethod
    def from_table(cls, triggers: pa.Table, market_close_ms: int) -> "Triggers":
        """Take the triggers of all parts, up to the bell."""
        tick_ts, symbol, price = (column.to_numpy() for column in triggers.columns)
        end = int(np.searchsorted(tick_ts, market_close_ms)) + 1
        return cls(tick_ts[:end], symbol[:end], price[:end], market_close_ms)

    def closing(self, ends_ms: Wholes) -> Wholes:
        """Return the position of the tick that closes each window, given its end; the number of ticks if none does."""
        return np.searchsorted(self.tick_ts, ends_ms)

    @property
    def bell(self) -> int | None:
        """The position of the tick that closes the market."""
        place = len(self.tick_ts) - 1
        return place if place >= 0 and self.tick_ts[place] >= self.market_close_ms else None


@dataclass(frozen=True)
class Order:
    """A purchase or sale; the symbol and the trigger are positions."""

    buys: bool
    symbol: int
    price: int
    size: int
    trigger: int


@dataclass(frozen=True)
class Answers:
    """The answers of a strategy over the whole day."""

    ratio: Doubles
    average: Doubles
    upper: Doubles
    lower: Doubles
    trigger: Wholes
    orders: list[Order]


class Replay:
    """Evaluates strategies over panes and triggers."""

    def __init__(self, places: Mapping[str, int], panes: dict[int, SymbolPanes], triggers: Triggers) -> None:
        self._places = places
        self._panes = panes
        self._triggers = triggers
        self._ratios_of = lru_cache(maxsize=256)(self._ratios)

    def answers(self, strategy: Strategy) -> Answers:
        """Compute all answers of a strategy."""
        legs = self._places[strategy.symbol1], self._places[strategy.symbol2]
        ends, trigger, ratio = self._ratios_of(*legs, strategy.period_ms)
        average, deviation = moments(ratio, strategy.num_periods)
        warm = slice(len(ratio) - len(average), None)
        ends, trigger, ratio = ends[warm], trigger[warm], ratio[warm]
        width = strategy.bands_multiplier * deviation
        found = Answers(ratio, average, average + width, average - width, trigger, [])
        trader = _Trader(strategy, legs, self._panes, self._triggers, found.orders)
        trader.trade(found, ends)
        return found

    def _ratios(self, leg1: int, leg2: int, period_ms: int) -> tuple[Wholes, Wholes, Doubles]:
        """Return the ends, triggers and ratios of the closed windows in which both symbols of a pair traded."""
        if leg1 not in self._panes or leg2 not in self._panes:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        number1, average1 = self._panes[leg1].windows(period_ms)
        number2, average2 = self._panes[leg2].windows(period_ms)
        number, place1, place2 = np.intersect1d(number1, number2, assume_unique=True, return_indices=True)
        ends = (number + 1) * period_ms
        trigger = self._triggers.closing(ends)
        closed = int(np.searchsorted(trigger, len(self._triggers.tick_ts)))
        return ends[:closed], trigger[:closed], (average1[place1] / average2[place2])[:closed]


def moments(values: Doubles, count: int) -> tuple[Doubles, Doubles]:
    """Return mean and sample standard deviation of every `count` consecutive values, summed from the oldest."""
    results = max(len(values) - count + 1, 0)
    lagged = [values[lag : lag + results] for lag in range(count)] if results else [values[:0]]
    total = np.zeros(results)
    for column in lagged:
        total += column
    mean = total / count
    squares = np.zeros(results)
    for column in lagged:
        off = column - mean
        squares += off * off
    return mean, np.sqrt(squares / (count - 1))


class _Trader:
    """Finds the changes of position, and emits their orders."""

    def __init__(
        self,
        strategy: Strategy,
        legs: tuple[int, int],
        panes: dict[int, SymbolPanes],
        triggers: Triggers,
        orders: list[Order],
    ) -> None:
        self._strategy = strategy
        self._legs = legs
        self._panes = panes
        self._triggers = triggers
        self._orders = orders
        self._balance = strategy.available_funds_cents
        self._owned: int | None = None  # which leg
        self._shares = 0

    def trade(self, answers: Answers, ends: Wholes) -> None:
        """Change positions by the indicators, and sell at the bell."""
        bell = self._triggers.bell
        rows = len(answers.ratio) if bell is None else int(np.searchsorted(answers.trigger, bell))
        signals = (
            _crossings((answers.ratio <= answers.lower)[:rows]),
            _crossings((answers.ratio >= answers.upper)[:rows]),
        )
        row = -1
        while True:
            row, leg = self._next_change(answers.ratio, signals, row, rows)
            if row == rows:
                break
            self._sell(int(answers.trigger[row]), int(ends[row]))
            if leg is not None:
                self._buy(leg, int(answers.trigger[row]), int(ends[row]))
        if bell is not None:
            self._sell(bell, self._triggers.market_close_ms)

    def _next_change(
        self, ratio: Doubles, signals: tuple[list[int], list[int]], since: int, rows: int
    ) -> tuple[int, int | None]:
        """Return the next row where the position changes, `rows` if none, and the leg to own afterwards."""
        down, up = (_next_after(rows_of_signal, since, rows) for rows_of_signal in signals)
        if self._owned is None:
            return (up, 1) if up <= down else (down, 0)
        signal = up if self._owned == 0 else down
        row = self._stop_loss(ratio, since, signal)
        return row, (1 - self._owned if row == signal else None)

    def _stop_loss(self, ratio: Doubles, since: int, until: int) -> int:
        """Return the first row in (since, until) where the position has lost too much, else `until`."""
        entry, limit = ratio[since], self._strategy.stop_loss_fraction
        later = ratio[since + 1 : until]
        lost = later >= (1 + limit) * entry if self._owned == 1 else later <= (1 - limit) * entry
        first = int(np.argmax(lost)) if len(lost) else 0
        return since + 1 + first if len(lost) and lost[first] else until

    def _price(self, leg: int, trigger: int, before_ms: int) -> int:
        """Return the price of the last trade of a leg: the trigger itself, or the last before the window's end."""
        symbol = self._legs[leg]
        if self._triggers.symbol[trigger] == symbol:
            return int(self._triggers.price[trigger])
        return self._panes[symbol].last_price(before_ms)

    def _sell(self, trigger: int, before_ms: int) -> None:
        if self._owned is None:
            return
        price = self._price(self._owned, trigger, before_ms)
        self._orders.append(Order(False, self._legs[self._owned], price, self._shares, trigger))
        self._balance += self._shares * price
        self._owned = None

    def _buy(self, leg: int, trigger: int, before_ms: int) -> None:
        price = self._price(leg, trigger, before_ms)
        shares = self._balance // (10 * price) * 10
        if shares:
            self._balance -= shares * price
            self._owned, self._shares = leg, shares
            self._orders.append(Order(True, self._legs[leg], price, shares, trigger))


def _crossings(beyond: NDArray[np.bool_]) -> list[int]:
    """Return the rows that are beyond a band while the previous row is not."""
    return (np.flatnonzero(beyond[1:] & ~beyond[:-1]) + 1).tolist()


def _next_after(rows: list[int], row: int, end: int) -> int:
    place = bisect_left(rows, row + 1)
    return rows[place] if place < len(rows) else end
