"""The drivers of a run: starts them, and tells and shows how far they and the engine are.

An engine that the kit has started and one that somebody else has are played to in the same way.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pairs.config.run_settings import RunSettings
from pairs.core.progress import Progress
from pairs.core.units import show_duration
from pairs.dataset.folder import Dataset
from pairs.harness.live_view import live_view
from pairs.harness.processes import RunProcess
from pairs.harness.recorder import Recorder
from pairs.transport.base import Positions

_TIME_TO_PREPARE_US = 2_000_000  # for the drivers to start and read ahead


@dataclass(frozen=True)
class Replay:
    """What is played: a dataset, at some speed, by some drivers."""

    dataset: Dataset
    settings: RunSettings
    ticks: int | None  # how many there are, if known
    phases_ms: Mapping[str, int]  # when each phase begins, in simulated time, in order
    interval_ms: tuple[int, int]  # the measurement interval, in simulated time
    duration_ms: int

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; none if unpaced."""
        return self.settings.speed if isinstance(self.settings.speed, float) else None

    def phase(self, simulated_ms: float) -> str:
        begun = [name for name, begins in self.phases_ms.items() if begins <= simulated_ms]
        return begun[-1] if begun else "start"


class Playback:
    """The drivers of a run."""

    def __init__(self, replay: Replay, recorder: Recorder) -> None:
        self._replay, self._recorder = replay, recorder
        self._drivers: list[RunProcess] = []
        self.start_us: int | None = None  # when tickTS 0 is due; none if unpaced

    def start(self, began: Callable[[int | None], None]) -> None:
        """Start the drivers; before that, `began` is told when the first tick is due, if the run is paced."""
        if self._replay.speed is not None:
            self.start_us = time.time_ns() // 1000 + _TIME_TO_PREPARE_US
        began(self.start_us)
        self._drivers = [self._start_driver(number) for number in range(self._replay.settings.drivers)]

    def _start_driver(self, number: int) -> RunProcess:
        paced: tuple[object, ...] = ()
        if self.start_us is not None:
            paced = "--speed", self._replay.speed, "--start", self.start_us, "--interval", *self._replay.interval_ms
        arguments = self._recorder.run.path, self._replay.dataset.path.absolute(), "--driver", number, *paced
        return self._recorder.processes.start_module(f"driver-{number}", "pairs.harness.driver", *arguments)

    @property
    def running(self) -> bool:
        return any(driver.running for driver in self._drivers)

    def wait(self) -> None:
        """Wait for drivers that have sent everything, and write their send delays."""
        for driver in self._drivers:
            driver.wait()

    def simulated_ms(self) -> float:
        """Return the simulated time: that of the clock if the run is paced, else of the next tick to consume."""
        if self.start_us is not None and self._replay.speed is not None:
            return (time.time_ns() // 1000 - self.start_us) / 1000 * self._replay.speed
        return float(self._recorder.transport.next_tick_ts() or 0)

    @contextmanager
    def shown(self) -> Iterator[Callable[[Positions], None]]:
        """Give a function that shows where the run is: a live table if it is paced, else a progress bar."""
        replay, speed = self._replay, self._replay.speed
        if speed is None:
            with Progress("running", replay.ticks or 0, "ticks") as progress:
                yield lambda positions: progress.set(positions.read)
            return
        with live_view(self._recorder.run, self._recorder.sampler) as view:

            def show(positions: Positions) -> None:
                simulated_ms = self.simulated_ms()
                elapsed, total = (_clock(span_ms / speed) for span_ms in (simulated_ms, replay.duration_ms))
                view.show(f"{replay.phase(simulated_ms)}, {elapsed} of {total}", positions)

            yield show


def _clock(wall_ms: float) -> str:
    """Write a span of wall time in whole seconds."""
    return show_duration(max(round(wall_ms / 1000), 0) * 1000)
