"""Wrong uses of `pairs run` and `pairs score`: one line that names the place and the remedy, exit 2."""

from pathlib import Path

import pytest

from pairs.cli import app as cli
from tests.records import run_manifest


def test_a_run_needs_a_dataset_or_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    """Flags of a workload need --generate."""
    assert cli.run(["run"]) == 2
    assert "DATASET: missing" in capsys.readouterr().err
    assert cli.run(["run", "somewhere", "--volatility", "0.1"]) == 2
    assert "--volatility: belongs to a workload; give it with --generate" in capsys.readouterr().err


def test_only_a_validated_run_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not a run, or not validated yet."""
    assert cli.run(["score", str(tmp_path / "nowhere")]) == 2
    assert "not a run" in capsys.readouterr().err
    run_manifest().write(tmp_path / "run.json")
    assert cli.run(["score", str(tmp_path)]) == 2
    assert "not validated yet" in capsys.readouterr().err
