"""The whole benchmark in one command, in real time, without an engine so that it takes seconds."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairs.cli import app as cli
from tests.conftest import Command

WORKLOAD = ("--profile", "quick", "--master", "local[2]")


def test_from_nothing_to_a_score(tmp_path: Path, pairs_command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty minutes of trading in twenty seconds: every answer correct, every tick sent, everything recorded."""
    arguments = (*WORKLOAD, "--duration", "20m", "--target", "bare", "--drivers", "2")
    done = pairs_command("bench", *arguments, "-o", "run", "--data", "market")
    score = json.loads((tmp_path / "run" / "score.json").read_text())
    assert "Validation result: PASSED" in done.stdout, done.stderr
    assert (done.returncode == 0) is score["valid"]
    assert all("driver" in reason for reason in score["reasons"])  # a busy machine
    assert score["load"] == pytest.approx(3)
    assert score["p_score"] == pytest.approx(3 / score["p99"])
    assert score["send_delay"]["ticks"] == json.loads((tmp_path / "run" / "run.json").read_text())["ticks"]
    assert 0 < score["latency_s"]["indicators"]["min"] < 1
    assert (score["standard"], score["scale_factor"], score["target"]) == (False, 1, "bare")
    parts = set(pq.read_table(tmp_path / "run" / "resources.parquet")["part"].to_pylist())
    assert parts == {"sink", "engine Python", "driver-0", "driver-1"}
    assert cli.run(["score", str(tmp_path / "run"), "--json"]) == (0 if score["valid"] else 1)
    assert json.loads(capsys.readouterr().out) == score


def test_answers_carry_the_scheduled_time(tmp_path: Path, pairs_command: Command) -> None:
    """TS of a trigger is start + tickTS / speed, to the microsecond; no answer arrives before its trigger is due."""
    made = [
        pairs_command("generate", "-o", "market", *WORKLOAD, "--duration", "5m"),
        pairs_command("strategies", "market"),
        pairs_command("run", "market", "--target", "bare", "-o", "run", "--speed", "100"),
    ]
    assert [done.returncode for done in made] == [0, 0, 0], made[-1].stderr
    start = json.loads((tmp_path / "run" / "run.json").read_text())["start_us"]
    rows = pq.read_table(tmp_path / "run" / "indicators.parquet").to_pylist()
    assert len(rows) > 100
    assert all(row["inputTS"] == start + row["inputTickTS"] * 10 for row in rows)
    assert all(row["sinkTS"] > row["inputTS"] for row in rows)


def test_a_market_that_is_never_stored(tmp_path: Path, pairs_command: Command) -> None:
    """Drawn by the driver and again by the validator: same digest, same answers, no ticks on disk."""
    workload = (*WORKLOAD, "--duration", "5m")
    stored = pairs_command("generate", "-o", "stored", *workload)
    run = pairs_command("run", "--generate", *workload, "--target", "bare", "--speed", "max", "-o", "run")
    assert (stored.returncode, run.returncode) == (0, 0), run.stderr
    checked = pairs_command("validate", "run")
    assert "Validation result: PASSED" in checked.stdout, checked.stderr
    virtual = tmp_path / "data" / "quick-sf1-virtual"
    digests = {json.loads((folder / "dataset.json").read_text())["digest"] for folder in (tmp_path / "stored", virtual)}
    assert len(digests) == 1
    assert sum(file.stat().st_size for file in (virtual / "ticks").iterdir()) < 2_000
    (tmp_path / "stored" / "strategies.xml").write_bytes((virtual / "strategies.xml").read_bytes())
    assert pairs_command("expected", "stored").returncode == 0
    for stream in ("indicators", "orders"):
        both = [pq.read_table(folder / "expected" / f"{stream}.parquet") for folder in (tmp_path / "stored", virtual)]
        assert both[0].equals(both[1])
        assert len(both[0]) > 0 or stream == "orders"
