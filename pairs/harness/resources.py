"""Samples what the processes of a run use every second: CPU, memory, disk. What is not known is missing, not zero."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

import psutil
import pyarrow as pa

SAMPLES = pa.schema(
    {
        "time": pa.int64(),  # us of wall time
        "part": pa.string(),  # a process of the harness, or a role in the engine: driver-0, sink, engine JVM
        "cpu_seconds": pa.float64(),  # used since the sample before
        "rss_bytes": pa.int64(),
        "read_bytes": pa.int64(),  # from disk since the sample before; missing where the system does not tell
        "written_bytes": pa.int64(),
        "processes": pa.int64(),
    }
)

_EVERY_S = 1.0

Role = Callable[[str, str, list[str]], str]  # the part that a process belongs to: its tree, its name, its command line


@dataclass(frozen=True)
class _Usage:
    """What a process has used since it began, and the memory it has."""

    cpu_seconds: float
    rss_bytes: int
    read_bytes: int | None
    written_bytes: int | None

    def since(self, before: "_Usage | None") -> "_Usage":
        """Return what was used since an earlier sample."""
        if before is None:
            return self
        return _Usage(
            self.cpu_seconds - before.cpu_seconds,
            self.rss_bytes,
            _difference(self.read_bytes, before.read_bytes),
            _difference(self.written_bytes, before.written_bytes),
        )


def _difference(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


class Sampler:
    """Follows the process trees of a run."""

    def __init__(self, role: Role = lambda tree, _name, _command: tree) -> None:
        self._role = role
        self._seen: dict[psutil.Process, _Usage] = {}
        self._sampled_at = 0.0
        self._seconds = 1.0
        self._latest: dict[str, _Usage] = {}
        self._rows: list[dict[str, object]] = []

    def due(self) -> bool:
        """Say whether it is time for the next sample."""
        return time.monotonic() - self._sampled_at >= _EVERY_S

    def cores(self) -> dict[str, float]:
        """Return how many cores each part used lately."""
        return {part: usage.cpu_seconds / self._seconds for part, usage in self._latest.items()}

    def memory(self) -> dict[str, int]:
        """Return how much memory each part has."""
        return {part: usage.rss_bytes for part, usage in self._latest.items()}

    def sample(self, roots: Mapping[str, int]) -> None:
        """Sample the trees of processes, given by name and process id of their roots."""
        now = time.time_ns() // 1000
        self._seconds, self._sampled_at = time.monotonic() - self._sampled_at, time.monotonic()
        found: dict[str, list[_Usage]] = {}
        for tree, pid in roots.items():
            for process in _tree(pid):
                with suppress(psutil.Error):  # it is gone
                    usage = _usage_of(process)
                    part = self._role(tree, process.name(), process.cmdline())  # it may have become another program
                    found.setdefault(part, []).append(usage.since(self._seen.get(process)))
                    self._seen[process] = usage
        self._latest = {part: _sum(usages) for part, usages in found.items()}
        self._rows += [
            {"time": now, "part": part, **asdict(usage), "processes": len(found[part])}
            for part, usage in self._latest.items()
        ]

    def table(self) -> pa.Table:
        """Return all samples."""
        return pa.Table.from_pylist(self._rows, SAMPLES)


def _sum(usages: list[_Usage]) -> _Usage:
    return _Usage(
        sum(usage.cpu_seconds for usage in usages),
        sum(usage.rss_bytes for usage in usages),
        _total([usage.read_bytes for usage in usages]),
        _total([usage.written_bytes for usage in usages]),
    )


def _usage_of(process: psutil.Process) -> _Usage:
    """Return what a process has used so far."""
    with process.oneshot():
        times, memory = process.cpu_times(), process.memory_info().rss
    try:
        disk = process.io_counters()
        return _Usage(times.user + times.system, memory, disk.read_bytes, disk.write_bytes)
    except (psutil.Error, OSError, AttributeError):  # not told to this user, or not by this kind of system
        return _Usage(times.user + times.system, memory, None, None)


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []
