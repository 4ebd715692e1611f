"""Bad market data: `check` reports every problem, `expected` and `run` refuse it with the first."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.processes import errors_of

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.fixture
def market(tmp_path: Path) -> Path:
    """Copy the golden dataset, cut into two files."""
    (tmp_path / "market" / "ticks").mkdir(parents=True)
    shutil.copy(GOLDEN / "strategies.xml", tmp_path / "market")
    header, *rows = (GOLDEN / "ticks.csv").read_text().splitlines(keepends=True)
    for number, part in enumerate((rows[:13_000], rows[13_000:])):
        (tmp_path / "market" / "ticks" / f"part-{number:05d}.csv").write_text("".join([header, *part]))
    return tmp_path / "market"


def test_a_good_dataset_made_by_hand_passes(market: Path, pairs_command: Command) -> None:
    """It needs no dataset.json; unusual but valid data is remarked."""
    done = pairs_command("check", "market", "--master", "local[1]")
    assert (done.returncode, errors_of(done.stderr)) == (0, "")
    assert done.stdout.splitlines()[-1] == "market: valid, no dataset.json to compare with"


def test_a_bad_row_is_reported_and_refused(market: Path, pairs_command: Command) -> None:
    """Check ends with 1 and a line for each problem; expected and run end with 2 and the first of them."""
    file = market / "ticks" / "part-00001.csv"
    lines = file.read_text().splitlines(keepends=True)
    lines[100] = lines[100].replace(",", ",-", 1)
    lines[200] = "AAA\n"
    file.write_text("".join(lines))
    checked = pairs_command("check", "market", "--master", "local[1]")
    assert checked.returncode == 1
    first, second, last = checked.stderr.splitlines()
    assert first.startswith(f"pairs: {file}: row 100: price -")
    assert second == f"pairs: {file}: row 200: 1 value for 4 columns: 'AAA'"
    assert last == "pairs: market: 2 problems"
    for arguments in (
        ["expected", "market", "--master", "local[1]"],
        ["run", "market", "-o", "run", "--target", "bare", "--speed", "max"],
    ):
        refused = pairs_command(*arguments)
        assert (refused.returncode, refused.stderr) == (2, first + "\n")
    assert not (market / "expected").exists()


def test_a_missing_file_is_reported_and_refused(market: Path, pairs_command: Command) -> None:
    """Before anything starts."""
    (market / "ticks" / "part-00001.csv").rename(market / "ticks" / "part-00002.csv")
    checked = pairs_command("check", "market", "--master", "local[1]")
    line = "pairs: market/ticks: part-00001.csv is missing between its neighbours; add it"
    assert (checked.returncode, checked.stderr.splitlines()) == (1, [line, "pairs: market: 1 problem"])
    for arguments in (["expected", "market"], ["run", "market", "-o", "run", "--target", "bare", "--speed", "max"]):
        refused = pairs_command(*arguments)
        assert (refused.returncode, refused.stderr) == (2, line + "\n")
    assert not (market.parent / "run").exists()


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_without_ticks_cannot_be_checked(pairs_command: Command, folder: str) -> None:
    """Exit 2, one line."""
    done = pairs_command("check", folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no .parquet or .csv file there" in done.stderr
