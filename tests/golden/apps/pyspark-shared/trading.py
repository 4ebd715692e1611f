"""The five steps of a pairs-trading strategy, taken by all strategies of a shard at once, column-wise.

Ticks are reduced once to panes: stretches between any two ends of windows, with the sum, number and last of the prices
of each symbol. All periods and strategies share them; only the end of a window does real work:

    1 window     the first tick at or after the end of a window closes it (any symbol's tick: all ticks are the clock)
    2 ratio      of the two average prices, if both symbols traded
    3 indicator  mean of the last ratios, and bands at some standard deviations around it
    4 signal     the ratio leaves the bands: upwards or downwards
    5 order      sell what is owned, buy the other symbol; or sell at a stop-loss; or at the bell that closes the market
"""

import csv
import gc
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

MARKET_CLOSE_MS = 900000
NOBODY = -1  # the symbol of ticks that no strategy of a shard watches

# What goes to a shard: panes, and the first tick of each pane (with no ticks counted, and its price as the total).
PANE_SCHEMA = "shard INT, pane LONG, seq LONG, symbol INT, ticks LONG, total LONG, last LONG, tickTS LONG, TS LONG"
PANE_COLUMNS = [column.split()[0] for column in PANE_SCHEMA.split(", ")]
PANE_ROW = np.dtype([(name, "i4" if name in ("shard", "symbol") else "i8") for name in PANE_COLUMNS])

ANSWER_SCHEMA = (
    "strategy STRING, ratio DOUBLE, avgRatio DOUBLE, upperBand DOUBLE, lowerBand DOUBLE, "
    "type STRING, symbol STRING, price LONG, size LONG, inputTickTS LONG, inputTS LONG"
)
ANSWER_COLUMNS = [column.split()[0] for column in ANSWER_SCHEMA.split(", ")]


# ---------------------------------------------------------------------------------------------- the strategies


@lru_cache(maxsize=1)
def load_market(strategies_file, shards):
    """Read the table of strategies, once a process, and spread its pairs over the shards."""
    with Path(strategies_file).open(newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    symbols = sorted({row[leg] for row in rows for leg in ("symbol1", "symbol2")})
    pairs = {pair: number for number, pair in enumerate(dict.fromkeys((r["symbol1"], r["symbol2"]) for r in rows))}
    members = [[] for _ in range(shards)]
    for row in rows:
        members[pairs[row["symbol1"], row["symbol2"]] % shards].append(row)
    periods = np.array(sorted({int(row["periodMs"]) for row in rows}))
    gc.freeze()  # what lives as long as the process: Spark collects garbage after every task
    return SimpleNamespace(
        periods=periods,
        symbols=pa.array(symbols, pa.string()),
        shards=[_columns(rows_of_shard, periods) for rows_of_shard in members],
        # Where each symbol, by its place in `symbols`, stands in each shard; the last place is for all others.
        places=[_places(symbols, rows_of_shard) for rows_of_shard in members],
    )


def _symbols_of(rows):
    return sorted({row[leg] for row in rows for leg in ("symbol1", "symbol2")})


def _places(symbols, rows):
    place = {symbol: number for number, symbol in enumerate(_symbols_of(rows))}
    return np.array([place.get(symbol, NOBODY) for symbol in symbols] + [NOBODY])


def _columns(rows, periods):
    symbols = _symbols_of(rows)
    place = {symbol: number for number, symbol in enumerate(symbols)}
    period_ms = np.array([int(row["periodMs"]) for row in rows], np.int64)
    return SimpleNamespace(
        alias=np.array([row["alias"] for row in rows], object),
        symbols=np.array(symbols, object),
        legs=np.array([[place[row["symbol1"]], place[row["symbol2"]]] for row in rows], np.int64).reshape(-1, 2),
        of_period=[np.flatnonzero(period_ms == one) for one in periods],
        num_periods=np.array([int(row["numPeriods"]) for row in rows], np.int64),
        multiplier=np.array([float(row["bandsMultiplier"]) for row in rows]),
        stop_loss=np.array([float(row["stopLoss"]) for row in rows]),
        funds_cents=np.array([int(row["fundsCents"]) for row in rows], np.int64),
    )


# ------------------------------------------------------------------------------------- ticks are reduced to panes


def reduce_ticks(ticks, market):
    """Reduce consecutive ticks to the panes of each shard, and the first tick of each pane for all of them."""
    seq, price, tick_ts, ts = (ticks[name].to_numpy() for name in ("seq", "price", "tickTS", "TS"))
    symbol = pc.index_in(ticks["symbol"], market.symbols).fill_null(len(market.symbols)).to_numpy()
    pane = _pane_starts(tick_ts, market.periods)
    new_pane = np.diff(pane, prepend=pane[0] - 1) != 0
    firsts = np.flatnonzero(new_pane)
    cells = (np.cumsum(new_pane) - 1) * (len(market.symbols) + 1) + symbol
    used, cells = _numbered(cells, len(firsts) * (len(market.symbols) + 1))
    lasts = np.zeros(len(used), np.int64)
    lasts[cells] = np.arange(len(cells))  # where a cell occurs again, its later tick stays
    rows = np.zeros(len(used) + len(firsts), PANE_ROW)
    panes, first_ticks = rows[: len(used)], rows[len(used) :]
    panes["pane"], panes["seq"], panes["last"] = pane[lasts], seq[lasts], price[lasts]
    panes["symbol"] = used % (len(market.symbols) + 1)
    panes["ticks"] = np.bincount(cells)
    panes["total"] = np.bincount(cells, weights=price)  # whole numbers far below 2**53: exact
    first_ticks["pane"], first_ticks["seq"], first_ticks["symbol"] = pane[firsts], seq[firsts], symbol[firsts]
    first_ticks["total"], first_ticks["tickTS"], first_ticks["TS"] = price[firsts], tick_ts[firsts], ts[firsts]
    parts = np.concatenate([_rows_of_shard(rows, shard, places) for shard, places in enumerate(market.places)])
    return pa.record_batch([np.ascontiguousarray(parts[name]) for name in PANE_COLUMNS], PANE_COLUMNS)


def _pane_starts(tick_ts, periods):
    """Return when the pane of each tick began: at the last end of a window, or at the close. Ticks are in order."""
    first, last = int(tick_ts[0]), int(tick_ts[-1])
    if sum((last - first) // periods) > len(tick_ts):  # windows end more often than ticks come
        starts = np.max([tick_ts // period * period for period in periods], axis=0)
    else:
        starts = np.concatenate([np.arange(first // period, last // period + 1) * period for period in periods])
    starts = np.unique(np.append(starts, MARKET_CLOSE_MS))
    return starts[np.searchsorted(starts, tick_ts, side="right") - 1]


def _numbered(cells, size):
    """Return which cells have ticks, in order, and for each tick the number of its cell among them."""
    if size > 4 * len(cells) + 1000:  # far more cells than ticks
        return np.unique(cells, return_inverse=True)
    used = np.zeros(size, bool)
    used[cells] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[cells]


def _rows_of_shard(rows, shard, places):
    """Return the panes of the symbols that a shard watches, and all first ticks."""
    symbol = places[rows["symbol"]]
    wanted = (symbol != NOBODY) | (rows["ticks"] == 0)
    part = rows[wanted]
    part["shard"], part["symbol"] = shard, symbol[wanted]
    return part


# ------------------------------------------------------------------------------------ panes move the strategies


class Shard:
    """All strategies of a shard: what is known of them so far, and what they answer to the next panes."""

    def __init__(self, strategies, periods):
        self.strategies = strategies
        self.periods = periods
        symbols, count = len(strategies.symbols), len(strategies.alias)
        longest = int(strategies.num_periods.max(initial=2))
        # One column a symbol; sums and counts of the present window also one row a period.
        self.last_price = np.zeros(symbols, np.int64)
        self.total = np.zeros((len(periods), symbols), np.int64)
        self.ticks = np.zeros((len(periods), symbols), np.int64)
        self.window_end = periods.copy()
        # One row a strategy. Ratios are kept newest last.
        self.ratios = np.zeros((count, longest))
        self.ratios_seen = np.zeros(count, np.int64)
        self.was_above = np.ones(count, bool)  # so that the first indicator gives no signal
        self.was_below = np.ones(count, bool)
        self.owned = np.full(count, NOBODY, np.int64)  # the leg: 0 long-short, 1 short-long
        self.shares = np.zeros(count, np.int64)
        self.balance = strategies.funds_cents.copy()
        self.entry_ratio = np.zeros(count)
        self.closed = np.zeros(1, bool)

    SYMBOL_STATE = ("last_price", "total", "ticks", "window_end")
    STRATEGY_STATE = ("ratios", "ratios_seen", "was_above", "was_below", "owned", "shares", "balance", "entry_ratio")
    STATE = (*SYMBOL_STATE, *STRATEGY_STATE, "closed")

    def dump(self):
        """Return all that must survive a restart."""
        return b"".join(np.ascontiguousarray(getattr(self, name)).tobytes() for name in self.STATE)

    def load(self, state):
        """Take up where an earlier dump ended."""
        place = 0
        for name in self.STATE:
            column = getattr(self, name)
            kept = np.frombuffer(state, column.dtype, column.size, place).reshape(column.shape)
            setattr(self, name, kept.copy())
            place += kept.nbytes

    def take(self, panes):
        """Take the panes of a batch, in whatever pieces; return the answers that their first ticks trigger."""
        order = np.lexsort((panes["seq"], panes["ticks"] > 0, panes["pane"]))
        columns = SimpleNamespace(**{name: np.asarray(panes[name])[order] for name in PANE_COLUMNS[1:]})
        borders = [*np.flatnonzero(np.diff(columns.pane, prepend=columns.pane[:1] - 1)), len(columns.pane)]
        answers = []
        for first, end in pairwise(borders):
            if self.closed[0]:
                break
            self._on_first_tick(columns, first, answers)
            is_pane = columns.ticks[first:end] > 0
            self._add(*(getattr(columns, name)[first:end][is_pane] for name in ("symbol", "ticks", "total", "last")))
        return answers

    def _on_first_tick(self, columns, row, answers):
        """Close the windows that end at or before a tick; its own price counts as the last one of its symbol."""
        symbol, price, tick_ts, ts = (int(getattr(columns, name)[row]) for name in ("symbol", "total", "tickTS", "TS"))
        if symbol != NOBODY:
            self.last_price[symbol] = price
        bell = tick_ts >= MARKET_CLOSE_MS
        for number in np.flatnonzero(self.window_end <= tick_ts):
            self._close_window(number, tick_ts, ts, bell, answers)
        if bell:
            answers.append(self._sell(np.flatnonzero(self.owned != NOBODY), tick_ts, ts))
            self.closed[0] = True

    def _add(self, symbol, ticks, total, last):
        """Add panes to the present windows of all periods; later pieces of a pane come later."""
        if len(np.unique(symbol)) == len(symbol):
            self.ticks[:, symbol] += ticks
            self.total[:, symbol] += total
        else:
            np.add.at(self.ticks.T, symbol, ticks[:, None])
            np.add.at(self.total.T, symbol, total[:, None])
        self.last_price[symbol] = last

    def _close_window(self, number, tick_ts, ts, bell, answers):
        period = self.periods[number]
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
        rows, leg, ratio, symbol, price, shares = (one[able] for one in (rows, leg, ratio, symbol, price, shares))
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


def as_frame(answers):
    """Put answers, each the columns of one stream, into one frame with the columns of both."""
    nothing = [np.full(len(one["strategy"]), None) for one in answers]
    return pd.DataFrame(
        {
            name: np.concatenate([one.get(name, none) for one, none in zip(answers, nothing, strict=True)])
            for name in ANSWER_COLUMNS
        }
    )
