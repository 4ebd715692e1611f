"""Wrong uses of `pairs collect` and `pairs play`: one line with place and remedy, exit 2, nothing written."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from pairs.cli import app as cli
from pairs.config.run_settings import RunSettings
from pairs.dataset.folder import Dataset
from pairs.run_folder.folder import digest_of
from pairs.transport.ticklog import TickLogTransport
from tests.markets import golden_market
from tests.records import run_manifest


@pytest.fixture
def market(tmp_path: Path) -> Path:
    """Make a dataset by hand."""
    return golden_market(tmp_path / "market", ticks=120)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must be refused in one line; return the line."""
    assert cli.run(list(map(str, arguments))) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


def begin(run: Path, market: Path, **changes: Any) -> None:
    """Make what `pairs collect` has made of a run when it waits for ticks."""
    TickLogTransport(run / "transport").create()
    shutil.copy(market / "strategies.xml", run)
    plain = {"target": "mine", "plan": "external", "transport": "ticklog"} | changes.pop("settings", {})
    facts = {
        "dataset": str(market),
        "dataset_manifest": None,
        "strategies_digest": digest_of(market / "strategies.xml"),
        "settings": RunSettings.from_plain(plain, "test"),
        "state": "running",
    }
    run_manifest(**facts | changes).write(run / "run.json")


@pytest.mark.parametrize("verb", ["collect", "play"])
def test_a_dataset_that_cannot_be_played(
    verb: str, market: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without strategies, without ticks, or by another transport; no folder is made."""
    arguments = verb, market, "-o", tmp_path / "run"
    assert "--transport: 'smoke' is not a transport; give one of ticklog" in refused(
        capsys, *arguments, "--transport", "smoke"
    )
    assert "--drivers: '99' is not valid" in refused(capsys, *arguments, "--drivers", "99")
    Dataset(market).strategies_file.rename(tmp_path / "strategies.xml")
    assert "strategies.xml: " in refused(capsys, *arguments)
    shutil.rmtree(market / "ticks")
    assert "no .parquet or .csv file there" in refused(capsys, *arguments)
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_there(market: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new collection does not replace it."""
    begin(tmp_path / "run", market)
    assert "exists already" in refused(capsys, "collect", market, "-o", tmp_path / "run")
    classes = refused(capsys, "collect", market, "-o", tmp_path / "other", "--plan-class", "fast")
    assert "--plan-class: 'fast' is not valid; give one of native, keyed, block" in classes


REFUSED: list[tuple[dict[str, Any], list[str], str]] = [
    ({"state": "ended"}, [], "this run has ended; begin another with 'pairs collect"),
    ({"settings": {"speed": 60}}, [], "another 'pairs play' sends its ticks"),
    ({"settings": {"plan": "keyed"}}, [], "was not begun by 'pairs collect'"),
    ({"dataset": "/elsewhere"}, [], "is not the dataset of the run; give /elsewhere"),
    ({"strategies_digest": "other"}, [], "is another strategy set"),
    ({}, ["--drivers", "2"], "--drivers: the run was begun with 1; give another to 'pairs collect'"),
    ({}, ["--speed", "0"], "--speed: '0' is not valid"),
]


@pytest.mark.parametrize(("changes", "more", "message"), REFUSED)
def test_a_run_that_cannot_be_played_into(
    market: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    more: list[str],
    message: str,
) -> None:
    """It has ended, has ticks, has its own driver, or is another; it stays as it is."""
    begin(tmp_path / "run", market, **changes)
    before = (tmp_path / "run" / "run.json").read_bytes()
    assert message in refused(capsys, "play", market, "-o", tmp_path / "run", *more)
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def test_a_folder_that_is_not_a_run(market: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written into it."""
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    line = refused(capsys, "play", market, "-o", tmp_path / "letters")
    assert "exists and is not a run; give one that 'pairs collect' began, or a new folder" in line
    assert [file.name for file in (tmp_path / "letters").iterdir()] == ["a.txt"]
