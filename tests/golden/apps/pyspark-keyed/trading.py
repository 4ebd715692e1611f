"""The five steps of a pairs-trading strategy, one tick at a time.

Every strategy goes through them on its own:

    1 window     the first tick at or after the end of a window closes it (any symbol's tick: all ticks are the clock)
    2 ratio      of the two average prices, if both symbols traded
    3 indicator  mean of the last ratios, and bands at some standard deviations around it
    4 signal     the ratio leaves the bands: upwards or downwards
    5 order      sell what is owned, buy the other symbol; or sell at a stop-loss; or at the bell that closes the market
"""

import csv
import math
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MARKET_CLOSE_MS = 900000

# A tick on its way to a strategy: leg 1 or 2 if it is of one of its symbols, 0 if it only shows the time.
ROUTED_SCHEMA = "strategy STRING, seq LONG, leg INT, price LONG, tickTS LONG, TS LONG"
ROUTED_COLUMNS = [column.split()[0] for column in ROUTED_SCHEMA.split(", ")]

# A mark tells a strategy how far a source is: seq is that of its last tick, price how many came, tickTS its number.
MARK = -1
TICK = np.dtype([(name, np.int64) for name in ("seq", "leg", "price", "tickTS", "TS")])

# Ratios are packed doubles: Spark 4.3 cannot read an array back from the state of a Python function.
STATE_SCHEMA = (
    "windowEnd LONG, ticks1 LONG, total1 LONG, ticks2 LONG, total2 LONG, last1 LONG, last2 LONG, ratios BINARY, "
    "above BOOLEAN, below BOOLEAN, owned INT, shares LONG, balance LONG, entryRatio DOUBLE, closed BOOLEAN, "
    "held BINARY"  # ticks that are ahead of other sources
)

ANSWER_SCHEMA = (
    "strategy STRING, ratio DOUBLE, avgRatio DOUBLE, upperBand DOUBLE, lowerBand DOUBLE, "
    "type STRING, symbol STRING, price LONG, size LONG, inputTickTS LONG, inputTS LONG"
)
ANSWER_COLUMNS = [column.split()[0] for column in ANSWER_SCHEMA.split(", ")]


@lru_cache(maxsize=1)
def load_market(strategies_file):
    """Read the table of strategies, once a process, and who watches which symbol."""
    with Path(strategies_file).open(newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    symbols = sorted({row[leg] for row in rows for leg in ("symbol1", "symbol2")})
    watchers = {symbol: [] for symbol in symbols}
    for number, row in enumerate(rows):
        watchers[row["symbol1"]].append((number, 1))
        watchers[row["symbol2"]].append((number, 2))
    listed = [pair for symbol in symbols for pair in watchers[symbol]]
    period_ms = np.array([int(row["periodMs"]) for row in rows])
    return SimpleNamespace(
        strategies={row["alias"]: _strategy(row) for row in rows},
        aliases=pa.array([row["alias"] for row in rows]),
        symbols=pa.array(symbols),
        # The watchers of all symbols in one list: those of a symbol begin at `first` and are as many as `watched` says.
        watcher=np.array([number for number, _ in listed]),
        leg=np.array([leg for _, leg in listed]),
        watched=np.array([len(watchers[symbol]) for symbol in symbols] + [0]),
        first=np.cumsum([0] + [len(watchers[symbol]) for symbol in symbols]),
        of_period={int(period): np.flatnonzero(period_ms == period) for period in np.unique(period_ms)},
    )


def _strategy(row):
    return SimpleNamespace(
        alias=row["alias"],
        symbols=(None, row["symbol1"], row["symbol2"]),
        period_ms=int(row["periodMs"]),
        num_periods=int(row["numPeriods"]),
        multiplier=float(row["bandsMultiplier"]),
        stop_loss=float(row["stopLoss"]),
        funds_cents=int(row["fundsCents"]),
    )


def route(ticks, market, marked=False):
    """Send every tick to the strategies that watch its symbol, and to all of a period the first tick in each window.

    If marked, tell all strategies how far the source is that the ticks came by.
    """
    seq, price, tick_ts, ts = (ticks[name].to_numpy() for name in ("seq", "price", "tickTS", "TS"))
    symbol = pc.index_in(ticks["symbol"], market.symbols).fill_null(len(market.symbols)).to_numpy()
    copies = market.watched[symbol]
    rows = np.repeat(np.arange(len(seq)), copies)
    listed = np.repeat(market.first[symbol] - np.cumsum(copies) + copies, copies) + np.arange(len(rows))
    parts = [(market.watcher[listed], rows, market.leg[listed])]
    for period, strategies in market.of_period.items():
        window = np.where(tick_ts >= MARKET_CLOSE_MS, -1, tick_ts // period)
        firsts = np.flatnonzero(np.diff(window, prepend=window[0] - 1))
        parts.append((np.tile(strategies, len(firsts)), np.repeat(firsts, len(strategies)), 0))
    strategy = np.concatenate([part[0] for part in parts])
    row = np.concatenate([part[1] for part in parts])
    leg = np.concatenate([np.broadcast_to(part[2], len(part[0])) for part in parts])
    columns = [market.aliases.take(pa.array(strategy)), seq[row], leg.astype(np.int32), price[row].astype(np.int64)]
    routed = pa.record_batch([*columns, tick_ts[row], ts[row]], ROUTED_COLUMNS)
    return pa.concat_batches([routed, _marks(market, ticks)]) if marked else routed


def _marks(market, ticks):
    values = ticks["seq"][-1].as_py(), MARK, ticks.num_rows, ticks["source"][0].as_py(), 0
    kinds = np.int64, np.int32, np.int64, np.int64, np.int64
    columns = [np.full(len(market.aliases), value, kind) for value, kind in zip(values, kinds, strict=True)]
    return pa.record_batch([market.aliases, *columns], ROUTED_COLUMNS)


class Trader:
    """One strategy: what it knows, and how it answers to a tick."""

    def __init__(self, strategy, state):
        self.strategy = strategy
        self.seq = -1
        if not state:
            state = (strategy.period_ms, 0, 0, 0, 0, 0, 0, b"", True, True, 0, 0, strategy.funds_cents, 0.0, False)
        self.window_end, ticks1, total1, ticks2, total2, last1, last2, ratios, *rest = state
        self.ticks, self.total, self.last = [0, ticks1, ticks2], [0, total1, total2], [0, last1, last2]
        self.ratios = np.frombuffer(ratios).tolist()
        self.above, self.below, self.owned, self.shares, self.balance, self.entry_ratio, self.closed = rest

    def state(self):
        """Return all that must survive a restart."""
        sums = (self.ticks[1], self.total[1], self.ticks[2], self.total[2], self.last[1], self.last[2])
        position = (self.owned, self.shares, self.balance, self.entry_ratio, self.closed)
        return (self.window_end, *sums, np.array(self.ratios).tobytes(), self.above, self.below, *position)

    def on_tick(self, tick):
        """Process a tick; return the answers that it triggers."""
        if self.closed or tick.seq == self.seq:  # a tick that shows the time may also be of one of the symbols
            return []
        self.seq = tick.seq
        answers = []
        self.last[tick.leg] = tick.price
        bell = tick.tickTS >= MARKET_CLOSE_MS
        if tick.tickTS >= self.window_end:
            answers += self._close_window(tick, bell)
        if bell:
            answers += self._sell(tick)
            self.closed = True
        self.ticks[tick.leg] += 1
        self.total[tick.leg] += tick.price
        return answers

    def _close_window(self, tick, bell):
        period = self.strategy.period_ms
        self.window_end = (tick.tickTS // period + 1) * period
        (_, ticks1, ticks2), (_, total1, total2) = self.ticks, self.total
        self.ticks, self.total = [0, 0, 0], [0, 0, 0]
        if not (ticks1 and ticks2):
            return []
        ratio = (total1 / ticks1) / (total2 / ticks2)
        count = self.strategy.num_periods
        self.ratios = [*self.ratios, ratio][-count:]
        if len(self.ratios) < count:
            return []
        average, squares = 0.0, 0.0
        for value in self.ratios:
            average += value
        average /= count
        for value in self.ratios:
            squares += (value - average) * (value - average)
        width = self.strategy.multiplier * math.sqrt(squares / (count - 1))
        upper, lower = average + width, average - width
        up, down = ratio >= upper and not self.above, ratio <= lower and not self.below
        self.above, self.below = ratio >= upper, ratio <= lower
        values = (self.strategy.alias, ratio, average, upper, lower)
        indicator = (*values, None, None, None, None, tick.tickTS, tick.TS)
        return [indicator] if bell else [indicator, *self._trade(ratio, up, down, tick)]

    def _trade(self, ratio, up, down, tick):
        """Follow a signal that changes the position; else look at the stop-loss."""
        limit, entry = self.strategy.stop_loss, self.entry_ratio
        if up and self.owned != 2:
            return [*self._sell(tick), *self._buy(2, ratio, tick)]
        if down and self.owned != 1:
            return [*self._sell(tick), *self._buy(1, ratio, tick)]
        lost = (self.owned == 2 and ratio >= (1 + limit) * entry) or (self.owned == 1 and ratio <= (1 - limit) * entry)
        return self._sell(tick) if lost else []

    def _sell(self, tick):
        if not self.owned:
            return []
        order = self._order("SELL", self.owned, self.shares, tick)
        self.balance += self.shares * self.last[self.owned]
        self.owned = 0
        return [order]

    def _buy(self, leg, ratio, tick):
        shares = self.balance // (10 * self.last[leg]) * 10
        if not shares:
            return []
        self.balance -= shares * self.last[leg]
        self.owned, self.shares, self.entry_ratio = leg, shares, ratio
        return [self._order("BUY", leg, shares, tick)]

    def _order(self, side, leg, shares, tick):
        symbol, price = self.strategy.symbols[leg], self.last[leg]
        return (self.strategy.alias, None, None, None, None, side, symbol, price, shares, tick.tickTS, tick.TS)
