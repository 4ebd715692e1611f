"""The target bare: one process, numpy, no engine. The floor that engines are compared with."""

import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import ClassVar

from pairs.config.values import whole
from pairs.core.files import shipped_folder
from pairs.model.plan import Plan, all_steps
from pairs.model.strategy import StrategySet
from pairs.translator.target import MOST_TICKS, Launch, Option, Target, column_refusals


class Bare(Target):
    """No engine at all."""

    name = "bare"
    summary = "no engine: one process with numpy, the floor to compare engines with"
    plans: ClassVar = {
        "vectorized": Plan("ticks are reduced to panes and evaluated column-wise, in one thread", all_steps("block"))
    }
    options: ClassVar = {
        "max-ticks-per-batch": Option(whole(0, MOST_TICKS), "at most so many ticks evaluated together, 0 for 100,000")
    }
    transports = ("ticklog", "kafka")
    recovers = False
    templates = shipped_folder("templates") / "bare"

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        return column_refusals(strategies)

    def versions(self) -> dict[str, str]:
        return {name: version(name) for name in ("numpy", "pyarrow")}

    def process_role(self, name: str, command: list[str]) -> str:
        return "engine Python"

    def command(self, launch: Launch) -> list[str]:
        arguments = ["--source", launch.source, "--sink", launch.sink]
        for name, value in launch.settings.items():
            arguments += [f"--{name}", value]
        return [sys.executable, str(launch.app / "app.py"), *arguments]
