"""What the processes of a run use and how far they are is recorded, and what is not known is missing."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from pairs.harness.resources import PACE, SAMPLES, Pace, Sampler

BUSY = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'while True: pass']).wait()"


@contextmanager
def busy_child() -> Iterator[int]:
    """Run a process whose child uses a core; give its pid."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
    try:
        while not psutil.Process(process.pid).children():
            time.sleep(0.01)
        yield process.pid
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def test_a_tree_of_processes_counts_as_one_part() -> None:
    """CPU time is that since the sample before, of all processes of the part; an engine's Python goes by its name."""
    sampler = Sampler()
    with busy_child() as pid:
        sampler.sample({"engine": pid})
        time.sleep(0.5)
        sampler.sample({"engine": pid})
    first, second = sampler.table().to_pylist()
    assert sampler.table().schema == SAMPLES
    assert {first["part"], second["part"]} == {"engine Python"}
    assert second["processes"] == 2
    assert 0 < second["cpu_seconds"] < 1.5
    assert second["rss_bytes"] > 1_000_000
    assert sampler.cores()["engine Python"] > 0


def test_what_is_gone_is_missing() -> None:
    """A process that has ended gives no row, rather than a row of zeros."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    sampler = Sampler()
    sampler.sample({"sink": ended.pid})
    assert sampler.table().num_rows == 0
    assert sampler.memory() == {}


def test_disk_traffic_that_is_not_told_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system does not tell what a process reads and writes, the columns are null."""

    def refuse(_: psutil.Process) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "io_counters", refuse)
    sampler = Sampler()
    sampler.sample({"sink": os.getpid()})
    (row,) = sampler.table().to_pylist()
    assert (row["read_bytes"], row["written_bytes"]) == (None, None)
    assert row["rss_bytes"] > 0


def test_pace_is_kept_second_by_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row a second at most; the speed is that between the engine's first and last word of progress."""
    now = [100.0]
    monkeypatch.setattr("pairs.harness.resources.time.monotonic", lambda: now[0])
    pace = Pace()
    assert pace.ticks_per_second() is None
    for sent, taken in [(10, 0), (20, 5), (30, 5), (40, 25), (50, 45)]:
        pace.note(sent, taken)
        now[0] += 0.5
    assert pace.ticks_per_second() == pytest.approx(40 / 1.5)
    table = pace.table()
    assert table.schema == PACE
    assert table.select(["sent", "taken"]).to_pylist() == [
        {"sent": 10, "taken": 0},
        {"sent": 30, "taken": 5},
        {"sent": 50, "taken": 45},
    ]
