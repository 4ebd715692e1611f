"""Helpers of tests that start processes: the command line, waiting for an event, and what is left of a run."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import psutil

Command = Callable[..., subprocess.CompletedProcess[str]]

SPARK = "org.apache.spark.deploy.SparkSubmit"  # in the command line of a JVM of Spark


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so; fail if it does not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def on_terminal(folder: Path, *arguments: str, columns: int = 100, **environment: str) -> str:
    """Run `pairs` on a terminal of its own; return all that it wrote there."""
    own, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    unset = {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}
    known = {name: value for name, value in os.environ.items() if name not in unset} | {"TERM": "xterm"} | environment
    command = [sys.executable, "-m", "pairs.cli", *arguments]
    with subprocess.Popen(command, cwd=folder, env=known, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        written = b"".join(iter(lambda: _read(own), b""))
    os.close(own)
    assert process.returncode in (0, 1), written.decode(errors="replace")
    return written.decode(errors="replace")


def _read(terminal: int) -> bytes:
    """Read what there is; nothing once all programs have left the terminal."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def start_pairs(*arguments: str | Path, **options: object) -> subprocess.Popen[str]:
    """Start `pairs` as a process of its own, with its output in pipes."""
    command = [sys.executable, "-m", "pairs.cli", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **(pipes | options))  # type: ignore[call-overload, no-any-return]


def processes_of(run: Path) -> dict[int, str]:
    """Return the command lines of the processes that have to do with a run, by process id."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(run) in line:
                found[int(folder.name)] = line
    return found


def descendants(pid: int) -> list[psutil.Process]:
    """Return all processes below a process; none if it is gone."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def descendants_with(pid: int, mark: str) -> list[psutil.Process]:
    """Return the processes below a process that have a mark in their command line."""
    found = []
    for child in descendants(pid):
        try:
            if mark in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


def is_alive(process: psutil.Process) -> bool:
    """Say whether a process still runs."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def errors_of(stderr: str) -> str:
    """Return what a command printed to stderr, without warnings and signs of life.

    Small markets cannot have a valid score, and a busy machine starts slowly.
    """
    no_errors = ("pairs: warning: ", "pairs: still ")
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(no_errors))
