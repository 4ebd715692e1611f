"""The faults that can be injected into a run. A new kind of fault is one class here, and its line in FAULTS."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar

from pairs.config.run_settings import FaultSpec
from pairs.core.errors import BadInputError
from pairs.core.units import show_duration
from pairs.harness.processes import Engine
from pairs.translator.target import Target


class Fault(ABC):
    """Something bad that happens to an engine at a moment of simulated time; drivers go on meanwhile."""

    kind: ClassVar[str]
    restarts: ClassVar[bool]  # whether the engine is started again, as by an operator; else it goes on by its own means

    def __init__(self, at_ms: int) -> None:
        self.at_ms = at_ms

    @abstractmethod
    def strike(self, engine: Engine) -> None:
        """Do it."""

    @classmethod
    def check(cls, target: Target, settings: Mapping[str, str], place: str) -> None:
        """Refuse the fault if it cannot strike a target with these settings."""
        if not target.recovers:
            lost = f"{target.name} keeps no state that survives a crash"
            raise BadInputError(f"{place}: {lost}; leave the fault out")


class Kill(Fault):
    """Kills all processes of the engine, and starts it again."""

    kind = "kill"
    restarts = True

    def strike(self, engine: Engine) -> None:
        engine.kill()


class KillWorker(Fault):
    """Kills a worker of the cluster with its executors, and starts nothing again: the cluster must survive it."""

    kind = "kill-worker"
    restarts = False

    def strike(self, engine: Engine) -> None:
        engine.kill_worker()

    @classmethod
    def check(cls, target: Target, settings: Mapping[str, str], place: str) -> None:
        super().check(target, settings, place)
        target.check_workers(settings, place)


FAULTS: Mapping[str, type[Fault]] = {fault.kind: fault for fault in (Kill, KillWorker)}


def find_faults(specs: Iterable[FaultSpec], close_ms: float = inf, place: str = "--fault") -> list[Fault]:
    """Return the faults that a configuration asks for, in the order in which they strike, all before the close."""
    for spec in specs:
        if spec.kind not in FAULTS:
            raise BadInputError(f"{place}: {str(spec)!r} is not a fault; give one of {', '.join(FAULTS)}, then @TIME")
        if spec.at_ms >= close_ms:
            close = show_duration(int(close_ms))
            raise BadInputError(f"{place}: {str(spec)!r} is after the close; give a time before {close}")
    return [FAULTS[spec.kind](spec.at_ms) for spec in sorted(specs)]


@dataclass(frozen=True)
class FaultEvent:
    """A fault that struck."""

    kind: str
    time_us: int  # wall time


@dataclass
class FaultInjector:
    """Lets faults strike when they are due."""

    pending: list[Fault]  # in the order in which they strike
    engine: Engine
    simulated_ms: Callable[[], float]
    on_strike: Callable[[], object]
    on_restart: Callable[[], object] = lambda: None
    events: list[FaultEvent] = field(default_factory=list)

    def poll(self) -> None:
        if not self.pending or self.simulated_ms() < self.pending[0].at_ms:
            return
        fault = self.pending.pop(0)
        fault.strike(self.engine)
        self.on_strike()
        self.events.append(FaultEvent(fault.kind, time.time_ns() // 1000))
        if fault.restarts:
            self.engine.start()
            self.on_restart()
