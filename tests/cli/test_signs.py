"""Nothing waits without a sign: every verb shows on a terminal what it does, and writes nothing of that to a pipe."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pairs.dataset.folder import Dataset
from pairs.run_folder.folder import Run
from tests.processes import on_terminal
from tests.report.runs import golden_dataset, golden_run, write_pairs

pytestmark = pytest.mark.process

SIGNS = {
    ("estimate", "--profile", "quick"): ["drawing a sample"],
    ("strategies", "other", "--overwrite"): ["generating strategies", "writing strategies"],
    ("strategies", "--check", "market/strategies.xml"): ["reading strategies"],
    ("show", "market"): ["reading"],
    ("translate", "market", "-o", "app"): ["translating strategies"],
    ("score", "run-1"): ["scoring"],
    ("report", "run-1"): ["making the report"],
    ("report", "run-1", "run-2", "-o", "both.html"): ["making the report"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two datasets and two runs, without Spark."""
    made = tmp_path_factory.mktemp("signs")
    for seed in (1, 2):
        golden_run(made, seed)
    golden_dataset(made / "other")
    for name in ("market", "other"):
        write_pairs(Dataset(made / name))
    return made


@pytest.mark.parametrize("arguments", SIGNS, ids=lambda arguments: arguments[0])
def test_a_sign_on_a_terminal(folder: Path, arguments: tuple[str, ...]) -> None:
    """Before anything is done that may take long."""
    shown = on_terminal(folder, *arguments)
    assert all(sign in shown for sign in SIGNS[arguments])


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "dumb"}, {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}, {"NO_COLOR": "1"}],
)
@pytest.mark.parametrize("arguments", [("show", "market"), ("score", "run-1")], ids=lambda arguments: arguments[0])
def test_terminals_that_can_do_little(folder: Path, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    """One that cannot move its cursor gets a plain line, one with few letters signs that it has."""
    shown = on_terminal(folder, *arguments, columns=40, **environment)
    assert "Traceback" not in shown
    assert all(sign in shown for sign in SIGNS[arguments])
    if "TERM" in environment:
        assert "\x1b" not in shown
        assert f"{SIGNS[arguments][0]} ...\r\n" in shown
    if "LC_ALL" in environment:
        assert shown.isascii()
    if "NO_COLOR" in environment:
        assert not re.search(r"\x1b\[[\d;]*3\d[\d;]*m", shown)


def test_nothing_in_a_pipe(folder: Path) -> None:
    """Only the result is written there, and nothing to stderr."""
    command = [sys.executable, "-m", "pairs.cli", "show", "market"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "reading" not in done.stdout


@pytest.mark.slow
def test_signs_of_the_stages_on_spark(tmp_path: Path) -> None:
    """Generating, computing what is expected, running, validating and checking each show their steps."""
    small = ("--profile", "quick", "--duration", "2m", "--symbols", "4", "--correlations", "2", "--strategies", "5")
    shown = on_terminal(tmp_path, "generate", "-o", "market", *small, "--master", "local[2]")
    assert all(
        sign in shown for sign in ("counting the ticks", "starting Spark on local[2]", "starting Python workers")
    )
    on_terminal(tmp_path, "strategies", "market")
    shown = on_terminal(tmp_path, "run", "market", "--target", "bare", "--speed", "60", "-o", "run", columns=40)
    assert all(
        sign in shown for sign in ("starting bare", "backlog", "collecting the last answers", "ending all processes")
    )
    shown = on_terminal(tmp_path, "run", "market", "--target", "bare", "-o", "second", TERM="dumb")
    assert all(step in shown for step in ["starting bare ...\r\n", "phase ", ", backlog "])
    shown = on_terminal(tmp_path, "validate", "run", "--master", "local[2]", columns=40)
    steps = ("reading ticks", "evaluating strategies", "writing expected answers", "comparing answers", "PASSED")
    assert all(sign in " ".join(shown.split()) for sign in steps)
    assert Run(tmp_path / "run").validation.verdict == "PASSED"
