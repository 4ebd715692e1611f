"""Samples what else the machine does beside a run: CPU of processes outside it, and time stolen by the host.

Reads /proc/stat and the process tree of the run. Where there is no /proc/stat, nothing is recorded.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import nan
from pathlib import Path

import psutil
import pyarrow as pa

MACHINE = pa.schema(
    {
        "time": pa.int64(),  # us of wall time
        "outside_seconds": pa.float64(),  # CPU that processes outside the run used since the sample before, or NaN
        "stolen_seconds": pa.float64(),  # CPU that the host gave to others since the sample before
        "seconds": pa.float64(),  # since the sample before
    }
)

_STAT = Path("/proc/stat")
_USER, _NICE, _SYSTEM, _STOLEN = 1, 2, 3, 8  # fields of the line of all cores; the first is its name


@dataclass(frozen=True)
class _Reading:
    """What the machine and the processes of a tree had used by some moment, in CPU seconds."""

    time_us: int
    clock_s: float
    busy: float
    stolen: float
    own: dict[psutil.Process, float]
    with_ended_children: dict[psutil.Process, float]


class MachineSampler:
    """Follows the machine and the tree of a process, by default of the present process, and those of `workers`.

    If that is not the whole run, it is not known what processes outside the run use.
    """

    def __init__(
        self,
        root: int | None = None,
        stat: Path = _STAT,
        whole_run: bool = True,
        workers: Sequence[int] = (),
    ) -> None:
        self._roots, self._stat, self._whole_run = (os.getpid() if root is None else root, *workers), stat, whole_run
        self._before: _Reading | None = None
        self._rows: list[tuple[int, float, float, float]] = []

    def sample(self) -> None:
        """Keep what was used since the call before."""
        now, before = _read(self._stat, self._roots), self._before
        if now is not None and before is not None:
            outside = max(now.busy - before.busy - _used_by_tree(before, now), 0.0)
            stolen = max(now.stolen - before.stolen, 0.0)
            self._rows.append((now.time_us, outside if self._whole_run else nan, stolen, now.clock_s - before.clock_s))
        self._before = now

    def table(self) -> pa.Table:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(MACHINE)
        return pa.table([list(column) for column in columns], schema=MACHINE)


def _read(stat: Path, roots: Sequence[int]) -> _Reading | None:
    try:
        fields = stat.read_text().splitlines()[0].split()
        user, nice, system, stolen = (int(fields[place]) for place in (_USER, _NICE, _SYSTEM, _STOLEN))
    except (OSError, ValueError, IndexError):
        return None
    a_second = os.sysconf("SC_CLK_TCK")
    now_us, clock_s = time.time_ns() // 1000, time.monotonic()
    own, with_ended_children = {}, {}
    for process in (process for root in roots for process in tree(root)):
        with suppress(psutil.Error):  # it is gone
            times = process.cpu_times()
            own[process] = times.user + times.system
            with_ended_children[process] = own[process] + times.children_user + times.children_system
    return _Reading(now_us, clock_s, (user + nice + system) / a_second, stolen / a_second, own, with_ended_children)


def _used_by_tree(before: _Reading, now: _Reading) -> float:
    """Return the CPU seconds that a tree used between two readings.

    What a process used that has ended is counted with its parent. If its parent ended before it, that is lost, and only
    what the living processes used is known.
    """
    together = sum(now.with_ended_children.values()) - sum(before.with_ended_children.values())
    living = sum(used - before.own.get(process, 0.0) for process, used in now.own.items())
    return max(together, living)


def tree(pid: int) -> list[psutil.Process]:
    """Return a process and all below it; none if it is gone."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []
