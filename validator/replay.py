"""Computes the answers of all strategies from panes: the same as the reference's, column-wise and at scale.

A column holds the values of one strategy over the whole day: its ratios, its bands. Only changes of position are
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
from pairs.model.streams import TOLERANCE

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


def panes_by_symbol(panes: pa.Table) -> dict[int, SymbolPanes]:
    """Join panes that came in pieces, and split them by symbol."""
    symbol, start, total, ticks, last = (column.to_numpy() for column in panes.columns)
    order = np.lexsort([start, symbol])  # stable: the pieces of a pane stay in the order of time
    symbol, start = symbol[order], start[order]
    first = np.flatnonzero((np.diff(symbol, prepend=-1) != 0) | (np.diff(start, prepend=-1) != 0))
    if not len(first):
        return {}
    ends = np.append(first[1:], len(symbol)) - 1
    totals, counts = np.add.reduceat(total[order], first), np.add.reduceat(ticks[order], first)
    columns = [start[first], totals, counts, last[order][ends]]
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
        tick_ts, symbol, price = (column.to_numpy() for column in triggers.columns)
        end = int(np.searchsorted(tick_ts, market_close_ms)) + 1
        return cls(tick_ts[:end], symbol[:end], price[:end], market_close_ms)

    @property
    def bell(self) -> int | None:
        """The position of the tick that closes the market."""
        place = len(self.tick_ts) - 1
        return place if place >= 0 and self.tick_ts[place] >= self.market_close_ms else None

    def before_bell(self, trigger: Wholes) -> int:
        """Return how many of the given positions, in the order of time, come before the bell."""
        return len(trigger) if self.bell is None else int(np.searchsorted(trigger, self.bell))


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
    stop: Doubles  # the limit of the stop-loss, NaN where it is not checked
    acted_on: int  # rows before the bell
    orders: list[Order]

    @property
    def knife_edges(self) -> int:
        """The rows before the bell whose ratio lies so close to a band or a stop that rounding may decide."""
        if self.acted_on < 2:
            return 0  # the bands of the first row are compared at the second
        limits = np.stack([self.upper, self.lower, self.stop])[:, : self.acted_on]
        close = np.abs(self.ratio[: self.acted_on] - limits) <= TOLERANCE * np.abs(limits)
        return int(np.count_nonzero(close.any(axis=0)))


class Replay:
    """Evaluates strategies over panes and triggers."""

    def __init__(self, places: Mapping[str, int], panes: dict[int, SymbolPanes], triggers: Triggers) -> None:
        self._places, self._panes, self._triggers = places, panes, triggers
        self._ratios_of = lru_cache(maxsize=256)(self._ratios)

    def answers(self, strategy: Strategy) -> Answers:
        legs = self._places[strategy.symbol1], self._places[strategy.symbol2]
        ends, trigger, ratio = self._ratios_of(*legs, strategy.period_ms)
        average, deviation = moments(ratio, strategy.num_periods)
        warm = slice(len(ratio) - len(average), None)
        ends, trigger, ratio = ends[warm], trigger[warm], ratio[warm]
        width = strategy.bands_multiplier * deviation
        stop, acted_on = np.full(len(ratio), np.nan), self._triggers.before_bell(trigger)
        found = Answers(ratio, average, average + width, average - width, trigger, stop, acted_on, [])
        _Trader(strategy, legs, self._panes, self._triggers, found, strategy.available_funds_cents).trade(ends)
        return found

    def _ratios(self, leg1: int, leg2: int, period_ms: int) -> tuple[Wholes, Wholes, Doubles]:
        """Return the ends, triggers and ratios of the closed windows in which both symbols of a pair traded."""
        if leg1 not in self._panes or leg2 not in self._panes:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        number1, average1 = self._panes[leg1].windows(period_ms)
        number2, average2 = self._panes[leg2].windows(period_ms)
        number, place1, place2 = np.intersect1d(number1, number2, assume_unique=True, return_indices=True)
        ends = (number + 1) * period_ms
        trigger = np.searchsorted(self._triggers.tick_ts, ends)  # of each window, the tick that closes it
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


@dataclass
class _Trader:
    """Goes from one change of position to the next."""

    strategy: Strategy
    legs: tuple[int, int]
    panes: dict[int, SymbolPanes]
    triggers: Triggers
    answers: Answers
    balance: int  # cents
    owned: int | None = None  # which leg
    shares: int = 0

    def trade(self, ends: Wholes) -> None:
        """Change positions by the indicators, whose windows end at the given times, and sell at the bell."""
        answers, bell = self.answers, self.triggers.bell
        rows = answers.acted_on
        down = _crossings((answers.ratio <= answers.lower)[:rows])
        up = _crossings((answers.ratio >= answers.upper)[:rows])
        row, leg = self._next_change(down, up, -1, rows)
        while row < rows:
            self._sell(int(answers.trigger[row]), int(ends[row]))
            if leg is not None:
                self._buy(leg, int(answers.trigger[row]), int(ends[row]))
            row, leg = self._next_change(down, up, row, rows)
        if bell is not None:
            self._sell(bell, self.triggers.market_close_ms)

    def _next_change(self, down: list[int], up: list[int], since: int, rows: int) -> tuple[int, int | None]:
        """Return the next row where the position changes, `rows` if none, and the leg to own afterwards."""
        next_down, next_up = _next_after(down, since, rows), _next_after(up, since, rows)
        if self.owned is None:
            return (next_up, 1) if next_up <= next_down else (next_down, 0)
        signal = next_up if self.owned == 0 else next_down
        row = self._stop_loss(since, signal)
        return row, (1 - self.owned if row == signal else None)

    def _stop_loss(self, since: int, until: int) -> int:
        """Return the first row in (since, until) where the position has lost too much, else `until`."""
        entry, fraction = self.answers.ratio[since], self.strategy.stop_loss_fraction
        limit = (1 + fraction) * entry if self.owned == 1 else (1 - fraction) * entry
        later = self.answers.ratio[since + 1 : until]
        lost = later >= limit if self.owned == 1 else later <= limit
        first = int(np.argmax(lost)) if len(lost) else 0
        row = since + 1 + first if len(lost) and lost[first] else until
        self.answers.stop[since + 1 : min(row + 1, until)] = limit
        return row

    def _price(self, leg: int, trigger: int, before_ms: int) -> int:
        """Return the price of the last trade of a leg: the trigger itself, or the last before the window's end."""
        symbol = self.legs[leg]
        if self.triggers.symbol[trigger] == symbol:
            return int(self.triggers.price[trigger])
        panes = self.panes[symbol]
        return int(panes.last[np.searchsorted(panes.start, before_ms) - 1])

    def _sell(self, trigger: int, before_ms: int) -> None:
        if self.owned is not None:
            price = self._price(self.owned, trigger, before_ms)
            self.answers.orders.append(Order(False, self.legs[self.owned], price, self.shares, trigger))
            self.balance += self.shares * price
            self.owned = None

    def _buy(self, leg: int, trigger: int, before_ms: int) -> None:
        price = self._price(leg, trigger, before_ms)
        shares = self.balance // (10 * price) * 10
        if shares:
            self.balance -= shares * price
            self.owned, self.shares = leg, shares
            self.answers.orders.append(Order(True, self.legs[leg], price, shares, trigger))


def _crossings(beyond: NDArray[np.bool_]) -> list[int]:
    """Return the rows that are beyond a band while the previous row is not."""
    return (np.flatnonzero(beyond[1:] & ~beyond[:-1]) + 1).tolist()


def _next_after(rows: list[int], row: int, end: int) -> int:
    place = bisect_left(rows, row + 1)
    return rows[place] if place < len(rows) else end
