"""Ends processes together with all that they started, so that none outlives the process that started it."""

import ctypes
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

import psutil

_PATIENCE_S = 5.0  # for a process to end by itself, once it is asked to
_POLL_S = 0.02
_ROUNDS = 5
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # of Linux's prctl: the signal that a process gets when its parent dies
_PR_SET_CHILD_SUBREAPER = 36  # processes below this one become its children when their parent dies


_left_running: set[int] = set()


def leave_running(pid: int) -> None:
    """Let a process, and all below it, outlive this one."""
    _left_running.add(pid)


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose parent dies, so that it can still be found."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Let this process be killed when its parent dies, even if the parent is killed itself."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process runs, or its last threads do; one that nobody has waited for yet does not."""
    with suppress(psutil.Error):
        return process.is_running() and (process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1)
    return False


def tree(pid: int) -> list[psutil.Process]:
    """Return a process and all below it; nothing if it is gone."""
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()


def end_tree(pid: int) -> None:
    """Ask a process and all below it to end; kill those that do not."""
    _end(tree(pid))


def end_descendants() -> None:
    """Ask every process below this one to end; kill those that do not, and what they start meanwhile."""
    _end(_descendants())
    for _ in range(_ROUNDS):
        if not (left := _descendants()):
            return
        kill(left)
        survivors(left)


def _descendants() -> list[psutil.Process]:
    spared = {process.pid for pid in _left_running for process in tree(pid)}
    below = psutil.Process().children(recursive=True)
    return [process for process in below if process.pid not in spared and is_alive(process)]


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    left = survivors(processes)
    kill(left)
    survivors(left)


def survivors(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Wait for processes to end; return those that have not when patience ends."""
    deadline = time.monotonic() + _PATIENCE_S
    while (left := [process for process in processes if is_alive(process)]) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return left
