"""Samples what the processes of a run use every second: CPU, memory, disk. What is not known is missing, not zero."""

import time
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import psutil
import pyarrow as pa

SAMPLES = pa.schema(
    {
        "time": pa.int64(),  # us of wall time
        "part": pa.string(),  # driver-0, sink, engine JVM, engine Python
        "cpu_seconds": pa.float64(),  # used since the sample before
        "rss_bytes": pa.int64(),
        "read_bytes": pa.int64(),  # from disk since the sample before; missing where the system does not say
        "written_bytes": pa.int64(),
        "processes": pa.int64(),
    }
)
PACE = pa.schema(
    {
        "time": pa.int64(),  # us of wall time
        "sent": pa.int64(),  # ticks that the drivers have written so far
        "taken": pa.int64(),  # ticks that the engine is done with so far
    }
)

_EVERY_S = 1.0


class Pace:
    """How far drivers and engine were, second by second."""

    def __init__(self) -> None:
        self._noted_at = 0.0
        self._progress: list[tuple[float, int]] = []  # when the engine first said how far it was, and last
        self._waiting_since: float | None = None  # since when the engine has had ticks to take and taken none
        self._rows: list[dict[str, int]] = []

    def note(self, sent: int, taken: int, in_any_case: bool = False) -> None:
        """Note how many ticks were sent and taken so far; a row is kept every second, or in any case."""
        now = time.monotonic()
        if taken and (not self._progress or taken > self._progress[-1][1]):
            self._progress[1:] = [(now, taken)]
            self._waiting_since = None
        if sent <= taken:
            self._waiting_since = None
        elif self._waiting_since is None:
            self._waiting_since = now
        if in_any_case or now - self._noted_at >= _EVERY_S:
            self._noted_at = now
            self._rows.append({"time": time.time_ns() // 1000, "sent": sent, "taken": taken})

    def ticks_per_second(self) -> float | None:
        """Return the speed of the engine between its first and its last word of progress."""
        if len(self._progress) < 2:
            return None
        (first, taken_first), (last, taken_last) = self._progress
        return (taken_last - taken_first) / (last - first)

    def stalled_s(self) -> float:
        """Return for how long the engine has taken nothing although there was something to take."""
        return 0.0 if self._waiting_since is None else time.monotonic() - self._waiting_since

    def behind_s(self) -> float:
        """Return how long ago the ticks were sent that the engine would have to take next, to a second."""
        taken = self._rows[-1]["taken"] if self._rows else 0
        first_waiting = bisect_right(self._rows, taken, key=lambda row: row["sent"])
        if first_waiting == len(self._rows):
            return 0.0
        return (self._rows[-1]["time"] - self._rows[first_waiting]["time"]) / 1e6

    def table(self) -> pa.Table:
        """Return all that was noted."""
        return pa.Table.from_pylist(self._rows, PACE)


@dataclass(frozen=True)
class _Used:
    """What a process has used since it began, and the memory it has."""

    cpu_seconds: float
    rss_bytes: int
    read_bytes: int | None
    written_bytes: int | None

    def since(self, before: "_Used | None") -> "_Used":
        """Return what was used since an earlier look."""
        if before is None:
            return self
        return _Used(
            self.cpu_seconds - before.cpu_seconds,
            self.rss_bytes,
            _less(self.read_bytes, before.read_bytes),
            _less(self.written_bytes, before.written_bytes),
        )


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before


def _total(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


class Sampler:
    """Follows process trees by the names of their parts."""

    def __init__(self) -> None:
        self._seen: dict[psutil.Process, _Used] = {}
        self._sampled_at = 0.0
        self._seconds = 1.0
        self._latest: dict[str, _Used] = {}
        self.rows: list[dict[str, object]] = []

    def due(self) -> bool:
        """Say whether it is time for the next sample."""
        return time.monotonic() - self._sampled_at >= _EVERY_S

    def cores(self) -> dict[str, float]:
        """Return how many cores each part used lately."""
        return {part: used.cpu_seconds / self._seconds for part, used in self._latest.items()}

    def memory(self) -> dict[str, int]:
        """Return how much memory each part has."""
        return {part: used.rss_bytes for part, used in self._latest.items()}

    def sample(self, roots: Mapping[str, int]) -> None:
        """Take a sample of the trees of processes below the given ones."""
        now = time.time_ns() // 1000
        self._seconds, self._sampled_at = time.monotonic() - self._sampled_at, time.monotonic()
        found: dict[str, list[_Used]] = {}
        for part, pid in roots.items():
            for process in _tree(pid):
                used = _used_by(process)
                if used is not None:
                    found.setdefault(_part_of(part, process), []).append(used.since(self._seen.get(process)))
                    self._seen[process] = used
        self._latest = {part: _together(processes) for part, processes in found.items()}
        self.rows += [
            {"time": now, "part": part, **asdict(used), "processes": len(found[part])}
            for part, used in self._latest.items()
        ]

    def table(self) -> pa.Table:
        """Return all samples."""
        return pa.Table.from_pylist(self.rows, SAMPLES)


def _together(processes: list[_Used]) -> _Used:
    return _Used(
        sum(one.cpu_seconds for one in processes),
        sum(one.rss_bytes for one in processes),
        _total([one.read_bytes for one in processes]),
        _total([one.written_bytes for one in processes]),
    )


def _used_by(process: psutil.Process) -> _Used | None:
    """Return what a process has used so far, or nothing if it is gone."""
    try:
        with process.oneshot():
            times, memory = process.cpu_times(), process.memory_info().rss
    except psutil.Error:
        return None
    try:
        disk = process.io_counters()
        return _Used(times.user + times.system, memory, disk.read_bytes, disk.write_bytes)
    except (psutil.Error, OSError, AttributeError):  # not told to this user, or by no system of this kind
        return _Used(times.user + times.system, memory, None, None)


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
