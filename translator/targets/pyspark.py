"""The target pyspark: Structured Streaming, with two plans."""

import sys
from collections.abc import Iterator
from typing import ClassVar

from pairs.core import class_archive as classarchive
from pairs.core import resources
from pairs.model.strategy import StrategySet
from pairs.translator.target import Launch, Target

_LARGEST_STATE = 5_000_000  # ratios, or sums of prices, that one shard can hold: 40 MB


class PySpark(Target):
    """Spark Structured Streaming, in Python."""

    name = "pyspark"
    summary = "Spark Structured Streaming, driven from Python"
    plans: ClassVar = {
        "shared": "ticks are added up once in panes that all strategies share; state per shard, evaluated column-wise",
        "direct": "the literal translation: each tick to each strategy that watches its symbol, one state a strategy",
    }
    options: ClassVar = {
        "shards": "tasks that the state is spread over",
        "partitions": "tasks that read a batch",
        "state": "with plan shared: whole, one value a shard, or parts, of which only those that change are written",
        "max-ticks-per-batch": "at most so many ticks a micro-batch, 0 for no limit",
        "ticks-per-read": "ticks handed to Spark at a time; with plan shared, those of a block",
        "spark.*": "any setting of Spark",
    }
    templates = resources.folder("templates") / "pyspark"

    def settings(self, plan: str) -> dict[str, str | int | float | bool]:
        """Return how large a batch may get when the engine is behind, and how many tasks hold the state."""
        if plan == "shared":
            return {"max_ticks_per_batch": 1_000_000, "shards": 1, "uses_pandas": True}
        return {"max_ticks_per_batch": 50_000, "shards": 2}

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        """Refuse sets whose state would not fit."""
        yield from columns_refusals(strategies)

    def takes(self, setting: str, plan: str) -> bool:
        """Take the options of the programs, and all settings of Spark."""
        if setting == "state" and plan != "shared":
            return False
        return setting in self.options or setting.startswith("spark.")

    def command(self, launch: Launch) -> list[str]:
        """Run the program with this Python; spark-submit would do as well."""
        arguments = ["--source", str(launch.source), "--sink", launch.sink, "--checkpoint", str(launch.checkpoint)]
        arguments += ["--progress", str(launch.progress)]
        for name, value in (classarchive.settings() | launch.settings).items():
            arguments += ["--conf", f"{name}={value}"] if name.startswith("spark.") else [f"--{name}", value]
        return [sys.executable, str(launch.app / "app.py"), *arguments, "--master", launch.master]


def columns_refusals(strategies: StrategySet) -> Iterator[str]:
    """Yield what cannot be held as columns: they are as wide as the longest strategy is."""
    every = strategies.strategies
    longest = max(every, key=lambda one: one.num_periods)
    if longest.num_periods * len(every) > _LARGEST_STATE:
        yield f"strategy {longest.alias!r}: {longest.num_periods:,} periods are too many for {len(every):,} strategies"
    periods = {one.period_ms for one in every}
    symbols = {symbol for one in every for symbol in (one.symbol1, one.symbol2)}
    if len(periods) * len(symbols) > _LARGEST_STATE:
        yield f"{len(periods):,} different periods on {len(symbols):,} symbols are too many"
