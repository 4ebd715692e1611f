"""Runs a translated program: starts sink, engine and drivers, watches them, and returns how the run went.

Knows targets and transports only through their interfaces. Whatever happens, no process is left behind.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from signal import SIGTERM

from pairs.config.run_settings import RunSettings
from pairs.core.errors import BadInputError, PairsError
from pairs.core.progress import Progress, waiting
from pairs.core.units import show_duration
from pairs.dataset.folder import Dataset
from pairs.harness.faults import FaultEvent, FaultInjector, find_faults
from pairs.harness.live_view import live_view
from pairs.harness.machine import MachineSampler
from pairs.harness.processes import ENGINE, SINK, TIME_TO_END_S, Engine, EngineError, Processes, RunProcess
from pairs.harness.resources import Sampler
from pairs.harness.sink import finalize_answers
from pairs.harness.throughput import Throughput
from pairs.run_folder.folder import Run
from pairs.translator.target import Launch, Target
from pairs.transport.base import Positions, Transport

_POLL_S = 0.1
_TIME_TO_PREPARE_US = 2_000_000  # for the drivers to start and read ahead


@dataclass(frozen=True)
class Job:
    """What is to be run: a dataset, played at some speed by some drivers, to a program of a target."""

    dataset: Dataset
    target: Target
    plan: str
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


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    seconds: float  # with the start of the engine
    start_us: int | None  # when tickTS 0 was due; none if unpaced
    ticks_per_second: float | None  # between the engine's first and last progress
    faults: tuple[FaultEvent, ...]
    exit_codes: dict[str, int | None]


class OverloadedError(EngineError):
    """The engine could not keep up with the ticks."""


def execute(run: Run, job: Job, transport: Transport, began: Callable[[int | None], None] = lambda _: None) -> Outcome:
    """Run a program on a dataset until its last answer; whatever happens, end all processes.

    `began` is told when the first tick is due, us of wall time, or nothing if the run is unpaced.
    """
    supervisor = _Supervisor(run, job, transport)
    try:
        outcome = supervisor.execute(began)
    except BaseException:
        supervisor.end()
        with suppress(PairsError):  # the reason is what counts
            supervisor.write_records()
        raise
    supervisor.end()
    supervisor.write_records()
    return outcome


class _Supervisor:
    def __init__(self, run: Run, job: Job, transport: Transport) -> None:
        self._run, self._job, self._transport = run, job, transport
        self._processes = Processes(run)
        self._throughput = Throughput()
        self._sampler = Sampler(self._part_of)
        self._machine = MachineSampler()
        self._start_us: int | None = None

    @waiting("ending all processes")
    def end(self) -> None:
        self._processes.end_all()
        self._transport.remove()  # before anything is written: if the disk is full, this makes room
        shutil.rmtree(self._run.checkpoint_folder, ignore_errors=True)

    @waiting("writing what was recorded")
    def write_records(self) -> None:
        try:
            self._run.write_parquet(self._run.resources_file, self._sampler.table())
            self._run.write_parquet(self._run.machine_file, self._machine.table())
            self._run.write_parquet(self._run.throughput_file, self._throughput.table())
            finalize_answers(self._run)
        except BadInputError as error:  # no input is at fault: it is the disk
            raise PairsError(str(error)) from None

    def execute(self, began: Callable[[int | None], None]) -> Outcome:
        run, job, processes, transport = self._run, self._job, self._processes, self._transport
        transport.create()
        sink = processes.start_module(SINK, "pairs.harness.sink", run.path)
        started = time.perf_counter()
        with waiting(f"starting {job.target.name}"):
            self._wait_until(lambda: transport.sink is not None)
            ends = transport.source, transport.sink or ""
            launch = Launch(run.app_folder, *ends, run.checkpoint_folder, run.progress_file, job.settings.settings)
            engine = Engine(processes, job.target.command(launch), run.app_folder)
            self._wait_until(lambda: transport.ready, engine)
        if job.speed is not None:
            self._start_us = time.time_ns() // 1000 + _TIME_TO_PREPARE_US
        began(self._start_us)
        drivers = [self._start_driver(number) for number in range(job.settings.drivers)]
        faults, note = find_faults(job.settings.faults), partial(self._note, force=True)
        injector = FaultInjector(faults, engine, self._simulated_ms, note, self._throughput.engine_restarted)
        self._watch(engine, injector)
        seconds = time.perf_counter() - started
        if not transport.positions().closed:
            raise EngineError(f"the engine ended before it had read all ticks; see {engine.process.log}")
        with waiting("collecting the last answers"):
            for driver in drivers:  # they have sent everything, and write their send delays
                driver.process.wait(TIME_TO_END_S)
            sink.end(SIGTERM)
        processes.check()
        speed = self._throughput.ticks_per_second()
        return Outcome(seconds, self._start_us, speed, tuple(injector.events), processes.exit_codes())

    def _start_driver(self, number: int) -> RunProcess:
        paced: tuple[object, ...] = ()
        if self._start_us is not None:
            paced = "--speed", self._job.speed, "--start", self._start_us, "--interval", *self._job.interval_ms
        arguments = self._run.path, self._job.dataset.path.absolute(), "--driver", number, *paced
        return self._processes.start_module(f"driver-{number}", "pairs.harness.driver", *arguments)

    def _wait_until(self, condition: Callable[[], bool], engine: Engine | None = None) -> None:
        while not condition():
            self._processes.check()
            if engine is not None and not engine.process.running:
                raise EngineError(f"the engine ended before it was ready; see {engine.process.log}")
            time.sleep(_POLL_S / 10)

    def _part_of(self, process: str, name: str, command: list[str]) -> str:
        return self._job.target.process_role(name, command) if process == ENGINE else process

    def _note(self, force: bool = False) -> Positions:
        positions = self._transport.positions()
        self._throughput.note(positions, force)
        return positions

    def _simulated_ms(self) -> float:
        """Return the simulated time: that of the clock if the run is paced, else of the next tick to consume."""
        if self._start_us is not None and self._job.speed is not None:
            return (time.time_ns() // 1000 - self._start_us) / 1000 * self._job.speed
        return float(self._transport.next_tick_ts() or 0)

    def _watch(self, engine: Engine, injector: FaultInjector) -> None:
        """Wait for the engine to end; sample, show and inject faults meanwhile."""
        try:
            with self._shown() as show:
                while engine.process.running:
                    self._processes.check()
                    positions = self._note()
                    self._refuse_hopeless(engine)
                    injector.poll()
                    if self._sampler.due():
                        self._sampler.sample(self._processes.pids())
                        self._machine.sample()
                    show(positions)
                    time.sleep(_POLL_S)
        finally:
            self._note(force=True)
        self._processes.check()

    def _refuse_hopeless(self, engine: Engine) -> None:
        """End a run whose engine stands still, or falls ever further behind the drivers."""
        settings = self._job.settings
        if self._throughput.stalled_s() * 1000 > settings.stall_timeout:
            raise EngineError(
                f"the engine consumed no tick for {show_duration(settings.stall_timeout)}, though there were some; see "
                f"{engine.process.log}, or give a longer --stall-timeout"
            )
        if self._job.speed is not None and self._throughput.behind_s() * 1000 > settings.max_behind:
            raise OverloadedError(
                f"OVERLOADED: the engine is more than {show_duration(settings.max_behind)} behind the ticks produced; "
                "lower the scale factor or the speed, or allow more with --max-behind"
            )

    @contextmanager
    def _shown(self) -> Iterator[Callable[[Positions], None]]:
        """Give a function that shows where the run is: a live table if it is paced, else a progress bar."""
        job, speed = self._job, self._job.speed
        if speed is None:
            with Progress("running", job.ticks or 0, "ticks") as progress:
                yield lambda positions: progress.set(positions.consumed)
            return
        with live_view(self._run, self._sampler) as view:

            def show(positions: Positions) -> None:
                simulated_ms = self._simulated_ms()
                elapsed_s, total_s = simulated_ms / 1000 / speed, job.duration_ms / 1000 / speed
                view.show(job.phase(simulated_ms), elapsed_s, total_s, positions)

            yield show
