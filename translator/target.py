"""What a target is: an engine that strategies can be translated for. The only interface between engines and the kit.

A target is a subclass of `Target`, and a folder of templates with a folder for each plan and, if plans share files, the
folder `common`. What ends in .jinja there is rendered into the program's folder, other files are copied; beside them
lies `strategies.csv`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pairs.core.records import Record
from pairs.model.plan import Plan
from pairs.model.strategy import StrategySet

Setting = str | int | float | bool


class Program(Record):
    """program.json: what templates may say, the program and the settings of its plan. No name from data is in it."""

    FORMAT = 1
    REMEDY = "translate it again"

    target: str
    plan: str
    source: str  # a name for the strategy set, letters and digits only
    digest: str
    strategies: int
    pairs: int
    market_close_ms: int
    settings: dict[str, Setting]

    @property
    def summary(self) -> str:
        return f"{self.strategies:,} strategies on {self.pairs:,} pairs"


@dataclass(frozen=True)
class Launch:
    """How a program is started: where ticks come from, where answers go, and what else was asked for."""

    app: Path
    source: str
    sink: str
    checkpoint: Path
    progress: Path  # where the program may write what the engine tells of itself
    settings: Mapping[str, str] = field(default_factory=dict)  # of the engine, as a run file or --set gives them


class Target(ABC):
    """An engine that strategies can be translated for."""

    name: str
    summary: str
    plans: ClassVar[Mapping[str, Plan]]  # the first is the default, and never of class block if there is another
    options: ClassVar[Mapping[str, str]]  # settings that its programs accept, each with a line that explains it
    recovers: ClassVar[bool]  # whether its state survives a crash by the engine's own means
    templates: Path

    def settings(self, plan: str) -> Mapping[str, Setting]:
        """Return what the templates of a plan need beyond the program."""
        return {}

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        """Return why the target cannot express a set, naming what is at fault."""
        return iter(())

    def accepts(self, setting: str, plan: str) -> bool:
        return setting in self.options

    def versions(self) -> dict[str, str]:
        """Return the versions of the engine and of what it runs on; refuse what is missing, with how to install it."""
        return {}

    def check_requirements(self) -> None:
        """Refuse to go on if something that the engine needs is not installed; asking for versions finds out."""
        self.versions()

    def process_role(self, name: str, command: list[str]) -> str:
        """Return what a process of the engine counts as when CPU and memory are recorded."""
        return "engine"

    @abstractmethod
    def command(self, launch: Launch) -> list[str]:
        """Return the command that runs a translated program."""


_MAX_STATE = 5_000_000  # ratios, or sums of prices, that one shard can hold: 40 MB


def column_refusals(strategies: StrategySet) -> Iterator[str]:
    """Yield what does not fit into programs that evaluate column-wise: columns are as wide as the longest strategy."""
    members = strategies.strategies
    longest = max(members, key=lambda strategy: strategy.num_periods)
    if longest.num_periods * len(members) > _MAX_STATE:
        periods = f"{longest.num_periods:,} periods are too many for {len(members):,} strategies"
        yield f"strategy {longest.alias!r}: {periods}"
    periods_ms = {strategy.period_ms for strategy in members}
    if len(periods_ms) * len(strategies.symbols) > _MAX_STATE:
        yield f"{len(periods_ms):,} different periods on {len(strategies.symbols):,} symbols are too many"
