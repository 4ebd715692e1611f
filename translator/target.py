"""What a target is: an engine that strategies can be translated for. The only interface between engines and the kit.

A target is a subclass of `Target`, and a folder of templates with a folder for each plan and, if plans share files, the
folder `common`. What ends in .jinja there is rendered into the program's folder, other files are copied, those in Java
into its folder `java`; beside them lies `strategies.csv`. A plan that must be compiled is, by `build`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pairs.config.values import Kind, suggestion
from pairs.core.errors import BadInputError
from pairs.core.records import Record
from pairs.core.units import counted
from pairs.model.plan import Plan
from pairs.model.strategy import StrategySet

Setting = str | int | float | bool
JAVA_FOLDER = "java"  # of a program, with its Java sources
MOST_TICKS = 1_000_000_000  # in a batch; a bound that catches slips, no engine comes near it


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
        return f"{counted(self.strategies, 'strategy')} on {counted(self.pairs, 'pair')}"


@dataclass(frozen=True)
class Launch:
    """How a program is started: where ticks come from, where answers go, and what else was asked for."""

    app: Path
    source: str
    sink: str
    checkpoint: Path
    progress: Path  # where the program may write what the engine tells of itself
    settings: Mapping[str, str] = field(default_factory=dict)  # of the engine, as a run file or --set gives them
    jars: Sequence[Path] = ()  # of the engine's connector to the transport
    cores: int | None = None  # that the engine may use; without a cluster, its processes are bound to them


@dataclass(frozen=True)
class Connector:
    """What an engine needs beside itself for a transport: jars, and their versions."""

    jars: Sequence[Path] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Option:
    """A setting that programs of a target accept: the kind of its values, a line that explains it, and which plans."""

    kind: Kind
    summary: str
    plans: tuple[str, ...] = ()  # that accept it; empty: all


class Target(ABC):
    """An engine that strategies can be translated for."""

    name: str
    summary: str
    plans: ClassVar[Mapping[str, Plan]]  # the first is the default, and never of class block if there is another
    options: ClassVar[
        Mapping[str, Option]
    ]  # settings of its programs; `name.*` is any setting that begins with `name.`
    transports: ClassVar[Sequence[str]] = ("ticklog",)  # that its programs can read from and answer to
    recovers: ClassVar[bool]  # whether its state survives a crash by the engine's own means
    templates: Path

    def settings(self, plan: str) -> Mapping[str, Setting]:
        """Return what the templates of a plan need beyond the program."""
        return {}

    def template_folders(self, plan: str) -> Sequence[Path]:
        """Return the folders of templates that make up a program."""
        return [self.templates / "common", self.templates / plan]

    def build(self, app: Path, plan: str, settings: Mapping[str, str]) -> None:
        """Compile what must be compiled of a program, in its folder; the settings are those of the run."""
        return

    def check_buildable(self, plan: str, settings: Mapping[str, str]) -> None:
        """Refuse to go on if a program cannot be built here, with what to install."""
        return

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        """Return why the target cannot express a set, naming what is at fault."""
        return iter(())

    def option(self, setting: str) -> Option | None:
        """Return what is known of a setting, by its name or by the beginning of its name."""
        beginning = f"{setting.partition('.')[0]}.*"
        return self.options.get(setting) or (self.options.get(beginning) if "." in setting else None)

    def accepts(self, setting: str, plan: str) -> bool:
        option = self.option(setting)
        return option is not None and plan in (option.plans or self.plans)

    def check_setting(self, name: str, value: str, plan: str, place: str) -> None:
        """Refuse a setting that the programs of a plan do not accept, and a value that it cannot have."""
        option = self.option(name)
        if option is None:
            known = [known for known in self.options if self.accepts(known, plan)]
            raise BadInputError(f"{place}: is not a setting of {self.name}; {suggestion(name, known)}")
        if not self.accepts(name, plan):
            only = f"{self.name} has it only with plan {' or '.join(option.plans)}"
            raise BadInputError(f"{place}: {only}; leave it out, or give that plan")
        option.kind.read(value, place)

    def versions(self) -> dict[str, str]:
        """Return the versions of the engine and of what it runs on; refuse what is missing, with how to install it."""
        return {}

    def check_requirements(self) -> None:
        """Refuse to go on if something that the engine needs is not installed; asking for versions finds out."""
        self.versions()

    def connector(self, transport: str, jars: str | None = None) -> Connector:
        """Return what the engine needs for a transport, installed if it was not; `jars` is a folder to take instead."""
        return Connector()

    def check_partitions(self, plan: str, partitions: int, place: str) -> None:
        """Refuse so many partitions of the ticks if programs of a plan cannot merge them."""
        return

    def cluster(self, settings: Mapping[str, str]) -> str | None:
        """Return the cluster that executes the engine's tasks outside the processes of the run, if there is one."""
        return None

    def limits_cores(self, settings: Mapping[str, str]) -> bool:
        """Return whether the engine can be told how many cores of its cluster it may use."""
        return False

    def workers(self, settings: Mapping[str, str]) -> list[int]:
        """Return the processes of this machine that start executors for the cluster of the engine."""
        return []

    def check_workers(self, settings: Mapping[str, str], place: str) -> None:
        """Refuse a fault in a worker if there is none on this machine."""
        if not self.workers(settings):
            raise BadInputError(f"{place}: {self.name} has no worker on this machine; leave the fault out")

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
        periods = f"{longest.num_periods:,} periods are too many for {counted(len(members), 'strategy')}"
        yield f"strategy {longest.alias!r}: {periods}"
    periods_ms = {strategy.period_ms for strategy in members}
    if len(periods_ms) * len(strategies.symbols) > _MAX_STATE:
        different = f"{len(periods_ms):,} different periods"
        yield f"{different} are too many on {counted(len(strategies.symbols), 'symbol')}"
