"""A run beside which something else uses the machine, in real time: the score says so."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pairs.measure.findings import MOST_DISTURBED
from pairs.measure.recordings import read_run
from pairs.measure.resources import Disturbance, disturbance
from pairs.run_folder.folder import Run
from tests.processes import Command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

OUTSIDE = "processes outside the run used"


@contextmanager
def busy_core() -> Iterator[None]:
    """Let a process that has nothing to do with a run use a core."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


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
    with busy_core():
        found, warnings = measured(pairs_command, tmp_path / "disturbed")
    assert found.outside > MOST_DISTURBED
    assert [warning for warning in warnings if f"No: {OUTSIDE} {found.outside:.1%}" in warning]
    found, warnings = measured(pairs_command, tmp_path / "quiet")
    assert found.outside < MOST_DISTURBED
    assert found.stolen > MOST_DISTURBED or not [warning for warning in warnings if OUTSIDE in warning]
