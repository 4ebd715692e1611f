"""A small real search: runs are kept and compared, and the search is resumed."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.processes import Command


def small_search(command: Command, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Search with the target bare in runs of 40 s, which are as short as valid runs can be, up to scale factor 2."""
    market = ["--profile", "quick", "--speed", "180", "--target", "bare", "--most", "2"]
    return command("search", *market, "-o", str(folder), *more)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_search(tmp_path: Path, pairs_command: Command) -> None:
    """It finds that bare sustains 1 and 2, compares all runs on a page, and repeats no run when called again."""
    folder = tmp_path / "search"
    done = small_search(pairs_command, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 to 6 runs, about 70 s each: 5 min to 7 min, if the highest ")
    assert "highest scale factor sustained: 2" in done.stdout
    assert "best p_score: " in done.stdout
    runs = sorted(path.name for path in (folder / "runs").iterdir())
    assert {"sf-1-1", "sf-2-1", "sf-2-2", "sf-2-3"} <= set(runs)
    assert all(json.loads((folder / "runs" / name / "score.json").read_text())["verdict"] == "PASSED" for name in runs)
    assert (folder / "search.html").stat().st_size > 1_000_000
    assert list((folder / "data").iterdir()) == []
    again = small_search(pairs_command, folder)
    assert again.stdout.count("(as found)") == len(runs)
    assert sorted(path.name for path in (folder / "runs").iterdir()) == runs
    other = small_search(pairs_command, folder, "--plan", "vectorized", "--drivers", "2")
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr.endswith("contains another search; give another folder with -o\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--slo", "p95<1s"], "pairs: --slo: 'p95<1s' is not valid; give a limit such as 'p99<1s' or 'p99<500ms'"),
        (["--sf", "3"], "pairs: --sf: is the result of the search; give --first to start from a scale factor"),
        (["--first", "0"], "pairs: --first: "),
        (
            ["--first", "5", "--most", "2"],
            "pairs: --first: 5 is above --most 2; give a --first that is not above --most",
        ),
        (["--speed", "max"], "pairs: --speed: unpaced runs have no score to compare"),
        (["--set", "shards=2"], "pairs: --set shards: is not a setting of bare; give one of max-ticks-per-batch"),
    ],
)
def test_wrong_searches(tmp_path: Path, pairs_command: Command, arguments: list[str], expected: str) -> None:
    """One line that names the flag, and nothing is written."""
    done = small_search(pairs_command, tmp_path / "search", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "search").exists()
