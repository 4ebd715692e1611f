"""Small markets for tests: written down by hand, or walked at random with every awkward corner."""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.dataset.folder import Dataset
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml import write_strategies
from pairs.model.tuples import STOCK_TICK, StockTick

WATCHED = ("AAA", "BBB", "CCC", "DDD")
UNWATCHED = ("XXX", "YYY")
SILENT = "ZZZ"  # watched, and never traded

_PERIODS_MS = (7_000, 11_000, 13_000, 1_000, 333, 5_000)
_MULTIPLIERS = (0.3, 0.5, 1.0, 1.2)


@dataclass(frozen=True)
class Market:
    """Ticks and the strategies that watch them."""

    strategies: StrategySet
    ticks: list[StockTick]


def ticks_of(rows: str) -> list[StockTick]:
    """Make ticks from rows such as "A120@0 B100@1": symbol, price and time."""
    found = re.findall(r"([A-Z]+)(\d+)@(\d+)", rows)
    return [StockTick(symbol, int(price), 100, int(tick_ts)) for symbol, price, tick_ts in found]


def windows_of(*windows: str) -> list[StockTick]:
    """Make ticks from windows of one second such as "A120 B100"; their ticks are one millisecond apart."""
    rows = [
        f"{trade}@{1_000 * number + place}"
        for number, window in enumerate(windows)
        for place, trade in enumerate(window.split())
    ]
    return ticks_of(" ".join(rows))


def at_ratios(*ratios: float) -> list[StockTick]:
    """Make ticks of windows of one second in which B trades at 100, then A at the ratio; one more B closes the last."""
    return windows_of(*(f"B100 A{round(100 * ratio)}" for ratio in ratios), "B100")


def pair(
    alias: str = "s",
    symbols: tuple[str, str] = ("A", "B"),
    funds: int = 10_000,
    period_ms: int = 1_000,
    periods: int = 2,
    multiplier: float = 0.5,
    stop_loss: float = 0.5,
) -> Strategy:
    """Make a strategy. With two periods and half a deviation, a rise is beyond the upper band, a fall the lower."""
    return Strategy(alias, None, funds, *symbols, period_ms, periods, multiplier, stop_loss)


def random_walk(seed: int, ticks: int = 500, strategies: int = 6) -> Market:
    """Walk a market at random: gaps, ties in time, halts, jumps, prices that stand still, symbols too dear to buy."""
    rng = np.random.default_rng(seed)
    symbols = [*WATCHED, *UNWATCHED]
    gaps = rng.exponential(rng.choice([20, 200, 1_000]), ticks).astype(int)
    gaps[rng.random(ticks) < 0.3] = 0
    jumps = rng.random(ticks) < 0.005
    gaps[jumps] += rng.integers(1, 200_000, ticks)[jumps]
    gaps[0] = rng.choice([0, 0, 20_000])
    tick_ts = np.cumsum(gaps)
    traded = rng.integers(len(symbols), size=ticks)
    price = np.stack([_prices(rng, ticks) for _ in symbols])[traded, np.arange(ticks)]
    kept = np.ones(ticks, bool)
    for halted in np.flatnonzero(rng.random(len(symbols)) < 0.3):
        first, length = rng.integers(ticks), rng.integers(ticks)
        kept[first : first + length] &= traded[first : first + length] != halted
    kept[0] = True
    rows = zip(traded[kept].tolist(), price[kept].tolist(), tick_ts[kept].tolist(), strict=True)
    made = [StockTick(symbols[symbol], cents, 100, ms) for symbol, cents, ms in rows]
    return Market(StrategySet(_close(rng, made), _strategies(rng, strategies)), made)


def _prices(rng: np.random.Generator, ticks: int) -> NDArray[np.int64]:
    walk: NDArray[Any]
    match rng.choice(["walk", "walk", "wild", "few", "still", "dear"]):
        case "walk":
            walk = 2_000 * np.exp(np.cumsum(rng.normal(0, 0.01, ticks)))
        case "wild":
            walk = 1_000 * np.exp(np.cumsum(rng.normal(0, 0.1, ticks)))
        case "few":
            walk = rng.choice([100, 200, 300, 400], ticks)
        case "still":
            walk = np.full(ticks, 500)
        case _:
            walk = rng.choice([99_000, 100_000, 100_001, 2**31 - 1], ticks)  # 10 of them cost all that there is
    return np.array(np.clip(walk, 1, 2**31 - 1), np.int64)


def _close(rng: np.random.Generator, ticks: list[StockTick]) -> int:
    """Close within the ticks, at the end of a window, at the last tick, or after it."""
    last = ticks[-1].tickTS
    within = int(rng.integers(1, last + 2))
    return int(rng.choice([within, max(within // 5_000, 1) * 5_000, max(last, 1), last + 1]))


def _strategies(rng: np.random.Generator, count: int) -> tuple[Strategy, ...]:
    made = []
    for number in range(count):
        symbol1, symbol2 = rng.permutation([*WATCHED, SILENT] if rng.random() < 0.1 else WATCHED)[:2].tolist()
        made.append(
            Strategy(
                f"st_{number + 1:05d}",
                None,
                int(rng.choice([1_000_000, 123_456])),
                symbol1,
                symbol2,
                int(rng.choice(_PERIODS_MS)),
                int(rng.choice([2, 2, 3, 3, 4, 6])),
                float(rng.choice(_MULTIPLIERS)),
                float(rng.choice([0.05, 0.1, 0.3])),
            )
        )
    return tuple(made)


def random_grid(seed: int, windows: int = 60) -> Market:
    """Walk a market of windows of a second with one tick a symbol at few prices: ratios hit bands and limits."""
    rng = np.random.default_rng(seed)
    prices = {"AAA": (100, 200, 300, 400), "BBB": (100,), "CCC": (200, 300)}
    made = []
    for number in range(windows):
        for place, symbol in enumerate(rng.permutation([*prices])):
            if rng.random() < 0.95:
                made.append(StockTick(symbol, int(rng.choice(prices[symbol])), 100, 1_000 * number + 300 * place))
    watching = tuple(
        pair(f"st_{number}", symbols, 10_000, period_ms, 3, 1.0, 0.5)
        for number, (symbols, period_ms) in enumerate(
            product([("AAA", "BBB"), ("BBB", "AAA"), ("AAA", "CCC")], [1_000, 2_000])
        )
    )
    return Market(StrategySet(int(rng.integers(windows * 500, windows * 1_001)), watching), made)


def random_calm(seed: int, windows: int = 80) -> Market:
    """Walk a market whose prices stand still for a while, then change by a tenth: bands collapse, stops are hit."""
    rng = np.random.default_rng(seed)
    prices = {symbol: _calm_prices(rng, windows) for symbol in ("AAA", "BBB")}
    made = []
    for number in range(windows):
        for place, symbol in enumerate(rng.choice(["AAA", "BBB"], rng.integers(1, 8)).tolist()):
            made.append(StockTick(symbol, int(prices[symbol][number]), 100, 1_000 * number + 100 * place))
    watching = tuple(
        pair(f"st_{number}", symbols, 1_000_000, period_ms, periods, multiplier, 0.1)
        for number, (symbols, period_ms, (periods, multiplier)) in enumerate(
            product([("AAA", "BBB"), ("BBB", "AAA")], [1_000, 2_000], [(2, 0.5), (3, 1.0), (7, 1.8)])
        )
    )
    return Market(StrategySet(int(rng.integers(windows * 500, windows * 1_001)), watching), made)


def _calm_prices(rng: np.random.Generator, windows: int) -> NDArray[np.int64]:
    levels = rng.choice([7_000, 7_700, 6_300, 8_470, 5_670], windows)
    return np.repeat(levels, rng.integers(1, 12, windows))[:windows]


def write_market(
    path: Path, market: Market, files: int, suffix: str = "parquet", rows_of_a_group: int = 100
) -> Dataset:
    """Write a market as a hand-made dataset: only tick files and strategies."""
    dataset = Dataset(path)
    dataset.ticks_folder.mkdir(parents=True)
    write_strategies(dataset.strategies_file, market.strategies)
    borders = [len(market.ticks) * number // files for number in range(files + 1)]
    for number, (first, end) in enumerate(pairwise(borders)):
        write_ticks(dataset.tick_file(number, suffix), market.ticks[first:end], rows_of_a_group)
    return dataset


def write_ticks(path: Path, ticks: Iterable[StockTick], rows_of_a_group: int = 100) -> None:
    """Write a file of ticks."""
    rows = [(tick.symbol, tick.price, tick.size, tick.tickTS) for tick in ticks]
    if path.suffix == ".parquet":
        pq.write_table(table_of(rows), path, row_group_size=rows_of_a_group)
        return
    with path.open("w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows([STOCK_TICK.names, *rows])


def table_of(rows: Sequence[tuple[str, int | None, int, int]]) -> pa.Table:
    """Make a table of ticks; unlike the schema, it can hold rows without a price."""
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    arrays = [pa.array(column, field.type) for column, field in zip(columns, STOCK_TICK, strict=True)]
    return pa.table(arrays, names=STOCK_TICK.names)
