"""Every strategy up close: its indicators and orders, packed so that any strategy can be drawn."""

from dataclasses import astuple
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairs.core.errors import BadInputError
from pairs.measure.recordings import Answers, Recorded
from pairs.measure.reduce import Wholes, spread_rows
from pairs.model.strategy import Strategy
from pairs.model.streams import INDICATORS, ORDERS
from pairs.report.packing import pack, quantise, whole
from pairs.report.prices import read_prices

_POINTS_OF_ALL = 900_000
_FEWEST_POINTS, _MOST_POINTS = 60, 2_000  # of a strategy
_MOST_ORDERS = 300_000
_MOST_STRATEGIES = 15_000
_GONE = "The dataset is no longer there, so there are no prices."


def strategies_view(recorded: Recorded) -> dict[str, Any]:
    indicators, orders = recorded.answers.get(INDICATORS.name), recorded.answers.get(ORDERS.name)
    if indicators is None or orders is None:
        return {"absent": "The run recorded no answers."}
    every = _all_of(recorded, indicators, orders)
    shown = _shown(every, orders)
    if not shown:
        return {"absent": "There are no strategies."}
    places = {strategy.alias: place for place, strategy in enumerate(shown)}
    rows, place, starts = _rows_of(orders, places)
    prices, duration_ms = _prices(recorded, shown), recorded.manifest.duration_ms
    return {
        "strategies": [astuple(strategy) for strategy in shown],
        "all": len(every),
        "marketClose": recorded.strategies.market_close_ms if recorded.strategies else duration_ms,
        "duration": duration_ms,
        "indicators": _packed_indicators(indicators, places, _key(place, orders.tick_ts[rows])),
        "orders": _packed_orders(orders, rows, starts),
        "prices": prices,
        "missingPrices": _GONE if prices is None else None,
    }


def _all_of(recorded: Recorded, indicators: Answers, orders: Answers) -> list[Strategy]:
    """Return the strategies of the set; if it is gone, as much as the answers tell of them."""
    if recorded.strategies is not None:
        return list(recorded.strategies.strategies)
    names = sorted({*indicators.strategies, *orders.strategies})
    return [Strategy(name, None, 0, "", "", 0, 0, 0.0, 0.0) for name in names]


def _shown(every: list[Strategy], orders: Answers) -> list[Strategy]:
    """Return the strategies that fit on a page: all of them, up to thousands."""
    by_code = np.bincount(orders.strategy, minlength=len(orders.strategies)).tolist()
    counts = dict(zip(orders.strategies, by_code, strict=True))
    totals = accumulate(counts.get(strategy.alias, 0) for strategy in every[:_MOST_STRATEGIES])
    return [strategy for strategy, total in zip(every, totals, strict=False) if total <= _MOST_ORDERS]


def _rows_of(answers: Answers, places: dict[str, int]) -> tuple[Wholes, Wholes, Wholes]:
    """Return the rows of answers by strategy and time, the places of their strategies, and where each begins."""
    place = np.array([places.get(name, -1) for name in answers.strategies] or [0], np.int64)[answers.strategy]
    rows = np.lexsort((answers.tick_ts, place))
    rows = rows[place[rows] >= 0]
    counts = np.bincount(place[rows], minlength=len(places))
    return rows, place[rows], np.concatenate([[0], np.cumsum(counts)])


def _key(place: Wholes, tick_ts: Wholes) -> Wholes:
    return (place << 40) | tick_ts


def _packed_indicators(indicators: Answers, places: dict[str, int], with_orders: Wholes) -> dict[str, Any]:
    rows, series, starts = _rows_of(indicators, places)
    columns = {name: indicators.table[name].to_numpy()[rows] for name in ("ratio", "avgRatio", "upperBand")}
    tick_ts = indicators.tick_ts[rows]
    most = int(np.clip(_POINTS_OF_ALL // max(len(places), 1), _FEWEST_POINTS, _MOST_POINTS))
    decisive = np.isin(_key(series, tick_ts), with_orders)
    kept = spread_rows(starts, np.nan_to_num(columns["ratio"]), decisive, most)
    counts = np.bincount(series[kept], minlength=len(places))
    kept_starts = np.concatenate([[0], np.cumsum(counts)])
    packed: dict[str, Any] = {
        "starts": pack(kept_starts.astype(np.int32), delta=True),
        "time": pack(whole(tick_ts[kept]), delta=True),
        "given": pack(np.diff(starts).astype(np.int32)),
    }
    for name, values in columns.items():
        steps, low, high = quantise(values[kept], kept_starts)
        packed[name] = {"steps": pack(steps, delta=True), "low": pack(low), "high": pack(high)}
    return packed


def _packed_orders(orders: Answers, rows: Wholes, starts: Wholes) -> dict[str, Any]:
    chosen = orders.table.select(["type", "symbol"]).take(pa.array(rows))
    symbols = chosen["symbol"].combine_chunks().dictionary_encode()
    buys = pc.equal(chosen["type"], "BUY").to_numpy()
    return {
        "starts": pack(starts.astype(np.int32), delta=True),
        "time": pack(whole(orders.tick_ts[rows]), delta=True),
        "buy": pack(np.asarray(buys, np.uint8)),
        "symbols": symbols.dictionary.to_pylist(),
        "symbol": pack(symbols.indices.to_numpy().astype(np.int32)),
        "price": pack(whole(orders.table["price"].to_numpy()[rows])),
        "size": pack(whole(orders.table["size"].to_numpy()[rows])),
    }


def _prices(recorded: Recorded, shown: list[Strategy]) -> dict[str, Any] | None:
    """Return the prices of all symbols that strategies watch; None if the dataset is gone."""
    symbols = sorted({symbol for strategy in shown for symbol in (strategy.symbol1, strategy.symbol2) if symbol})
    if not symbols:
        return None
    try:
        found = read_prices(recorded.dataset, symbols, recorded.manifest.duration_ms)
    except (BadInputError, OSError):
        return None
    return {
        "symbols": found.symbols,
        "bucket": found.bucket_ms,
        "buckets": found.cents.shape[1],
        "cents": pack(found.cents.ravel(), delta=True),
        "whole": found.whole,
    }
