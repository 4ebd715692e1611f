"""Samples CPU and memory of the processes of a run every second. What could not be sampled is missing, not zero."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil
import pyarrow as pa

SAMPLES = pa.schema(
    {
        "time": pa.int64(),  # us of wall time
        "part": pa.string(),  # driver-0, sink, engine JVM, engine Python
        "cpu_seconds": pa.float64(),  # used since the sample before
        "rss_bytes": pa.int64(),
        "processes": pa.int64(),
    }
)

_EVERY_S = 1.0


@dataclass
class _Seen:
    process: psutil.Process
    cpu_seconds: float


class Sampler:
    """Follows process trees by the names of their parts."""

    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        self._sampled_at = 0.0
        self._seconds = 1.0
        self._latest: dict[str, tuple[float, int]] = {}
        self.rows: list[dict[str, object]] = []

    def due(self) -> bool:
        """Say whether it is time for the next sample."""
        return time.monotonic() - self._sampled_at >= _EVERY_S

    def cores(self) -> dict[str, float]:
        """Return how many cores each part used lately."""
        return {part: cpu / self._seconds for part, (cpu, _) in self._latest.items()}

    def memory(self) -> dict[str, int]:
        """Return how much memory each part has."""
        return {part: memory for part, (_, memory) in self._latest.items()}

    def sample(self, roots: Mapping[str, int]) -> None:
        """Take a sample of the trees of processes below the given ones."""
        now = time.time_ns() // 1000
        self._seconds, self._sampled_at = time.monotonic() - self._sampled_at, time.monotonic()
        found: dict[str, list[tuple[float, int]]] = {}
        for part, pid in roots.items():
            for process in _tree(pid):
                taken = self._take(process)
                if taken is not None:
                    found.setdefault(_part_of(part, process), []).append(taken)
        self._latest = {}
        for part, values in found.items():
            cpu, memory = sum(cpu for cpu, _ in values), sum(memory for _, memory in values)
            self._latest[part] = (cpu, memory)
            self.rows.append(
                {"time": now, "part": part, "cpu_seconds": cpu, "rss_bytes": memory, "processes": len(values)}
            )

    def _take(self, process: psutil.Process) -> tuple[float, int] | None:
        """Return the CPU time of a process since the last sample, and its memory."""
        try:
            with process.oneshot():
                times, memory = process.cpu_times(), process.memory_info().rss
        except psutil.Error:
            return None
        total = times.user + times.system
        before = self._seen.get(process.pid)
        known = before is not None and before.process == process
        self._seen[process.pid] = _Seen(process, total)
        return total - before.cpu_seconds if known and before else total, memory

    def table(self) -> pa.Table:
        """Return all samples."""
        return pa.Table.from_pylist(self.rows, SAMPLES)


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _part_of(part: str, process: psutil.Process) -> str:
    """Tell an engine's JVM from its Python processes."""
    if part != "engine":
        return part
    try:
        return "engine JVM" if "java" in process.name() else "engine Python"
    except psutil.Error:
        return "engine Python"
