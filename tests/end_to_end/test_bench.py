"""The whole benchmark in one command, in real time, without an engine so that it takes seconds."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairs import cli

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_from_nothing_to_a_score(tmp_path: Path, pairs_command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty minutes of trading in twenty seconds: every answer right, every tick sent, all of it on record."""
    arguments = [
        "--profile",
        "quick",
        "--duration",
        "20m",
        "--target",
        "bare",
        "--drivers",
        "2",
        "--master",
        "local[2]",
    ]
    done = pairs_command("bench", *arguments, "-o", "run", "--data", "market")
    score = json.loads((tmp_path / "run" / "score.json").read_text())
    assert "Validation result: PASSED" in done.stdout, done.stderr
    assert (done.returncode == 0) is score["valid"]
    assert set(score["reasons"]) <= {
        one for one in score["reasons"] if one.startswith("the driver was")
    }  # a busy machine
    assert score["load"] == pytest.approx(3)
    assert score["p_score"] == pytest.approx(3 / score["p99"])
    assert score["driver_lateness"]["ticks"] == json.loads((tmp_path / "run" / "run.json").read_text())["ticks"]
    assert 0 < score["latency_s"]["indicators"]["min"] < 1
    assert (score["standard"], score["scale_factor"], score["target"]) == (False, 1, "bare")
    parts = set(pq.read_table(tmp_path / "run" / "resources.parquet")["part"].to_pylist())
    assert parts == {"sink", "engine Python", "driver-0", "driver-1"}
    assert cli.run(["score", str(tmp_path / "run"), "--json"]) == (0 if score["valid"] else 1)
    assert json.loads(capsys.readouterr().out) == score


def test_answers_carry_the_scheduled_time(tmp_path: Path, pairs_command: Command) -> None:
    """TS of a trigger is start + tickTS / speed, to the microsecond, and no answer comes before its trigger is due."""
    made = [
        pairs_command("generate", "-o", "market", "--profile", "quick", "--duration", "5m", "--master", "local[2]"),
        pairs_command("strategies", "market"),
        pairs_command("run", "market", "--target", "bare", "-o", "run", "--speed", "100"),
    ]
    assert [one.returncode for one in made] == [0, 0, 0], made[-1].stderr
    start = json.loads((tmp_path / "run" / "run.json").read_text())["start_us"]
    rows = pq.read_table(tmp_path / "run" / "indicators.parquet").to_pylist()
    assert len(rows) > 100
    assert all(row["inputTS"] == start + row["inputTickTS"] * 10 for row in rows)
    assert all(row["sinkTS"] > row["inputTS"] for row in rows)


def test_what_cannot_be_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No run, or one that was not validated: one line, exit 2."""
    assert cli.run(["score", str(tmp_path / "nowhere")]) == 2
    assert "no run there" in capsys.readouterr().err
    (tmp_path / "run.json").write_text(json.dumps({"dataset": "x"}))
    assert cli.run(["score", str(tmp_path)]) == 2
    assert "not validated yet" in capsys.readouterr().err
