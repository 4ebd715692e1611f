"""What the processes of a run use is recorded, and what is not known is missing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from pairs.harness.resources import SAMPLES, Sampler
from tests.processes import wait_until

pytestmark = pytest.mark.process

BUSY = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'while True: pass']).wait()"


@contextmanager
def busy_child() -> Iterator[int]:
    """Run a process whose child uses a core; give its pid."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
    try:
        wait_until(lambda: bool(psutil.Process(process.pid).children()))
        yield process.pid
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def test_a_tree_of_processes_counts_as_one_part() -> None:
    """CPU time is that since the sample before, of all processes of a part; the target tells the parts of an engine."""
    sampler = Sampler(lambda tree, name, command: f"{tree} Python" if "python" in name and "-c" in command else name)
    with busy_child() as pid:
        child = psutil.Process(pid).children()[0]
        sampler.sample({"engine": pid})
        used = child.cpu_times().user
        wait_until(lambda: child.cpu_times().user > used)
        sampler.sample({"engine": pid})
    first, second = sampler.table().to_pylist()
    assert sampler.table().schema == SAMPLES
    assert {first["part"], second["part"]} == {"engine Python"}
    assert second["processes"] == 2
    assert second["cpu_seconds"] > 0
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
