"""The processes of a run: starts them, watches them, and ends them all, whatever happens."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pairs.core.affinity import bind_to
from pairs.core.errors import BadInputError, PairsError
from pairs.core.process_tree import end_with_parent, kill, survivors, tree
from pairs.run_folder.folder import Run

SINK = "sink"
ENGINE = "engine"
TIME_TO_END_S = 30
_FULL_DISK_BYTES = 1 << 20  # a disk with less room is full


class EngineError(PairsError):
    """The engine did not do what it should; the harness did."""


@dataclass(frozen=True)
class RunProcess:
    """A process of a run, in a group of its own, with its log."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def end(self, how: signal.Signals) -> int:
        """Send a signal to the process and its group; return the exit code."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, how)
        try:
            return self.process.wait(TIME_TO_END_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()

    def wait(self) -> None:
        """Wait for the process to end by itself."""
        try:
            self.process.wait(TIME_TO_END_S)
        except subprocess.TimeoutExpired:
            raise PairsError(f"the {self.name} did not end within {TIME_TO_END_S} s; see {self.log}") from None

    def kill_tree(self) -> None:
        """Kill the process and all below it at once, also those in groups of their own."""
        if self.running:
            kill(tree(self.process.pid))
            self.process.wait()

    def last_log_line(self) -> str:
        """Return the last line that the process printed: its error, if it failed."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it printed nothing"


class Processes:
    """All processes of a run, by name."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._by_name: dict[str, RunProcess] = {}
        self._services: set[str] = set()

    def start(self, name: str, command: list[str], folder: Path | None = None, cores: Sequence[int] = ()) -> RunProcess:
        """Start a process whose output goes to a log of its own; it and all below it use these cores, or any."""
        log = self._run.log_file(name)

        def prepare() -> None:
            end_with_parent()
            bind_to(cores)

        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=prepare,
            )
        self._by_name[name] = RunProcess(name, process, log)
        return self._by_name[name]

    def start_module(self, name: str, module: str, *arguments: object) -> RunProcess:
        return self.start(name, [sys.executable, "-m", module, *map(str, arguments)])

    def start_service(self, name: str, command: list[str]) -> Callable[[], None]:
        """Start a process that others need to the end; return what raises an error if one has ended."""
        self.start(name, command)
        self._services.add(name)
        return self.check

    def pids(self) -> dict[str, int]:
        return {name: process.process.pid for name, process in self._by_name.items()}

    def exit_codes(self) -> dict[str, int | None]:
        """Return the exit codes by name; none for a process that still runs."""
        return {name: process.process.poll() for name, process in self._by_name.items()}

    def check(self) -> None:
        for process in self._by_name.values():
            code = process.process.poll()
            if code not in (None, 0):
                raise self._reason(process, code)

    def _reason(self, process: RunProcess, code: int) -> PairsError:
        if shutil.disk_usage(self._run.path).free < _FULL_DISK_BYTES:
            reason = f"no space left on the disk, so the {process.name} ended"
            return PairsError(f"{self._run.path}: {reason}; make room there, or give another folder with -o")
        if code == BadInputError.exit_code and process.name.startswith("driver"):  # it met an invalid tick
            return BadInputError(process.last_log_line().removeprefix("pairs: "))
        kind = EngineError if process.name == ENGINE else PairsError
        return kind(f"the {process.name} ended with exit code {code}: {process.last_log_line()}; see {process.log}")

    def end_all(self) -> None:
        """End whatever still runs: the sink late, and gently, so that it can write down what it has; services last."""
        for process in sorted(self._by_name.values(), key=self._late):
            if process.name == SINK and process.running:
                process.end(signal.SIGTERM)
            else:
                process.kill_tree()

    def _late(self, process: RunProcess) -> int:
        return 2 if process.name in self._services else int(process.name == SINK)


class Engine:
    """The engine of a run, which faults may kill and start again; `workers` finds those of its cluster."""

    def __init__(
        self,
        processes: Processes,
        command: list[str],
        folder: Path,
        workers: Callable[[], list[int]] = list,
        cores: Sequence[int] = (),  # that it may use; empty: all
    ) -> None:
        self._start = partial(processes.start, ENGINE, command, folder, cores)
        self._workers = workers
        self.start()

    def start(self) -> None:
        self.process = self._start()

    def kill(self) -> None:
        self.process.kill_tree()

    def kill_worker(self) -> None:
        """Kill a worker of this machine that has executors: the worker first, so that it cannot start them again."""
        trees = [found for pid in self._workers() if len(found := tree(pid)) > 1]
        if not trees:
            raise EngineError("no worker of the cluster has an executor on this machine, so none could be killed")
        kill(trees[0])
        if survivors(trees[0]):
            raise EngineError(f"worker {trees[0][0].pid} could not be killed; is it another user's?")
