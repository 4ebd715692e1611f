"""A small real sweep without an engine: every point is run and reported, and no run is made twice."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pairs.run_folder.folder import Run
from tests.processes import Command
from tests.report.browser import CHROMIUM, chromium, opened
from tests.report.pages import payload_of, text_of

TINY = ("--symbols", "4", "--correlations", "2", "--strategies", "10", "--market-rate", "20", "--master", "local[2]")
SETTING = "max-ticks-per-batch"
MEMORY = "spark.driver.memory"  # a setting whose values only Spark knows


def small_sweep(command: Command, *more: str) -> subprocess.CompletedProcess[str]:
    """Sweep over two settings in runs of six seconds, which are too short for a valid score."""
    return command("sweep", *TINY, "--duration", "6m", "--target", "bare", "-o", "swept", *more)


def change_scores(folder: Path, p99_s: dict[str, float]) -> None:
    """Let runs have valid scores, as longer runs would."""
    for name, value in p99_s.items():
        file = folder / "runs" / name / "score.json"
        content: dict[str, Any] = json.loads(file.read_text())
        valid = {"valid": True, "reasons": [], "p99": value, "p99_interval": [0.98 * value, 1.02 * value]}
        file.write_text(json.dumps(content | valid | {"p_score": 3 / value}))


def stamps(folder: Path) -> dict[str, int]:
    """Return when each run was made, by its name."""
    return {file.parent.name: file.stat().st_mtime_ns for file in folder.glob("runs/*/run.json")}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_sweep(tmp_path: Path, pairs_command: Command) -> None:
    """Two settings twice each, forward and backward; void runs leave all open, valid runs differ or do not."""
    folder = tmp_path / "swept"
    done = small_sweep(pairs_command, "--set", f"{SETTING}=100,1000", "--repeat", "2")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("swept: 2 points, 4 runs: about 3 min\n")
    made = stamps(folder)
    order = [f"{SETTING}-100-1", f"{SETTING}-1000-1", f"{SETTING}-1000-2", f"{SETTING}-100-2"]
    assert sorted(made, key=lambda name: made[name]) == order
    assert f"unknown: {SETTING}=100 and {SETTING}=1000: 0 and 0 valid runs" in done.stdout
    assert all((folder / "runs" / name / "report.html").is_file() for name in order)
    assert (folder / "data" / "dataset.json").is_file()

    change_scores(folder, dict(zip(order, (0.050, 0.080, 0.082, 0.051), strict=True)))
    again = small_sweep(pairs_command, "--set", f"{SETTING}=100,1000", "--repeat", "2")
    assert (again.returncode, again.stdout.count("(as found)")) == (0, 4), again.stderr
    assert stamps(folder) == made
    sentence = f"{SETTING}=100 and {SETTING}=1000 differ: p99 50.5 ms (50.0 to 51.0) and 81.0 ms (80.0 to 82.0)"
    assert sentence in again.stdout
    page = (folder / "sweep.html").read_text()
    assert sentence in text_of(page)
    payload = payload_of(page)
    assert sorted(row[0] for row in payload["runs"]) == sorted(order)
    assert [found["name"] for found in payload["charts"]["latency-and-cost"]["points"]] == [
        f"{SETTING}=100",
        f"{SETTING}=1000",
    ]

    change_scores(folder, {order[1]: 0.0505})
    noisy = small_sweep(pairs_command, "--set", f"{SETTING}=100,1000", "--repeat", "2")
    assert f"within noise: {SETTING}=100 and {SETTING}=1000: " in noisy.stdout

    other = small_sweep(pairs_command, "--set", f"{SETTING}=100,2000", "--repeat", "2")
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr == "pairs: swept: contains another sweep; give another folder with -o\n"
    assert stamps(folder) == made


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_sweep_of_cores(tmp_path: Path, pairs_command: Command) -> None:
    """It shows speed-up and efficiency, and what the engine shares the cores with."""
    cores = ("--cores", "1,2", "--repeat", "1")
    assert small_sweep(pairs_command, *cores).returncode == 1
    folder = tmp_path / "swept"
    manifests = [Run(folder / "runs" / name).manifest for name in ("cores-1-1", "cores-2-1")]
    assert [manifest.settings.cores for manifest in manifests] == [1, 2]
    change_scores(folder, {"cores-1-1": 0.080, "cores-2-1": 0.050})
    again = small_sweep(pairs_command, *cores)
    assert again.returncode == 0, again.stderr
    for shown in (again.stdout, text_of((folder / "sweep.html").read_text())):
        words = " ".join(shown.split())
        assert "1 80.0 (80.0 to 80.0) 37.50 (37.50 to 37.50) 1.00 100%" in words
        assert "2 50.0 (50.0 to 50.0) 60.00 (60.00 to 60.00) 1.60 80%" in words
        assert "Drivers, sink and engine share the" in words


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_repeated_bench(tmp_path: Path, pairs_command: Command) -> None:
    """It is a sweep of one point, or of several; an engine that fails makes its runs void, and the others go on."""
    workload = (*TINY, "--duration", "1m", "--profile", "quick", "-o", "swept")
    done = pairs_command("bench", *workload, "--set", f"{MEMORY}=1g,<b>many</b>")
    assert done.returncode == 1, done.stderr
    assert f"unknown: {MEMORY}=1g and {MEMORY}=<b>many</b>: 0 and 0 valid runs" in done.stdout
    assert f"{MEMORY}-b-many-b-1: no p99, no p_score" in done.stdout
    assert "the engine ended with exit code 1" in done.stdout
    assert (tmp_path / "data" / "quick-sf1" / "dataset.json").is_file()
    assert sorted(path.name for path in (tmp_path / "swept" / "runs").iterdir()) == [
        f"{MEMORY}-1g-1",
        f"{MEMORY}-b-many-b-1",
    ]
    page = (tmp_path / "swept" / "sweep.html").read_text()
    assert f"{MEMORY}=<b>many</b>" in text_of(page)
    assert "<b>many" not in page


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_sweep_with_valid_runs(tmp_path: Path, pairs_command: Command) -> None:
    """Two hours in forty seconds, which is as short as a run with a valid score can be."""
    market = ("--symbols", "8", "--correlations", "4", "--strategies", "40", "--market-rate", "10")
    day = ("--duration", "2h", "--speed", "180", "--master", "local[2]", "--target", "bare", "--drivers", "1,2")
    done = pairs_command("sweep", *market, *day, "--repeat", "2", "-o", "swept")
    page = text_of((tmp_path / "swept" / "sweep.html").read_text())
    scores = [json.loads(file.read_text()) for file in (tmp_path / "swept").glob("runs/*/score.json")]
    assert [score["verdict"] for score in scores] == ["PASSED"] * 4, done.stderr
    assert all("driver" in reason for score in scores for reason in score["reasons"])  # a busy machine
    assert (done.returncode == 0) is any(score["valid"] for score in scores)
    assert any(f"{word}: drivers=" in page for word in ("unknown", "within noise")) or " differ: p99 " in page
    if Path(CHROMIUM).exists() and done.returncode == 0:
        with chromium() as browser, opened(browser, tmp_path / "swept" / "sweep.html") as report:
            assert (report.complaints, report.states()) == ([], {"latency-and-cost": "true"})
            assert report.page.locator("#runs-table tbody tr").count() == 4


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--set", "shards=1,2"], "pairs: --set shards: is not a setting of bare; give one of max-ticks-per-batch"),
        (["--plan", "vectorized,keyed"], "pairs: --plan: 'keyed' is not a plan of bare"),
        (["--drivers", "1,17"], "pairs: --drivers: '17' is not valid"),
        (["--speed", "60,max"], "pairs: --speed: unpaced runs have no score to compare"),
        (["--sf", "1,2"], "pairs: --sf: '1,2' is not valid"),
        (["--repeat", "0"], "pairs: --repeat: '0' is not valid"),
        (["--data", "market", "-o", "."], "pairs: .: exists and is not a sweep; choose another folder with -o"),
    ],
)
def test_wrong_sweeps(tmp_path: Path, pairs_command: Command, arguments: list[str], expected: str) -> None:
    """One line that names the flag, and nothing is written."""
    (tmp_path / "something").touch()
    done = small_sweep(pairs_command, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["something"]
