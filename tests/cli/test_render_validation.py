"""What `pairs validate` prints of answers that are not as they should be, on the golden dataset."""

import gzip
import shutil
from pathlib import Path

import pytest

from pairs.cli.render_validation import render_validation
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import InputDigests
from pairs.model.strategy_xml import read_strategies
from pairs.validator.validation import Validation, validate
from tests.markets import GOLDEN
from tests.report.runs import golden_dataset

ORDERS = (GOLDEN / "orders.csv").read_text()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Make the golden dataset with its expected answers."""
    return golden_dataset(tmp_path_factory.mktemp("golden") / "market")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Make a folder with the golden indicators."""
    shutil.copy(GOLDEN / "indicators.csv", tmp_path)
    return tmp_path


def validated(dataset: Dataset, answers: Path) -> Validation:
    """Compare the answers in a folder with the golden ones."""
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    return validate(dataset, aliases, answers)


def test_answers_in_the_ways_of_spreadsheets_pass(dataset: Dataset, answers: Path) -> None:
    """With a byte order mark, compressed, under a name in upper case."""
    (answers / "orders.CSV.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + ORDERS.replace("\n", "\r\n").encode()))
    assert validated(dataset, answers).passed


def test_a_column_of_another_type_is_said_first(
    dataset: Dataset, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, right after the verdict, also if the answers are in many files; and in validation.json."""
    header, *rows = ORDERS.splitlines()
    stamped = [f"{row.rpartition(',')[0]},2024-01-02T09:30:00.{row.rpartition(',')[2]:0>6}" for row in rows]
    (answers / "orders").mkdir()
    for number, part in enumerate((stamped[:50], stamped[50:])):
        (answers / "orders" / f"part-{number}.csv").write_text("\n".join([header, *part]))
    found = validated(dataset, answers)
    render_validation(found, most_errors=5)
    verdict, said, *rest = capsys.readouterr().out.splitlines()
    assert verdict == "Validation result: FAILED"
    assert said.startswith(
        f"{answers}/orders/part-0.csv and 1 more: column inputTickTS has timestamps throughout, where whole numbers "
        "are expected; the first: inputTickTS is '2024-01-02T09:30:00."
    )
    assert sum("throughout" in line for line in rest) == 0
    assert any(line.startswith("130 invalid rows of orders, counted as undue; the first: ") for line in rest)
    record = found.record(dataset, InputDigests(ticks="t", strategies="s"), {})
    [wrong] = record.streams["orders"].wrong_columns
    assert (wrong.column, wrong.found, wrong.files) == ("inputTickTS", "timestamps", 2)
    assert record.streams["indicators"].wrong_columns == ()


def test_an_open_quote_costs_one_row(dataset: Dataset, answers: Path) -> None:
    """The row is undue, its answer is missing, and all others are correct."""
    (answers / "orders.csv").write_text(ORDERS.replace("\nst_00004,", '\n"st_00004,', 1))
    result = validated(dataset, answers).streams["orders"]
    assert (result.counts.correct, result.counts.missing, result.counts.undue) == (129, 1, 1)
    assert result.malformed_examples[0].problem.startswith("a quote is not closed: '\"st_00004,")


def test_keys_of_which_none_matches_are_shown_beside_the_expected(
    dataset: Dataset, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers of another unit are valid, and yet everything is missing and undue: both keys say why."""
    header, *rows = ORDERS.splitlines()
    (answers / "orders.csv").write_text("\n".join([header, *(f"{row}000" for row in rows)]))
    render_validation(validated(dataset, answers), most_errors=5)
    [said] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("no answer of orders")]
    assert "has the strategy, inputTickTS, type of an expected one; the first has st_" in said
