"""What a target is: an engine that strategies can be translated for. The only interface between engines and the kit.

A target is a class like this one, and a folder of templates with a folder for each plan. What ends in .jinja there is
rendered into the program's folder; `strategies.csv` lies next to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pairs.model.strategy import StrategySet


@dataclass(frozen=True)
class Program:
    """What templates may say: facts about the program, and settings of the plan. No name from data is among them."""

    kit_version: str
    source: str  # a name for the strategy set, letters and digits only
    digest: str
    plan: str
    summary: str
    market_close_ms: int
    settings: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Launch:
    """How a program is started: where ticks come from, where answers go, and what else was asked for."""

    app: Path
    source: Path
    sink: str
    checkpoint: Path
    progress: Path  # where the program may write what the engine says of itself
    master: str  # of Spark, for engines that run on it
    settings: dict[str, str] = field(default_factory=dict)  # of the engine, as a run file or --set gives them


class Target(ABC):
    """An engine that strategies can be translated for."""

    name: str
    summary: str
    plans: ClassVar[Mapping[str, str]]  # each with a line that explains it; the first one is the default
    options: ClassVar[Mapping[str, str]]  # settings that its programs take, each with a line that explains it
    templates: Path  # a folder with a folder for each plan

    def settings(self, plan: str) -> Mapping[str, str | int | float | bool]:
        """Return what the templates of a plan need beyond the facts."""
        return {}

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        """Yield why the target cannot express a set, naming what is at fault."""
        yield from ()

    def takes(self, setting: str, plan: str) -> bool:
        """Say whether the programs of a plan take a setting."""
        return setting in self.options

    @abstractmethod
    def command(self, launch: Launch) -> list[str]:
        """Return the command that runs a translated program."""
