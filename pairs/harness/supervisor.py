"""Runs a translated program: starts driver, engine and sink as processes, watches them, and ends them all.

Knows targets only through their interface. Whatever happens, no process is left behind.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from pairs.config.run_settings import RunSettings
from pairs.core.errors import BadInputError, PairsError
from pairs.core.progress import Progress, waiting
from pairs.core.spark import DEFAULT_MASTER
from pairs.core.units import show_duration
from pairs.dataset.folder import Dataset
from pairs.harness.live_view import Display, Situation
from pairs.harness.resources import Pace, Sampler
from pairs.harness.sink import settle
from pairs.run_folder.folder import Run
from pairs.translator.target import Launch, Target
from pairs.transport.ticklog import TickLogReader, create_log

_SINK = "sink"
_ENGINE = "engine"
_POLL_S = 0.1
_LITTLE_ROOM = 1 << 20  # bytes: a disk with less is full
_TIME_TO_END_S = 30
_TIME_TO_PREPARE_US = 2_000_000  # for the drivers to start and read ahead


@dataclass
class Part:
    """One process of a run, in a group of its own, with its log."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def end(self, how: signal.Signals) -> int:
        """Send a signal to the process and its children; return the exit code."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, how)
        try:
            return self.process.wait(_TIME_TO_END_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()

    def kill_all(self) -> None:
        """Kill the process and all below it at once, also those in process groups of their own."""
        with suppress(psutil.Error):
            root = psutil.Process(self.process.pid)
            for process in (root, *root.children(recursive=True)):
                with suppress(psutil.Error):
                    process.kill()
        self.process.wait()

    def said(self) -> str:
        """Return the last line that the process printed, or its error."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it said nothing"


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # of Linux's prctl: the signal that a process gets when the one that started it dies


def _end_with_the_run() -> None:
    """Let a new process end also if the run is killed and cannot end it."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Processes:
    """The processes of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.parts: dict[str, Part] = {}
        self.sampler, self.pace = Sampler(), Pace()

    def start(self, name: str, command: list[str], folder: Path | None = None) -> Part:
        """Start a process whose output goes to a log of its own."""
        log = self._run.log_file(name)
        with log.open("ab") as target:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=target,
                stderr=target,
                start_new_session=True,
                preexec_fn=_end_with_the_run,
            )
        self.parts[name] = Part(name, process, log)
        return self.parts[name]

    def check(self) -> None:
        """Raise if a process has ended that should not have."""
        for part in self.parts.values():
            code = part.process.poll()
            if code not in (None, 0):
                raise self._reason(part, code)

    def _reason(self, part: Part, code: int) -> PairsError:
        """Return why a process has ended."""
        if shutil.disk_usage(self._run.path).free < _LITTLE_ROOM:
            return PairsError(
                f"{self._run.path}: no space left on the disk, so the {part.name} ended; make room there, or give "
                "another folder with -o"
            )
        if code == BadInputError.exit_code and part.name.startswith("driver"):  # it met a tick that is none
            return BadInputError(part.said().removeprefix("pairs: "))
        kind = EngineError if part.name == _ENGINE else PairsError
        return kind(f"the {part.name} ended with exit code {code}: {part.said()}; see {part.log}")

    def keep_records(self) -> None:
        """Write down what the processes did, and what they answered."""
        try:
            self._run.write_parquet(self._run.resources_file, self.sampler.table())
            self._run.write_parquet(self._run.pace_file, self.pace.table())
            settle(self._run)
        except BadInputError as error:  # nobody's input: the disk
            raise PairsError(str(error)) from None

    def end_all(self) -> None:
        """End whatever still runs: the sink last, and gently, so that it can write down what it has."""
        for part in sorted(self.parts.values(), key=lambda one: one.name == _SINK):
            if part.process.poll() is None:
                part.end(signal.SIGTERM if part.name == _SINK else signal.SIGKILL)
        self._run.remove_scratch()  # before anything is written: if the disk is full, this makes room


@contextmanager
def _processes(run: Run) -> Iterator[Processes]:
    """Give the processes of a run; whatever happens, they end, and what they recorded is kept and readable."""
    processes = Processes(run)
    try:
        yield processes
    except BaseException:
        processes.end_all()
        with suppress(PairsError):  # the reason is what counts
            processes.keep_records()
        raise
    processes.end_all()
    processes.keep_records()


@dataclass(frozen=True)
class Job:
    """What is to be run: a dataset, played at some pace by some drivers, to a program of a target."""

    dataset: Dataset
    target: Target
    settings: RunSettings
    ticks: int | None  # how many there are, if known
    phases_ms: Mapping[str, int]  # when each phase begins, in simulated time, in order
    duration_ms: int

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; none if unpaced."""
        return None if isinstance(self.settings.speed, str) else float(self.settings.speed)

    def phase(self, simulated_ms: float) -> str:
        """Return the phase that a time belongs to."""
        begun = [name for name, begins in self.phases_ms.items() if begins <= simulated_ms]
        return begun[-1] if begun else "start"


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    seconds: float  # with the start of the engine
    start_us: int | None  # when tickTS 0 was due; none if unpaced
    ticks_per_second: float | None  # between the engine's first and last word of progress
    kills_us: list[int]  # when the engine was killed, wall time
    exit_codes: dict[str, int | None]


class EngineError(PairsError):
    """The engine did not do what it should; the harness did."""


class OverloadedError(EngineError):
    """The engine could not keep up with the ticks."""


def execute(run: Run, job: Job, began: Callable[[int | None], None] = lambda _: None) -> Outcome:
    """Run a program on a dataset until its last answer; whatever happens, end all processes.

    `began` is told when the first tick is due, us of wall time, or nothing if the run is unpaced.
    """
    create_log(run.log_folder, job.settings.drivers)
    with _processes(run) as processes:
        sink = processes.start(_SINK, _module("sink", run.path, run.port_file, run.sink_status_file))
        started = time.perf_counter()
        with waiting(f"starting {job.target.name}"):
            _wait_for(processes, run.port_file)
            start_engine = partial(processes.start, _ENGINE, job.target.command(_launch(run, job)), run.app_folder)
            start_engine()
            _wait_for(processes, run.sink_status_file)
        start_us = None if job.speed is None else time.time_ns() // 1000 + _TIME_TO_PREPARE_US
        began(start_us)
        drivers = [
            processes.start(f"driver-{number}", _driver_command(run, job, number, start_us))
            for number in range(job.settings.drivers)
        ]
        faults = Faults(job, start_us, start_engine)
        speed = _watch(processes, run, job, start_us, faults)
        seconds = time.perf_counter() - started
        if not TickLogReader(run.log_folder).closed:
            raise EngineError(f"the engine ended before it had read all ticks; see {run.log_file(_ENGINE)}")
        for driver in drivers:  # they have sent everything, and write down how late they were
            driver.process.wait(_TIME_TO_END_S)
        sink.end(signal.SIGTERM)
        processes.check()
        codes = {name: part.process.poll() for name, part in processes.parts.items()}
    return Outcome(seconds, start_us, speed, faults.kills_us, codes)


def _module(name: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", f"pairs.harness.{name}", *map(str, arguments)]


def _launch(run: Run, job: Job) -> Launch:
    return Launch(
        app=run.app_folder,
        source=run.log_folder,
        sink=f"127.0.0.1:{run.port_file.read_text()}",
        checkpoint=run.checkpoint_folder,
        progress=run.progress_file,
        master=job.settings.settings.get("master", DEFAULT_MASTER),
        settings={name: value for name, value in job.settings.settings.items() if name != "master"},
    )


def _driver_command(run: Run, job: Job, number: int, start_us: int | None) -> list[str]:
    which = ("--driver", number, "--drivers", job.settings.drivers)
    pace = () if start_us is None else ("--speed", job.speed, "--start", start_us, "--run", run.path)
    return _module("driver", job.dataset.path.absolute(), run.log_folder, *which, *pace)


def _wait_for(processes: Processes, path: Path) -> None:
    while not path.exists():
        processes.check()
        engine = processes.parts.get(_ENGINE)
        if engine is not None and engine.process.poll() is not None:
            raise EngineError(f"the engine ended before it was ready; see {engine.log}")
        time.sleep(_POLL_S / 10)


class Faults:
    """Kills the engine when it is time to, and starts it again; drivers go on meanwhile."""

    def __init__(self, job: Job, start_us: int | None, start_engine: Callable[[], Part]) -> None:
        self._pending = [fault.at_ms for fault in job.settings.faults]
        self._start_us, self._speed = start_us, job.speed
        self._start_engine = start_engine
        self.kills_us: list[int] = []

    def strike(self, engine: Part, log: TickLogReader, pace: Pace) -> None:
        """Kill the engine and start it again if a fault is due; note how far it had come."""
        if not self._pending or self._simulated_ms(log) < self._pending[0]:
            return
        self._pending.pop(0)
        engine.kill_all()
        pace.note(log.written, log.done, in_any_case=True)
        self.kills_us.append(time.time_ns() // 1000)
        self._start_engine()

    def _simulated_ms(self, log: TickLogReader) -> float:
        """Return the simulated time: that of the clock if the run is paced, else of the next tick to take, if any."""
        if self._start_us is not None and self._speed is not None:
            return (time.time_ns() // 1000 - self._start_us) / 1000 * self._speed
        place = log.done
        return float(next(log.read(place, place + 1))["tickTS"][0]) if place < log.written else 0.0


def _watch(processes: Processes, run: Run, job: Job, start_us: int | None, faults: Faults) -> float | None:
    """Wait for the engine to end, sample and show meanwhile; return its speed between first and last progress."""
    log, sampler, pace = TickLogReader(run.log_folder), processes.sampler, processes.pace
    try:
        with _shown(run, job, start_us) as show:
            while (engine := processes.parts[_ENGINE]).process.poll() is None:
                processes.check()
                pace.note(log.written, log.done)
                _refuse_hopeless(job, pace, engine)
                faults.strike(engine, log, pace)
                if sampler.due():
                    sampler.sample({name: part.process.pid for name, part in processes.parts.items()})
                show(log, sampler)
                time.sleep(_POLL_S)
    finally:
        pace.note(log.written, log.done, in_any_case=True)
    processes.check()
    return pace.ticks_per_second()


def _refuse_hopeless(job: Job, pace: Pace, engine: Part) -> None:
    """End a run whose engine stands still, or falls ever further behind the ticks sent."""
    if pace.stalled_s() * 1000 > job.settings.stall_timeout:
        limit = show_duration(job.settings.stall_timeout)
        raise EngineError(
            f"the engine took no tick for {limit}, though there were some; see {engine.log}, or give a longer "
            "--stall-timeout"
        )
    if job.speed is not None and pace.behind_s() * 1000 > job.settings.max_behind:
        limit = show_duration(job.settings.max_behind)
        raise OverloadedError(
            f"OVERLOADED: the engine is more than {limit} behind the ticks sent; lower the scale factor or the "
            "speed, or allow more with --max-behind"
        )


@contextmanager
def _shown(run: Run, job: Job, start_us: int | None) -> Iterator[Callable[[TickLogReader, Sampler], None]]:
    """Give a function that shows where the run is: a live table if it is paced, else a progress bar."""
    if job.speed is None or start_us is None:
        with Progress("running", job.ticks or 0, "ticks") as progress:
            yield lambda log, _: progress.set(log.done)
        return
    speed = job.speed
    with Display(run.sink_status_file) as display:

        def show(log: TickLogReader, sampler: Sampler) -> None:
            elapsed = time.time() - start_us / 1e6
            phase = job.phase(elapsed * 1000 * speed)
            total = job.duration_ms / 1000 / speed
            display.show(Situation(phase, elapsed, total, log.written, log.done, sampler.cores(), sampler.memory()))

        yield show
