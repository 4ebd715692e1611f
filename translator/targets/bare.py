"""The target bare: one process, numpy, no engine. The floor that engines are compared with."""

import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import ClassVar

from pairs.core.files import shipped_folder
from pairs.model.strategy import StrategySet
from pairs.translator.columns import column_refusals
from pairs.translator.target import Launch, Target


class Bare(Target):
    """No engine at all."""

    name = "bare"
    summary = "no engine: one process with numpy, the floor to compare engines with"
    plans: ClassVar = {"shared": "ticks are reduced to panes and evaluated column-wise, in one thread"}
    options: ClassVar = {"max-ticks-per-batch": "at most so many ticks evaluated together"}
    templates = shipped_folder("templates") / "bare"

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        """Refuse sets whose state would not fit."""
        yield from column_refusals(strategies)

    def versions(self) -> dict[str, str]:
        """Return the versions of what computes."""
        return {name: version(name) for name in ("numpy", "pyarrow")}

    def process_role(self, name: str, command: list[str]) -> str:
        """Tell that it is Python."""
        return "engine Python"

    def command(self, launch: Launch) -> list[str]:
        """Run the program with this Python."""
        arguments = ["--source", launch.source, "--sink", launch.sink]
        for name, value in launch.settings.items():
            arguments += [f"--{name}", value]
        return [sys.executable, str(launch.app / "app.py"), *arguments]
