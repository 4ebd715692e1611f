"""The golden dataset: a small market with awkward corners, and its answers."""

import csv
from pathlib import Path

from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.model.tuples import Indicator, MarketOrder, StockTick

GOLDEN = Path(__file__).parents[1] / "golden"


def _rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))


def strategies() -> StrategySet:
    """Read the strategies."""
    return read_strategies(GOLDEN / "strategies.xml")


def ticks() -> list[StockTick]:
    """Read the ticks."""
    return [
        StockTick(row["symbol"], int(row["price"]), int(row["size"]), int(row["tickTS"])) for row in _rows("ticks.csv")
    ]


def indicators() -> list[Indicator]:
    """Read the indicators that every implementation must give, by time, then by strategy."""
    return [
        Indicator(
            row["strategy"],
            float(row["ratio"]),
            float(row["avgRatio"]),
            float(row["upperBand"]),
            float(row["lowerBand"]),
            int(row["inputTickTS"]),
        )
        for row in _rows("indicators.csv")
    ]


def orders() -> list[MarketOrder]:
    """Read the orders that every implementation must give, by time, then by strategy."""
    return [
        MarketOrder(
            row["strategy"], row["type"], row["symbol"], int(row["price"]), int(row["size"]), int(row["inputTickTS"])
        )
        for row in _rows("orders.csv")
    ]
