"""Runs a translated program: starts sink, engine and drivers, watches them, and returns how the run went.

Knows targets and transports only through their interfaces. Whatever happens, no process is left behind.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from signal import SIGTERM

from pairs.core.affinity import usable_cores
from pairs.core.interrupts import interruptible, uninterrupted
from pairs.core.progress import waiting
from pairs.core.units import show_duration
from pairs.harness.faults import FaultEvent, FaultInjector, find_faults
from pairs.harness.playback import Playback, Replay
from pairs.harness.processes import ENGINE, SINK, Engine, EngineError, RunProcess
from pairs.harness.recorder import Recorder
from pairs.run_folder.folder import Run
from pairs.translator.target import Connector, Launch, Target
from pairs.transport.base import Transport

_POLL_S = 0.1
_TIME_TO_START_MS = 300_000  # for sink and engine; a cluster may let an engine wait


@dataclass(frozen=True)
class Job:
    """What is to be run: a dataset, played at some speed by some drivers, to a program of a target."""

    replay: Replay
    target: Target
    plan: str
    connector: Connector = field(default_factory=Connector)


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
    with uninterrupted(), supervisor.recorder, interruptible():
        return supervisor.execute(began)


class _Supervisor:
    def __init__(self, run: Run, job: Job, transport: Transport) -> None:
        self._run, self._job, self._transport = run, job, transport
        self._workers = partial(job.target.workers, job.replay.settings.settings)
        self.recorder = Recorder(run, transport, self._part_of, self._workers())
        self._processes, self._throughput = self.recorder.processes, self.recorder.throughput
        self._playback = Playback(job.replay, self.recorder)

    def execute(self, began: Callable[[int | None], None]) -> Outcome:
        run, job, processes, transport = self._run, self._job, self._processes, self._transport
        transport.create(processes.start_service)
        sink = processes.start_module(SINK, "pairs.harness.sink", run.path)
        started = time.perf_counter()
        with waiting(f"starting {job.target.name}"):
            self._wait_until(lambda: transport.sink is not None, sink)
            engine = self._start_engine()
            self._wait_until(lambda: transport.ready, engine.process)
        playback = self._playback
        playback.start(began)
        faults, note = find_faults(job.replay.settings.faults), partial(self.recorder.note, force=True)
        injector = FaultInjector(faults, engine, playback.simulated_ms, note, self._throughput.engine_restarted)
        self._watch(engine, injector)
        seconds = time.perf_counter() - started
        if not transport.positions().closed:
            raise EngineError(f"the engine ended before it had read all ticks; see {engine.process.log}")
        with waiting("collecting the last answers"):
            playback.wait()
            sink.end(SIGTERM)
        processes.check()
        speed = self._throughput.ticks_per_second()
        return Outcome(seconds, playback.start_us, speed, tuple(injector.events), processes.exit_codes())

    def _start_engine(self) -> Engine:
        run, target, settings = self._run, self._job.target, self._job.replay.settings
        ends = self._transport.source, self._transport.sink or ""
        places = run.checkpoint_folder, run.progress_file
        jars = self._job.connector.jars
        launch = Launch(run.app_folder, *ends, *places, settings.settings, jars, settings.cores)
        cores = () if target.cluster(settings.settings) else usable_cores()[: settings.cores]
        return Engine(self._processes, target.command(launch), run.app_folder, self._workers, cores)

    def _wait_until(self, ready: Callable[[], bool], process: RunProcess) -> None:
        """Wait for a process to be ready; not for ever."""
        limit_ms = max(_TIME_TO_START_MS, self._job.replay.settings.stall_timeout)
        deadline = time.monotonic() + limit_ms / 1000
        while not ready():
            self._processes.check()
            if not process.running:
                raise EngineError(f"the {process.name} ended before it was ready; see {process.log}")
            if time.monotonic() > deadline:
                waited = f"the {process.name} was not ready within {show_duration(limit_ms)}"
                raise EngineError(f"{waited}; see {process.log}, or give a longer --stall-timeout")
            time.sleep(_POLL_S / 10)

    def _part_of(self, process: str, name: str, command: list[str]) -> str:
        return self._job.target.process_role(name, command) if process == ENGINE else process

    def _watch(self, engine: Engine, injector: FaultInjector) -> None:
        """Wait for the engine to end; sample, show and inject faults meanwhile."""
        try:
            with self._playback.shown() as show:
                while engine.process.running:
                    self._processes.check()
                    positions = self.recorder.note()
                    self._refuse_hopeless(engine)
                    injector.poll()
                    self.recorder.sample()
                    show(positions)
                    time.sleep(_POLL_S)
        finally:
            self.recorder.note(force=True)
        self._processes.check()

    def _refuse_hopeless(self, engine: Engine) -> None:
        """End a run whose engine stands still, or falls ever further behind the drivers."""
        settings = self._job.replay.settings
        if self._throughput.stalled_s() * 1000 > settings.stall_timeout:
            raise EngineError(
                f"the engine consumed no tick for {show_duration(settings.stall_timeout)}, though there were some; see "
                f"{engine.process.log}, or give a longer --stall-timeout"
            )
        if self._job.replay.speed is not None and self._throughput.behind_s() * 1000 > settings.max_behind:
            raise OverloadedError(
                f"OVERLOADED: the engine is more than {show_duration(settings.max_behind)} behind the ticks produced; "
                "lower the scale factor or the speed, or allow more with --max-behind"
            )
