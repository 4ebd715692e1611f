"""Bad input to `pairs generate`: exit code 2, one line that names the place and the remedy, nothing written."""

from pathlib import Path

import pytest

from pairs.cli import app as cli
from tests.conftest import Command

CASES = {
    "--sf 0": "--sf: '0' is not valid; give a whole number from 1",
    "--sf -1": "--sf: '-1' is not valid; give a whole number from 1",
    "--sf 1.5": "--sf: '1.5' is not valid; give a whole number from 1",
    "--sf x": "--sf: 'x' is not valid; give a whole number from 1",
    "--duration 0": "--duration: '0' is not valid; give a duration above zero",
    "--duration -2h": "--duration: '-2h' is not valid; give a duration above zero",
    "--duration soon": "--duration: 'soon' is not valid; give a duration above zero",
    "--basis-rate 0": "--basis-rate: '0' is not valid; give a rate above zero",
    "--basis-rate -5": "--basis-rate: '-5' is not valid; give a rate above zero",
    "--market-rate 0": "--market-rate: '0' is not valid; give a rate above zero",
    "--peak-factor 0": "--peak-factor: '0' is not valid; give a number above zero",
    "--peak-factor -1": "--peak-factor: '-1' is not valid; give a number above zero",
    "--correlations 51": "--correlations: 51 correlations need 102 symbols and there are 100; give at most 50",
    "--symbols 20 --correlations 11": "--correlations: 11 correlations need 22 symbols and there are 20; give at most",
    "--symbols 1": "--symbols: '1' is not valid; give a whole number from 2",
    "--strategies 0": "--strategies: '0' is not valid",
    "--correlation 1.1": "--correlation: '1.1' is not valid; give a number from -1 to 1",
    "--volatility -1": "--volatility: '-1' is not valid; give a number from 0 up",
    "--volatility 1": "--volatility: within 2h at a volatility of 1 a price can grow",
    "--arrivals poison": "--arrivals: 'poison' is not valid; give one of poisson, constant",
    "--market fair": "--market: 'fair' is not valid; give one of gbm, cointegrated",
    "--seed -1": "--seed: '-1' is not valid; give a whole number from 0",
    "--files 0": "--files: '0' is not valid; give a whole number from 1",
    "--files 99 --duration 1ms": "--files: 99 files for",
    "--format orc": "--format: 'orc' is not valid; give one of parquet, csv, virtual",
    "--profile quik": "--profile: no profile 'quik' (did you mean 'quick'?); give one of",
    "--profile missing.toml": "--profile: no profile 'missing.toml'; give one of",
    "--profile unknown_key.toml": "unknown_key.toml: unknown key 'durration'; did you mean 'duration'?",
    "--sclae 3": "No such option: --sclae",
}


@pytest.mark.parametrize("arguments", CASES)
def test_bad_values_are_refused(
    arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each wrong value is refused by name, before anything is written."""
    monkeypatch.chdir(tmp_path)
    Path("unknown_key.toml").write_text('durration = "2h"\n')
    assert cli.run(["generate", "-o", "market", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert error.startswith("pairs: ")
    assert CASES[arguments] in error
    assert [path.name for path in tmp_path.iterdir()] == ["unknown_key.toml"]


def refusal(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Generate into an unsuitable folder; return the line on stderr."""
    assert cli.run(["generate", "-o", str(path), "--profile", "quick", *more]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


def test_an_existing_folder_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Existing files stay without --overwrite."""
    kept = tmp_path / "market" / "dataset.json"
    kept.parent.mkdir()
    kept.write_text("mine")
    assert "exists already; choose another folder, or give --overwrite" in refusal(kept.parent, capsys)
    assert kept.read_text() == "mine"


def test_what_is_not_a_dataset_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--overwrite replaces datasets, not somebody's folder or file."""
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter7.tex").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("thesis", "file"):
        assert "is not a dataset, so it is not overwritten" in refusal(tmp_path / name, capsys, "--overwrite")
    assert (tmp_path / "thesis" / "chapter7.tex").read_text() == (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("parent", ["file", "/proc"])
def test_an_unwritable_folder_is_refused(tmp_path: Path, parent: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that cannot be made is named, with the reason."""
    (tmp_path / "file").write_text("")
    error = refusal(tmp_path / parent / "market", capsys)
    assert "cannot be written" in error
    assert "choose another folder" in error


def test_an_unknown_master_is_refused(pairs_command: Command, tmp_path: Path) -> None:
    """Spark's error becomes one line."""
    done = pairs_command("generate", "-o", "market", "--master", "nowhere://here")
    assert done.returncode == 2
    assert "pairs: --master: Spark did not start on 'nowhere://here': " in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_output_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The flag that is missing is named."""
    assert cli.run(["generate"]) == 2
    assert capsys.readouterr().err == "pairs: Missing option '--output' / '-o'; see 'pairs --help'\n"
