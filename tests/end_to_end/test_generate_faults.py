"""Interrupted generation, killed processes, a full disk: never half a dataset is left."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pairs.dataset.folder import Dataset
from tests.processes import SPARK, descendants, descendants_with, errors_of, is_alive, wait_until

pytestmark = pytest.mark.process

LONG = ("--duration", "1h", "--files", "8")  # some seconds of work


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a generation of some seconds."""
    command = [sys.executable, "-m", "pairs.cli", "generate", "-o", "market", *LONG, *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def files_begun(folder: Path) -> bool:
    """Return whether tick files are being written."""
    return any(folder.glob(".market.partial-*/ticks/.part-*"))


def busy_workers(running: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the Python workers: the children of Spark's Python daemon."""
    return [child for daemon in descendants_with(running.pid, "pyspark.daemon") for child in daemon.children()]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_generation_leaves_nothing(tmp_path: Path, sent: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end all processes with one line, and remove the partial dataset."""
    with start(tmp_path) as running:
        wait_until(lambda: files_begun(tmp_path))
        children = descendants(running.pid)
        running.send_signal(sent)
        _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (130, "pairs: interrupted; nothing was left half-written\n")
    wait_until(lambda: not any(map(is_alive, children)))
    assert list(tmp_path.iterdir()) == []


def test_a_killed_command_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    """Even SIGKILL leaves no folder under the final name, only a hidden partial folder."""
    with start(tmp_path) as running:
        wait_until(lambda: files_begun(tmp_path))
        children = descendants(running.pid)
        running.kill()
    wait_until(lambda: not any(map(is_alive, children)))
    assert not (tmp_path / "market").exists()
    for left in tmp_path.iterdir():
        assert left.name.startswith(".market.partial-")
        assert not Dataset(left).manifest_file.exists()


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    """By default a task whose Python worker dies is retried, and the dataset is the same."""
    with start(tmp_path) as running:
        wait_until(lambda: files_begun(tmp_path))
        busy_workers(running)[0].kill()
        _, errors = running.communicate(timeout=120)
    assert (running.returncode, errors_of(errors)) == (0, "")
    assert all(not file.name.startswith(".") for file in (tmp_path / "market" / "ticks").iterdir())
    checked = subprocess.run([sys.executable, "-m", "pairs.cli", "check", "market"], cwd=tmp_path)
    assert checked.returncode == 0


def test_a_worker_that_cannot_be_replaced_fails_the_command(tmp_path: Path) -> None:
    """A master without retries fails with one line, and leaves nothing."""
    with start(tmp_path, "--master", "local[2]") as running:
        wait_until(lambda: files_begun(tmp_path))
        busy_workers(running)[0].kill()
        _, errors = running.communicate(timeout=120)
    assert running.returncode == 1
    assert errors.startswith("pairs: the dataset was not written: ")
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_killed_spark_fails_the_command(tmp_path: Path) -> None:
    """When the JVM ends, as when out of memory, the last line says so and nothing is left."""
    with start(tmp_path) as running:
        wait_until(lambda: files_begun(tmp_path))
        descendants_with(running.pid, SPARK)[0].kill()
        _, errors = running.communicate(timeout=120)
    assert running.returncode == 1
    assert errors.splitlines()[-1].startswith("pairs: the dataset was not written: "), errors
    wait_until(lambda: list(tmp_path.iterdir()) == [])


@pytest.mark.slow
def test_a_killed_executor_is_survived(tmp_path: Path) -> None:
    """On a cluster the tasks of a lost executor run elsewhere, and the dataset is the same."""
    with start(tmp_path, "--master", "local-cluster[2,1,1024]") as running:
        wait_until(lambda: files_begun(tmp_path))
        descendants_with(running.pid, "CoarseGrainedExecutorBackend")[0].kill()
        _, errors = running.communicate(timeout=240)
    assert (running.returncode, errors_of(errors)) == (0, "")
    checked = subprocess.run([sys.executable, "-m", "pairs.cli", "check", "market"], cwd=tmp_path)
    assert checked.returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of eight megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_fails_the_command(small_disk: Path) -> None:
    """A full disk is named in one line, and the partial dataset is removed."""
    with start(small_disk) as running:
        _, errors = running.communicate(timeout=120)
    assert running.returncode == 1
    assert "No space left on device" in errors
    assert errors.count("\n") == 1
    assert list(small_disk.iterdir()) == []
