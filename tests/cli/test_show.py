"""`pairs show` shows the strategies that are there, not those that should be."""

from dataclasses import replace
from pathlib import Path

import pytest

from pairs.cli import app as cli
from pairs.dataset.folder import Correlation, Dataset
from pairs.model.strategy_xml import read_strategies, write_strategies
from tests.report.runs import golden_dataset

BELONGING = "25 of 5 users belong to the dataset"


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Make the golden dataset, with 18 strategies of nobody, and a wide terminal."""
    monkeypatch.setenv("COLUMNS", "400")
    made = golden_dataset(tmp_path / "market")
    strategy = read_strategies(made.strategies_file).strategies[0]
    made.write_correlations([Correlation(1, strategy.symbol1, strategy.symbol2)])
    return made


def shown(dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is said of the strategies."""
    assert cli.run(["show", str(dataset.path)]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("strategies ")]
    return " ".join(line.split()[1:])


def test_strategies_that_differ_from_the_dataset_are_counted(
    dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both numbers are said."""
    assert shown(dataset, capsys) == f"18 in strategies.xml, {BELONGING}"


def test_strategies_that_belong_to_the_dataset_are_counted_once(
    dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    """Generated strategies are as dataset.json says."""
    few = read_strategies(dataset.strategies_file)
    many = tuple(replace(few.strategies[0], alias=f"st_{number}", user=f"u_{number % 5}") for number in range(25))
    write_strategies(dataset.strategies_file, replace(few, strategies=many))
    assert shown(dataset, capsys) == "25 of 5 users"


def test_no_strategies_and_invalid_ones(dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing is said with the command that makes it, what is wrong with its line."""
    text = dataset.strategies_file.read_text()
    dataset.strategies_file.write_text(text.replace('numPeriods="8"', 'numPeriods="1"', 1))
    assert shown(dataset, capsys) == "not valid: line 3: numPeriods is '1'; give a whole number from 2 to 1,000,000"
    dataset.strategies_file.unlink()
    assert shown(dataset, capsys) == f"none yet, {BELONGING}; make them with 'pairs strategies {dataset.path}'"
