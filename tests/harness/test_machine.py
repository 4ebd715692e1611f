"""What else the machine did is what it did less what the run did; what the system does not tell is missing."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pairs.harness.machine import MACHINE, MachineSampler
from tests.processes import wait_until

pytestmark = pytest.mark.process

BURN = "import time\nwhile time.process_time() < 0.4: pass"
SHORT_LIVED = f"""
import subprocess, sys
sys.stdin.readline()
subprocess.run([sys.executable, "-c", {BURN!r}])
print("done", flush=True)
sys.stdin.readline()
"""
LEAF = f"{BURN}\ntime.sleep(99)"
MIDDLE = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {LEAF!r}]).wait()"
ORPHANING = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {MIDDLE!r}]); time.sleep(99)"


@pytest.fixture
def stat(tmp_path: Path) -> Path:
    """Return a file that stands for /proc/stat."""
    return machine_did(tmp_path / "stat", 0.0)


def machine_did(stat: Path, busy_s: float, stolen_s: float = 0.0) -> Path:
    """Let the machine have been busy for some CPU seconds, a third each of user, nice and system."""
    ticks = os.sysconf("SC_CLK_TCK")
    third = round(busy_s * ticks / 3)
    stat.write_text(f"cpu  {third} {third} {third} 100 200 300 400 {round(stolen_s * ticks)} 0 0\ncpu0 1 1 1\n")
    return stat


@contextmanager
def python(program: str) -> Iterator[subprocess.Popen[str]]:
    """Run a Python program."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def sampled(sampler: MachineSampler) -> dict[str, float]:
    """Sample once more; return the last row."""
    sampler.sample()
    row: dict[str, float] = sampler.table().to_pylist()[-1]
    return row


def test_what_others_used(stat: Path) -> None:
    """All that the machine did while the run slept, and what the host took; waiting and interrupts do not count."""
    with python("input()") as process:
        sampler = MachineSampler(process.pid, stat)
        sampler.sample()
        machine_did(stat, 3.0, 0.5)
        row = sampled(sampler)
    assert row["outside_seconds"] == pytest.approx(3.0, abs=0.5)
    assert row["stolen_seconds"] == pytest.approx(0.5)
    assert row["seconds"] > 0
    assert sampler.table().schema == MACHINE


def test_a_run_that_is_not_whole(stat: Path) -> None:
    """If the engine is not below it, what others used is not known; what the host took is."""
    sampler = MachineSampler(os.getpid(), stat, whole_run=False)
    sampler.sample()
    machine_did(stat, 3.0, 0.5)
    row = sampled(sampler)
    assert math.isnan(row["outside_seconds"])
    assert row["stolen_seconds"] == pytest.approx(0.5)


def test_children_that_come_and_go_belong_to_the_run(stat: Path) -> None:
    """A child that began and ended between two samples counts with its parent."""
    with python(SHORT_LIVED) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sampler = MachineSampler(process.pid, stat)
        sampler.sample()
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        machine_did(stat, 3.0)
        assert sampled(sampler)["outside_seconds"] <= 2.6


def test_workers_of_the_cluster_belong_to_the_run(stat: Path) -> None:
    """What they and their executors use is not used outside the run, although they are no children of it."""
    with python("input()") as run, python(SHORT_LIVED) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        sampler = MachineSampler(run.pid, stat, workers=[worker.pid])
        sampler.sample()
        worker.stdin.write("\n")
        worker.stdin.flush()
        assert worker.stdout.readline() == "done\n"
        machine_did(stat, 3.0)
        assert sampled(sampler)["outside_seconds"] <= 2.6


def test_never_less_than_nothing(stat: Path) -> None:
    """If the run seems to have used more than the machine, others used nothing."""
    with python(SHORT_LIVED) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sampler = MachineSampler(process.pid, stat)
        sampler.sample()
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        assert sampled(sampler)["outside_seconds"] == 0


def test_an_engine_that_is_killed(stat: Path) -> None:
    """What its processes had used until then does not count as used by others when nobody is left to account for it."""
    with python(ORPHANING) as process:
        root = psutil.Process(process.pid)
        wait_until(lambda: len(root.children(recursive=True)) == 2)
        middle, leaf = root.children()[0], root.children()[0].children()[0]
        wait_until(lambda: sum(leaf.cpu_times()[:2]) > 0.3)
        sampler = MachineSampler(process.pid, stat)
        sampler.sample()
        for victim in (middle, leaf):
            victim.send_signal(signal.SIGKILL)
        wait_until(lambda: not leaf.is_running() or leaf.status() == psutil.STATUS_ZOMBIE)
        machine_did(stat, 0.3)
        assert sampled(sampler)["outside_seconds"] <= 0.31


@pytest.mark.parametrize("content", [None, "", "cpu 1 2 3", "cpu a b c d e f g h i j"])
def test_a_system_that_does_not_tell(tmp_path: Path, content: str | None) -> None:
    """No row, rather than a row of zeros."""
    if content is not None:
        (tmp_path / "stat").write_text(content)
    sampler = MachineSampler(os.getpid(), tmp_path / "stat")
    sampler.sample()
    sampler.sample()
    assert sampler.table().num_rows == 0
    assert sampler.table().schema == MACHINE


def test_this_machine() -> None:
    """The real /proc/stat is understood: a busy process outside shows."""
    with python("input()") as run, python("while True: pass") as other:
        sampler = MachineSampler(run.pid)
        sampler.sample()
        began = psutil.Process(other.pid).cpu_times().user
        wait_until(lambda: psutil.Process(other.pid).cpu_times().user > began + 0.5)
        assert sampled(sampler)["outside_seconds"] > 0.3
