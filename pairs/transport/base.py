"""What a transport is: how ticks reach an engine and how its answers come back.

A new transport is one module of this package with a subclass of `Transport`, and its line in registry.py. The
supervisor of a run creates it, the drivers write ticks through it, the sink receives answers through it, and the
engine's program is told its `source` and its `sink`. Drivers and sink are processes of their own: they open the same
transport from the folder that `create` made. Nothing above this package knows a file, a port or a topic.
"""

import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.core.records import Record
from pairs.run_folder.records import InvalidRow
from pairs.transport.tick_records import Records

RECORD_FILE = "transport.json"  # in the folder of a transport

# Starts a process of the run by name and command; returns what raises an error if it has ended.
StartProcess = Callable[[str, list[str]], Callable[[], None]]


def no_process(name: str, _: list[str]) -> Callable[[], None]:
    """Refuse to start a process."""
    raise PairsError(f"the {name} of a run can only be started by the run itself")


@dataclass(frozen=True)
class Positions:
    """How far drivers and engine are, in ticks of the whole stream."""

    produced: int  # without a gap
    read: int  # by the engine; it may read some of them again, and then this goes back
    closed: bool  # whether no more ticks will come
    consumed: int = 0  # of those that are read, how many the engine will not ask for again

    @property
    def backlog(self) -> int:
        return self.produced - self.read


@dataclass(frozen=True)
class Arrival:
    """A batch of answers that came back. Each writer of an engine numbers its own batches."""

    writer: int
    batch: int
    streams: Mapping[str, pa.Table]
    arrived_us: int  # wall time at which all of it was there
    repeated: Mapping[str, int] = field(
        default_factory=dict
    )  # answers, by stream, that had come before: they are not here


@dataclass(frozen=True)
class Refusal:
    """Data that is not valid answers: its connection was closed."""

    stream: str | None = None  # that it names, if any: it counts as an answer that is not expected
    row: InvalidRow | None = None  # which answer it was


class TickWriter(AbstractContextManager["TickWriter"]):
    """Writes the ticks of one driver. As a context it closes itself, but not after an error: ticks are missing then."""

    @abstractmethod
    def share(self, records: Records) -> Records:
        """Return those of the next ticks of the whole stream that this driver sends."""

    @abstractmethod
    def append(self, records: Records) -> None:
        """Send the next ticks of this driver; they are numbered."""

    @property
    def acknowledged_us(self) -> Sequence[int]:
        """How long it took until what was sent was acknowledged, of a sample of ticks, where there is such a thing."""
        return ()

    @property
    @abstractmethod
    def positions(self) -> Positions:
        """How far all drivers and the engine are."""

    @abstractmethod
    def trim(self) -> None:
        """Give back the space of ticks that are consumed."""

    @abstractmethod
    def close(self) -> None:
        """Say that no more ticks will come from this driver."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()


class TransportRecord(Record):
    """The file from which the processes of a run open its transport."""

    FORMAT = 1
    REMEDY = "start the run again"

    name: str
    drivers: int
    settings: dict[str, str]


class Transport(ABC):
    """The way of ticks and answers in one run."""

    name: ClassVar[str]

    def __init__(self, folder: Path, drivers: int = 1, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder  # scratch space of the transport, for the time of the run
        self.drivers = drivers
        self.settings = dict(settings or {})

    def refuse_conflicts(self) -> None:
        """Refuse to go on if what `create` would make is there already."""
        return

    def create(self, start: StartProcess = no_process) -> None:
        """Make what is needed to send and receive. The folder is its owner's alone: settings may be secrets."""
        self.folder.mkdir(mode=0o700, parents=True)
        record = TransportRecord(name=self.name, drivers=self.drivers, settings=self.settings)
        record.write(self.folder / RECORD_FILE)

    def remove(self) -> None:
        """Remove all that `create` made, whatever state it is in."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    @abstractmethod
    def source(self) -> str:
        """Where the engine's program finds the ticks."""

    @property
    @abstractmethod
    def sink(self) -> str | None:
        """Where the engine's program sends answers; none as long as nobody receives them."""

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Whether an engine is connected and waits for ticks."""

    @property
    def left(self) -> bool:
        """Whether an engine was connected and no connection is open any more; never, if a transport cannot tell."""
        return False

    @abstractmethod
    def writer(self, driver: int) -> TickWriter:
        """Open the writer of a driver."""

    @abstractmethod
    def positions(self) -> Positions:
        """Return how far drivers and engine are."""

    @abstractmethod
    def next_tick_ts(self) -> int | None:
        """Return tickTS of the first tick that is not consumed; none if there is none yet."""

    @abstractmethod
    def receive(
        self,
        handle: Callable[[Arrival], None],
        ended: threading.Event,
        refuse: Callable[[Refusal], None] = lambda _: None,
    ) -> None:
        """Call `handle` for every batch that arrives, until `ended` is set; return when no call is under way.

        Batches of different writers are handled by several threads at once, those of one writer in their order. A batch
        is acknowledged when `handle` returns; an error that it raises ends all receiving and is raised here. Invalid
        data ends its connection only, is logged, and `refuse` is called.
        """
