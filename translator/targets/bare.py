"""The target bare: one process, numpy, no engine. The floor that engines are compared with."""

import sys
from collections.abc import Iterator
from typing import ClassVar

from pairs.core import resources
from pairs.model.strategy import StrategySet
from pairs.translator.target import Launch, Target
from pairs.translator.targets.pyspark import columns_refusals


class Bare(Target):
    """No engine at all."""

    name = "bare"
    summary = "no engine: one process with numpy, the floor to compare engines with"
    plans: ClassVar = {"shared": "ticks are reduced to panes and evaluated column-wise, in one thread"}
    options: ClassVar = {"max-ticks-per-batch": "at most so many ticks looked at together"}
    templates = resources.folder("templates") / "bare"

    def settings(self, plan: str) -> dict[str, str | int | float | bool]:
        """Return what the steps import."""
        return {"uses_pandas": False}

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        """Refuse sets whose state would not fit."""
        yield from columns_refusals(strategies)

    def command(self, launch: Launch) -> list[str]:
        """Run the program with this Python."""
        arguments = ["--source", str(launch.source), "--sink", launch.sink]
        for name, value in launch.settings.items():
            arguments += [f"--{name}", value]
        return [sys.executable, str(launch.app / "app.py"), *arguments]
