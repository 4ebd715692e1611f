"""A run beside which something else uses the machine, in real time: the score says so."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pairs.measure.findings import MOST_DISTURBED
from pairs.measure.recordings import read_run
from pairs.measure.resources import Disturbance, disturbance
from pairs.run_folder.folder import Run
from tests.processes import Command, descendants

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

OUTSIDE = "processes outside the run used"


@contextmanager
def busy_cores() -> Iterator[None]:
    """Let processes that have nothing to do with a run use a fifth of the machine, at least a core."""
    cores = -(-(os.cpu_count() or 1) // 5)
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def used_by_others() -> float:
    """Return the CPU seconds that all processes have used that this process did not start."""
    own = {os.getpid(), *(process.pid for process in descendants(os.getpid()))}
    found = psutil.process_iter(["cpu_times"])
    return sum(sum(process.info["cpu_times"][:4]) for process in found if process.pid not in own)


def measured(command: Command, run: Path) -> tuple[Disturbance, list[str]]:
    """Run the program without an engine for twenty seconds; return what else the machine did, and all warnings."""
    done = command("run", "market", "--target", "bare", "-o", str(run))
    assert done.returncode == 0, done.stderr
    assert command("validate", str(run)).returncode == 0
    command("score", str(run))
    found = disturbance(read_run(Run(run)))
    assert found is not None
    return found, json.loads((run / "score.json").read_text())["warnings"]


def test_a_busy_core_beside_a_run(tmp_path: Path, pairs_command: Command) -> None:
    """More than a tenth of the machine outside the run is a warning; without it there is none of the kind."""
    market = ("--profile", "quick", "--duration", "20m", "--master", "local[2]")
    for arguments in (["generate", "-o", "market", *market], ["strategies", "market"], ["expected", "market"]):
        assert pairs_command(*arguments).returncode == 0
    with busy_cores():
        found, warnings = measured(pairs_command, tmp_path / "disturbed")
    assert found.outside is not None
    assert found.outside > MOST_DISTURBED
    assert [warning for warning in warnings if f"No: {OUTSIDE} {found.outside:.1%}" in warning]
    before, began = used_by_others(), time.monotonic()
    found, warnings = measured(pairs_command, tmp_path / "quiet")
    others = (used_by_others() - before) / (time.monotonic() - began) / (os.cpu_count() or 1)
    if others > MOST_DISTURBED / 4:
        pytest.skip(f"{others:.1%} of this machine was used by something else")
    assert found.outside is not None
    assert found.outside < MOST_DISTURBED
    assert found.stolen > MOST_DISTURBED or not [warning for warning in warnings if OUTSIDE in warning]
