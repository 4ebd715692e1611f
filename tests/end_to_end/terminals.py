"""Commands that run beside each other, each as in a terminal of its own."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from tests.processes import wait_until

TIME_S = 240  # on a busy machine Spark takes a minute to start


class Terminal:
    """A shell command that is under way; `pairs` and `python` are those of this environment."""

    def __init__(self, folder: Path, number: int, command: str) -> None:
        self._output = folder / f"terminal-{number}"
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        with self._output.open("w") as output:
            self.process = subprocess.Popen(
                ["bash", "-c", command], cwd=folder, env=environment, stdout=output, stderr=output
            )

    @property
    def output(self) -> str:
        """What it has printed so far, errors included."""
        return self._output.read_text()

    def wait_for(self, text: str) -> None:
        """Wait until it has printed something."""
        wait_until(lambda: text in self.output or self.process.poll() is not None, TIME_S)
        assert text in self.output, self.output

    def finish(self) -> tuple[int, str]:
        """Wait until it ends; return its exit code and what it printed."""
        return self.process.wait(TIME_S), self.output

    def kill(self) -> None:
        """Kill it and all below it."""
        with suppress(psutil.Error):
            root = psutil.Process(self.process.pid)
            for process in (*root.children(recursive=True), root):
                process.kill()
        self.process.wait()


class Terminals:
    """Terminals in one folder; what a failed test has left in them is killed in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened: list[Terminal] = []

    def open(self, command: str) -> Terminal:
        """Start a command."""
        self._opened.append(Terminal(self.folder, len(self._opened), command))
        return self._opened[-1]

    def run(self, command: str) -> str:
        """Run a command that must succeed; return what it printed."""
        code, output = self.open(command).finish()
        assert code == 0, output
        return output

    def close(self) -> None:
        """Kill what still runs."""
        for terminal in self._opened:
            terminal.kill()
