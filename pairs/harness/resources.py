"""Samples what the processes of a run use every second: CPU, memory, disk. What is not known is missing, not zero."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np
import psutil
import pyarrow as pa
from numpy.typing import NDArray

from pairs.harness.machine import tree

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

_Usage = NDArray[np.float64]  # CPU seconds, bytes of memory, bytes read and written; NaN where it is not known
_ADDS_UP = np.array([1, 0, 1, 1])  # memory is what a process has now, all else what it has used since it began


class Sampler:
    """Follows the process trees of a run."""

    def __init__(self, role: Role = lambda tree, _name, _command: tree) -> None:
        self._role = role
        self._seen: dict[psutil.Process, _Usage] = {}
        self._sampled_at = 0.0
        self._seconds = 1.0
        self._latest: dict[str, _Usage] = {}
        self._rows: list[tuple[int, str, float, float, float, float, int]] = []

    def due(self) -> bool:
        return time.monotonic() - self._sampled_at >= _EVERY_S

    def cores(self) -> dict[str, float]:
        return {part: usage[0] / self._seconds for part, usage in self._latest.items()}

    def memory(self) -> dict[str, float]:
        return {part: usage[1] for part, usage in self._latest.items()}

    def sample(self, roots: Mapping[str, int]) -> None:
        """Sample the trees of processes, given by name and process id of their roots."""
        now = time.time_ns() // 1000
        self._seconds, self._sampled_at = time.monotonic() - self._sampled_at, time.monotonic()
        found: dict[str, list[_Usage]] = {}
        for name, pid in roots.items():
            for process in tree(pid):
                with suppress(psutil.Error):  # it is gone
                    usage = _usage_of(process)
                    part = self._role(name, process.name(), process.cmdline())  # it may have become another program
                    before = self._seen.get(process, np.zeros(4))
                    found.setdefault(part, []).append(usage - before * _ADDS_UP)
                    self._seen[process] = usage
        self._latest = {part: np.sum(usages, axis=0) for part, usages in found.items()}
        self._rows += [(now, part, *usage.tolist(), len(found[part])) for part, usage in self._latest.items()]

    def table(self) -> pa.Table:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(SAMPLES)
        typed = zip(columns, SAMPLES.types, strict=True)
        return pa.table([pa.array(column, kind, from_pandas=True) for column, kind in typed], schema=SAMPLES)


def _usage_of(process: psutil.Process) -> _Usage:
    with process.oneshot():
        times, memory = process.cpu_times(), process.memory_info().rss
    try:
        disk = process.io_counters()
        return np.array([times.user + times.system, memory, disk.read_bytes, disk.write_bytes])
    except (psutil.Error, OSError, AttributeError):  # not told to this user, or not by this kind of system
        return np.array([times.user + times.system, memory, np.nan, np.nan])
