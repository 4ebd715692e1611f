"""Runs a translated program: starts driver, engine and sink as processes, watches them, and ends them all.

Knows targets only through their interface. Whatever happens, no process is left behind.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pairs.config import RunSettings
from pairs.errors import PairsError
from pairs.harness.ticklog import TickLogReader, create_log
from pairs.progress import Progress, waiting
from pairs.run import Run
from translator.target import Launch, Target

_POLL_S = 0.1
_TIME_TO_END_S = 30


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

    def said(self) -> str:
        """Return the last line that the process printed, or its error."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it said nothing"


class Processes:
    """The processes of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.parts: dict[str, Part] = {}

    def start(self, name: str, command: list[str], folder: Path | None = None) -> Part:
        """Start a process whose output goes to a log of its own."""
        log = self._run.log_file(name)
        with log.open("ab") as target:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=target, stderr=target, start_new_session=True
            )
        self.parts[name] = Part(name, process, log)
        return self.parts[name]

    def check(self) -> None:
        """Raise if a process has ended that should not have."""
        for part in self.parts.values():
            code = part.process.poll()
            if code not in (None, 0):
                raise PairsError(f"the {part.name} ended with exit code {code}: {part.said()}; see {part.log}")

    def end_all(self) -> None:
        """End whatever still runs."""
        for part in self.parts.values():
            if part.process.poll() is None:
                part.end(signal.SIGKILL)


@contextmanager
def _processes(run: Run) -> Iterator[Processes]:
    processes = Processes(run)
    try:
        yield processes
    finally:
        processes.end_all()


@dataclass(frozen=True)
class Unpaced:
    """How fast a program took the ticks: with its start, and once it was going."""

    seconds: float
    ticks_per_second: float | None  # between its first and its last word of progress


def run_unpaced(run: Run, dataset: Path, ticks: int | None, target: Target, settings: RunSettings) -> Unpaced:
    """Play a dataset to a program as fast as it can take it."""
    module = [sys.executable, "-m"]
    create_log(run.log_folder)
    with _processes(run) as processes:
        sink = processes.start("sink", [*module, "pairs.harness.sink", str(run.path), str(run.port_file)])
        driver = processes.start("driver", [*module, "pairs.harness.driver", str(dataset), str(run.log_folder)])
        with waiting("starting"):
            _wait_for(processes, run.port_file)
        launch = Launch(
            app=run.app_folder,
            source=run.log_folder,
            sink=f"127.0.0.1:{run.port_file.read_text()}",
            checkpoint=run.checkpoint_folder,
            master=settings.master,
            settings=settings.settings,
        )
        started = time.perf_counter()
        engine = processes.start("engine", target.command(launch), run.app_folder)
        speed = _wait_for_end(processes, engine, TickLogReader(run.log_folder), ticks)
        seconds = time.perf_counter() - started
        if driver.process.poll() is None:
            raise PairsError(f"the engine ended before it had read all ticks; see {engine.log}")
        sink.end(signal.SIGTERM)
        processes.check()
    run.remove_scratch()
    return Unpaced(seconds, speed)


def _wait_for(processes: Processes, path: Path) -> None:
    while not path.exists():
        processes.check()
        time.sleep(_POLL_S / 10)


def _wait_for_end(processes: Processes, engine: Part, log: TickLogReader, ticks: int | None) -> float | None:
    """Wait for the engine to end, and show how far it is; return its speed between first and last word of progress."""
    marks: list[tuple[float, int]] = []
    with Progress("running", ticks or 0, "ticks") as progress:
        while engine.process.poll() is None:
            processes.check()
            time.sleep(_POLL_S)
            done = log.done
            progress.set(done)
            if done and (not marks or done > marks[-1][1]):
                marks.append((time.perf_counter(), done))
    processes.check()
    if len(marks) < 2:
        return None
    (first, done_first), (last, done_last) = marks[0], marks[-1]
    return (done_last - done_first) / (last - first)
