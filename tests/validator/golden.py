"""The golden datasets: small markets with awkward corners, and their answers."""

import csv
from dataclasses import dataclass
from pathlib import Path

from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.model.tuples import Indicator, MarketOrder, StockTick
from tests.markets import CALM, GOLDEN


@dataclass(frozen=True)
class GoldenDataset:
    """A dataset and the answers that every implementation must give."""

    folder: Path

    def _rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(newline="", encoding="utf-8") as source:
            return list(csv.DictReader(source))

    def strategies(self) -> StrategySet:
        """Read the strategies."""
        return read_strategies(self.folder / "strategies.xml")

    def ticks(self) -> list[StockTick]:
        """Read the ticks."""
        return [
            StockTick(row["symbol"], int(row["price"]), int(row["size"]), int(row["tickTS"]))
            for row in self._rows("ticks.csv")
        ]

    def indicators(self) -> list[Indicator]:
        """Read the indicators, by time, then by strategy."""
        return [
            Indicator(
                row["strategy"],
                float(row["ratio"]),
                float(row["avgRatio"]),
                float(row["upperBand"]),
                float(row["lowerBand"]),
                int(row["inputTickTS"]),
            )
            for row in self._rows("indicators.csv")
        ]

    def orders(self) -> list[MarketOrder]:
        """Read the orders, by time, then by strategy."""
        return [
            MarketOrder(
                row["strategy"],
                row["type"],
                row["symbol"],
                int(row["price"]),
                int(row["size"]),
                int(row["inputTickTS"]),
            )
            for row in self._rows("orders.csv")
        ]


DATASETS = {"golden": GoldenDataset(GOLDEN), "calm": GoldenDataset(CALM)}
