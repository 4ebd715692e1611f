"""The five steps of a pairs-trading strategy, for all strategies of a shard at once, column-wise.

Ticks are added up in panes, the stretches between any two ends of windows, which all periods and strategies share; only
the end of a window does real work:

    1 window     the first tick at or after the end of a window closes it (any symbol's tick: all ticks are the clock)
    2 ratio      of the two average prices, if both symbols traded
    3 indicator  mean of the last ratios, and bands at some standard deviations around it
    4 signal     the ratio leaves the bands: upwards or downwards
    5 order      sell what is owned, buy the other symbol; or sell at a stop-loss; or at the bell that closes the market
"""

import csv
import gc
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

MARKET_CLOSE_MS = 900000
NOBODY = -1  # the leg that a flat strategy owns
SYMBOLS = -1  # the part of the state that changes with every tick; the others are numbered as the periods are
SYMBOL = pa.binary(16)  # as ticks carry it, padded with zeros

ANSWER_SCHEMA = (
    "strategy STRING, ratio DOUBLE, avgRatio DOUBLE, upperBand DOUBLE, lowerBand DOUBLE, "
    "type STRING, symbol STRING, price LONG, size LONG, inputTickTS LONG, inputTS LONG"
)
ANSWER_COLUMNS = [column.split()[0] for column in ANSWER_SCHEMA.split(", ")]


# ---------------------------------------------------------------------------------------------- the strategies


@cache
def load_strategies(strategies_file, shard, shards):
    """Read the table of strategies and keep, as columns, those whose pairs fall to a shard; once a process."""
    with Path(strategies_file).open(newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    pairs = {pair: number for number, pair in enumerate(dict.fromkeys((r["symbol1"], r["symbol2"]) for r in rows))}
    periods = sorted({int(row["periodMs"]) for row in rows})
    own = [row for row in rows if pairs[row["symbol1"], row["symbol2"]] % shards == shard]
    columns = _columns(own, periods)
    gc.freeze()  # what lives as long as the process: Spark collects garbage after every task
    return columns


def _columns(rows, periods):
    symbols = sorted({row[leg] for row in rows for leg in ("symbol1", "symbol2")})
    place = {symbol: number for number, symbol in enumerate(symbols)}
    period_ms = np.array([int(row["periodMs"]) for row in rows], np.int64)
    return SimpleNamespace(
        periods=np.array(periods),
        alias=np.array([row["alias"] for row in rows], object),
        symbols=np.array(symbols, object),
        carried=pa.array([_as_carried(symbol) for symbol in symbols], SYMBOL),
        legs=np.array([[place[row["symbol1"]], place[row["symbol2"]]] for row in rows], np.int64).reshape(-1, 2),
        of_period=[np.flatnonzero(period_ms == period) for period in periods],
        num_periods=np.array([int(row["numPeriods"]) for row in rows], np.int64),
        multiplier=np.array([float(row["bandsMultiplier"]) for row in rows]),
        stop_loss=np.array([float(row["stopLoss"]) for row in rows]),
        funds_cents=np.array([int(row["fundsCents"]) for row in rows], np.int64),
    )


def _as_carried(symbol):
    """Return a symbol as ticks carry it, or nothing if it is too long for that."""
    return symbol.encode().ljust(SYMBOL.byte_width, b"\0") if len(symbol.encode()) <= SYMBOL.byte_width else None


# ------------------------------------------------------------------------------------ ticks move the strategies


def _pane_starts(tick_ts, periods):
    """Return when windows end among ticks, which are in order; each end begins a pane."""
    first, last = int(tick_ts[0]), int(tick_ts[-1])
    if sum((last - first) // periods) > len(tick_ts):  # windows end more often than ticks come
        return np.unique([tick_ts // period * period for period in periods])
    return np.concatenate([np.arange(first // period, last // period + 1) * period for period in periods])


def _places(ticks, strategies):
    """Return where the symbol of each tick stands among those that are watched; behind the last if it is not."""
    carried = pa.py_buffer(np.ascontiguousarray(ticks["symbol"]))
    symbols = pa.FixedSizeBinaryArray.from_buffers(SYMBOL, len(ticks), [None, carried])
    places = pc.index_in(symbols, strategies.carried, skip_nulls=True)
    return places.fill_null(len(strategies.symbols)).to_numpy()


class Shard:
    """All strategies of a shard: what is known of them so far, and what they answer to the next ticks."""

    def __init__(self, strategies):
        count, symbols, periods = len(strategies.alias), len(strategies.symbols), len(strategies.periods)
        self.strategies, self.periods = strategies, strategies.periods
        # The last place is for ticks of symbols that nobody here watches.
        self.last_price = np.zeros(symbols + 1, np.int64)
        self.total = np.zeros((periods, symbols + 1), np.int64)  # of the prices in the present window of each period
        self.ticks = np.zeros((periods, symbols + 1), np.int64)
        self.window_end = self.periods.copy()
        self.closings = np.zeros(periods, np.int64)  # of windows of each period so far
        self.processed = np.zeros(1, np.int64)  # ticks
        self.ratios = np.zeros((count, int(strategies.num_periods.max(initial=1))))  # the newest last
        self.ratios_seen = np.zeros(count, np.int64)
        self.was_above = np.ones(count, bool)  # before its first indicator a strategy has no signal
        self.was_below = np.ones(count, bool)
        self.owned = np.full(count, NOBODY, np.int64)  # the leg: 0 long-short, 1 short-long
        self.shares = np.zeros(count, np.int64)
        self.balance = strategies.funds_cents.copy()
        self.entry_ratio = np.zeros(count)
        self.closed = np.zeros(1, bool)

    # What must survive a restart has parts: the symbols, which change with every tick, and for each period its
    # strategies, which change only when its windows end.
    OF_SYMBOLS = ("last_price", "total", "ticks", "window_end", "closings", "processed", "closed")
    OF_STRATEGIES = ("ratios", "ratios_seen", "was_above", "was_below", "owned", "shares", "balance", "entry_ratio")

    @property
    def parts(self):
        """The parts of the state."""
        return range(SYMBOLS, len(self.periods))

    def _columns_of(self, part):
        names = self.OF_SYMBOLS if part == SYMBOLS else self.OF_STRATEGIES
        return [getattr(self, name) for name in names], ... if part == SYMBOLS else self.strategies.of_period[part]

    def dump(self, part):
        """Return a part of the state."""
        columns, rows = self._columns_of(part)
        return b"".join(column[rows].tobytes() for column in columns)

    def load(self, part, state, place=0):
        """Restore a part of the state as it was dumped; return where it ends."""
        columns, rows = self._columns_of(part)
        for column in columns:
            shape = column[rows].shape
            kept = np.frombuffer(state, column.dtype, np.prod(shape, dtype=int), place).reshape(shape)
            column[rows] = kept
            place += kept.nbytes
        return place

    def process(self, ticks):
        """Process ticks, records in order, which follow those processed before; return the answers they trigger."""
        answers = []
        self.processed += len(ticks)
        if self.closed[0]:
            return answers
        price, tick_ts, ts = (ticks[name].astype(np.int64) for name in ("price", "tickTS", "TS"))
        symbol = _places(ticks, self.strategies)
        starts = np.append(_pane_starts(tick_ts, self.periods), MARKET_CLOSE_MS)
        borders = np.unique(np.concatenate([[0], np.searchsorted(tick_ts, starts), [len(ticks)]]))
        for first, end in pairwise(borders.tolist()):
            self._on_first_tick(*(int(column[first]) for column in (symbol, price, tick_ts, ts)), answers)
            if self.closed[0]:
                break
            self._add(symbol[first:end], price[first:end])
        return answers

    def _on_first_tick(self, symbol, price, tick_ts, ts, answers):
        """Close the windows that end at or before a tick; its own price counts as the last of its symbol."""
        self.last_price[symbol] = price
        bell = tick_ts >= MARKET_CLOSE_MS
        for number in np.flatnonzero(self.window_end <= tick_ts):
            self._close_window(number, tick_ts, ts, bell, answers)
        if bell:
            answers.append(self._sell(np.flatnonzero(self.owned != NOBODY), tick_ts, ts))
            self.closings += 1
            self.closed[0] = True

    def _add(self, symbol, price):
        """Add the ticks of a pane to the present windows of all periods."""
        size = len(self.last_price)
        self.ticks += np.bincount(symbol, minlength=size)
        self.total += np.bincount(symbol, weights=price, minlength=size).astype(np.int64)  # far below 2**53: exact
        self.last_price[symbol] = price  # where a symbol occurs again, its later price stays

    def _close_window(self, number, tick_ts, ts, bell, answers):
        period = self.periods[number]
        self.closings[number] += 1
        self.window_end[number] = (tick_ts // period + 1) * period
        rows, ratio = self._ratios_of(number)
        self.ticks[number] = self.total[number] = 0
        rows, ratio, average, upper, lower = self._indicators(rows, ratio)
        if not len(rows):
            return
        alias = self.strategies.alias[rows]
        answers.append(_indicators(alias, ratio, average, upper, lower, tick_ts, ts))
        above, below = ratio >= upper, ratio <= lower
        up, down = above & ~self.was_above[rows], below & ~self.was_below[rows]
        self.was_above[rows], self.was_below[rows] = above, below
        if not bell:
            self._trade(rows, ratio, up, down, tick_ts, ts, answers)

    def _ratios_of(self, number):
        """Return the strategies of a period whose symbols both traded in the window, and their ratios."""
        rows = self.strategies.of_period[number]
        leg1, leg2 = self.strategies.legs[rows].T
        ticks, total = self.ticks[number], self.total[number]
        both = (ticks[leg1] > 0) & (ticks[leg2] > 0)
        leg1, leg2 = leg1[both], leg2[both]
        return rows[both], (total[leg1] / ticks[leg1]) / (total[leg2] / ticks[leg2])

    def _indicators(self, rows, ratio):
        """Add the ratios; return mean and bands for the strategies that have enough of them, oldest ratio first."""
        self.ratios[rows, :-1] = self.ratios[rows, 1:]
        self.ratios[rows, -1] = ratio
        self.ratios_seen[rows] += 1
        warm = self.ratios_seen[rows] >= self.strategies.num_periods[rows]
        rows, ratio = rows[warm], ratio[warm]
        count = self.strategies.num_periods[rows]
        ratios = self.ratios[rows]
        counts = np.arange(ratios.shape[1]) >= ratios.shape[1] - count[:, None]
        average = np.cumsum(np.where(counts, ratios, 0), axis=1)[:, -1] / count
        squares = np.where(counts, (ratios - average[:, None]) ** 2, 0)
        width = self.strategies.multiplier[rows] * np.sqrt(np.cumsum(squares, axis=1)[:, -1] / (count - 1))
        return rows, ratio, average, average + width, average - width

    def _trade(self, rows, ratio, up, down, tick_ts, ts, answers):
        """Follow signals that change a position; else look at the stop-loss. One change a window."""
        owned, limit, entry = self.owned[rows], self.strategies.stop_loss[rows], self.entry_ratio[rows]
        to_leg2 = up & (owned != 1)
        to_leg1 = down & (owned != 0) & ~to_leg2
        lost = ((owned == 1) & (ratio >= (1 + limit) * entry)) | ((owned == 0) & (ratio <= (1 - limit) * entry))
        sells = rows[(to_leg2 | to_leg1 | lost) & (owned != NOBODY)]
        if len(sells):
            answers.append(self._sell(sells, tick_ts, ts))
        buys = to_leg2 | to_leg1
        if buys.any():
            answers.append(self._buy(rows[buys], np.where(to_leg2, 1, 0)[buys], ratio[buys], tick_ts, ts))

    def _sell(self, rows, tick_ts, ts):
        symbol = self.strategies.legs[rows, self.owned[rows]]
        price, shares = self.last_price[symbol], self.shares[rows]
        self.balance[rows] += shares * price
        self.owned[rows] = NOBODY
        return _orders(self.strategies, rows, "SELL", symbol, price, shares, tick_ts, ts)

    def _buy(self, rows, leg, ratio, tick_ts, ts):
        symbol = self.strategies.legs[rows, leg]
        price = self.last_price[symbol]
        shares = self.balance[rows] // (10 * price) * 10
        able = shares > 0
        rows, leg, ratio, symbol, price, shares = (column[able] for column in (rows, leg, ratio, symbol, price, shares))
        self.balance[rows] -= shares * price
        self.owned[rows], self.shares[rows], self.entry_ratio[rows] = leg, shares, ratio
        return _orders(self.strategies, rows, "BUY", symbol, price, shares, tick_ts, ts)


def _indicators(alias, ratio, average, upper, lower, tick_ts, ts):
    return {
        "strategy": alias,
        "ratio": ratio,
        "avgRatio": average,
        "upperBand": upper,
        "lowerBand": lower,
        "inputTickTS": np.full(len(alias), tick_ts),
        "inputTS": np.full(len(alias), ts),
    }


def _orders(strategies, rows, side, symbol, price, shares, tick_ts, ts):
    return {
        "strategy": strategies.alias[rows],
        "type": np.full(len(rows), side, object),
        "symbol": strategies.symbols[symbol],
        "price": price,
        "size": shares,
        "inputTickTS": np.full(len(rows), tick_ts),
        "inputTS": np.full(len(rows), ts),
    }


_kept = {}


def needed(ticks, strategies):
    """Return which ticks a shard needs: those of its symbols, and the first of every pane, which show the time."""
    found = _places(ticks, strategies) < len(strategies.symbols)
    starts = np.append(_pane_starts(ticks["tickTS"], strategies.periods), MARKET_CLOSE_MS)
    firsts = np.searchsorted(ticks["tickTS"], starts)
    found[firsts[firsts < len(ticks)]] = True
    return found


def new_shard(strategies_file, number, shards):
    """Return a shard at the beginning of the day."""
    return Shard(load_strategies(strategies_file, number, shards))


def kept_shard(strategies_file, number, shards, anew=False):
    """Return a shard as this process left it, or as it is at the beginning of the day."""
    if anew or number not in _kept:
        _kept[number] = new_shard(strategies_file, number, shards)
    return _kept[number]


def as_frame(answers):
    """Put answers, each the columns of one stream, into one frame with the columns of both."""
    nulls = [np.full(len(columns["strategy"]), None) for columns in answers]
    return pd.DataFrame(
        {
            name: np.concatenate([columns.get(name, null) for columns, null in zip(answers, nulls, strict=True)])
            for name in ANSWER_COLUMNS
        }
    )
