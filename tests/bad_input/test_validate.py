"""Wrong uses of `pairs expected` and `pairs validate`: one line that names the place and the remedy, exit 2."""

import shutil
from pathlib import Path

import pytest

from pairs.cli import app as cli

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a dataset `market`, answers `answers` and a run `run` without its manifest."""
    monkeypatch.chdir(tmp_path)
    for folder in ("market/ticks", "answers", "run", "broken", "empty"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(GOLDEN / "ticks.csv", "market/ticks")
    shutil.copy(GOLDEN / "strategies.xml", "market")
    for stream in ("indicators", "orders"):
        shutil.copy(GOLDEN / f"{stream}.csv", "answers")
    Path("broken/run.json").write_text("{")
    return tmp_path


CASES = {
    "no dataset": (["expected", "nowhere"], "nowhere/ticks: no .parquet or .csv file there"),
    "no ticks": (["expected", "empty"], "empty/ticks: no .parquet or .csv file there"),
    "nothing to validate": (["validate"], "RUN: give the folder of a run"),
    "two things to validate": (["validate", "run", "--answers", "answers"], "RUN: give the folder of a run"),
    "answers to what": (["validate", "--answers", "answers"], "--dataset: missing"),
    "no such run": (["validate", "nowhere"], "nowhere: not a run"),
    "no run": (["validate", "run"], "run: not a run, as it has no run.json"),
    "broken run": (["validate", "broken"], "run.json: cannot be read"),
    "no such answers": (["validate", "--dataset", "market", "--answers", "nowhere"], "nowhere: no such folder"),
    "no answers": (["validate", "--dataset", "market", "--answers", "empty"], "empty: no indicators.parquet"),
    "wrong kind": (["validate", "--dataset", "market", "--answers", "answers", "--show", "all"], "--show: 'all'"),
    "wrong limit": (["validate", "--dataset", "market", "--answers", "answers", "--limit", "x"], "--limit: 'x'"),
    "unknown strategy": (
        ["validate", "--dataset", "market", "--answers", "answers", "--strategy", "st_1"],
        "--strategy: 'st_1' is not in",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused_in_one_line(case: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is started or written, and nothing but the line is printed."""
    arguments, message = CASES[case]
    before = sorted(here.rglob("*"))
    assert cli.run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert message in shown.err
    assert sorted(here.rglob("*")) == before


def test_bad_strategies_are_refused_before_spark_starts(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the file is named."""
    file = Path("market/strategies.xml")
    file.write_text(file.read_text().replace('numPeriods="7"', 'numPeriods="0"'))
    assert cli.run(["expected", "market"]) == 2
    assert "market/strategies.xml:4: " in capsys.readouterr().err
