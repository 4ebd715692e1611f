"""The whole benchmark in one command, in real time, without an engine so that it takes seconds."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairs.cli import app as cli
from tests.conftest import Command

WORKLOAD = ("--profile", "quick", "--master", "local[2]")


def test_from_nothing_to_a_score(tmp_path: Path, pairs_command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Two hours of trading in forty seconds: every answer correct, every tick sent, everything recorded."""
    arguments = (*WORKLOAD, "--speed", "180", "--target", "bare", "--drivers", "2")
    done = pairs_command("bench", *arguments, "-o", "run", "--data", "market")
    score = json.loads((tmp_path / "run" / "score.json").read_text())
    assert "Validation result: PASSED" in done.stdout, done.stderr
    assert (done.returncode == 0) is score["valid"]
    assert all("driver" in reason for reason in score["reasons"])  # a busy machine
    assert score["load"] == pytest.approx(9)
    assert score["p_score"] == pytest.approx(9 / score["p99"])
    assert score["p99_interval"][0] <= score["p99"] <= score["p99_interval"][1]
    assert score["class"] == "block"
    counted = f"{score['orders']} orders of {score['triggers']} triggers"
    assert all(word in done.stdout for word in (counted, "class block", "bootstrap over triggers"))
    assert score["send_delay"]["ticks"] == json.loads((tmp_path / "run" / "run.json").read_text())["ticks"]
    assert 0 < score["latency_s"]["indicators"]["min"] < 1
    assert (score["standard"], score["scale_factor"], score["target"]) == (False, 1, "bare")
    parts = set(pq.read_table(tmp_path / "run" / "resources.parquet")["part"].to_pylist())
    assert parts == {"sink", "engine Python", "driver-0", "driver-1"}
    assert cli.run(["score", str(tmp_path / "run"), "--json"]) == (0 if score["valid"] else 1)
    assert json.loads(capsys.readouterr().out) == score
    stands_for_itself(tmp_path / "run", tmp_path / "market", score, capsys)


def stands_for_itself(run: Path, market: Path, score: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Another strategy set or dataset is refused by name; without the dataset, score and report are as before."""
    strategies = (market / "strategies.xml").read_text()
    (market / "strategies.xml").write_text(strategies.replace('numPeriods="5"', 'numPeriods="6"'))
    for verb in ("score", "validate", "report"):
        assert cli.run([verb, str(run)]) == 2
        assert f"{market / 'strategies.xml'}: is another strategy set: digest" in capsys.readouterr().err
    (market / "strategies.xml").write_text(strategies)
    manifest = (market / "dataset.json").read_text()
    (market / "dataset.json").write_text(manifest.replace('"digest": "', '"digest": "0'))
    for verb in ("score", "validate", "report"):
        assert cli.run([verb, str(run)]) == 2
        assert f"{market}: is another dataset: digest" in capsys.readouterr().err
    market.rename(market.with_name("elsewhere"))
    cli.run(["score", str(run), "--json"])
    assert json.loads(capsys.readouterr().out) == score
    assert cli.run(["report", str(run)]) == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_default_plan_has_a_valid_score(tmp_path: Path, pairs_command: Command) -> None:
    """`pairs bench --profile quick --sf 1`: two minutes of PySpark, with orders, triggers, interval and class."""
    done = pairs_command("bench", *WORKLOAD, "--sf", "1", "-o", "run")
    score = json.loads((tmp_path / "run" / "score.json").read_text())
    assert done.returncode == 0, score["reasons"]
    assert (score["plan"], score["class"], score["valid"]) == ("keyed", "keyed", True)
    assert min(score["orders"], score["triggers"]) >= 100


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_minutes_at_speed_1_are_void(tmp_path: Path, pairs_command: Command) -> None:
    """The warning comes when the market is generated and when the run starts; the score says how little there is."""
    market = ("--profile", "standard", "--sf", "100", "--duration", "2m", "--generate")
    done = pairs_command("bench", *market, "--target", "bare", "-o", "run")
    reasons = " ".join(json.loads((tmp_path / "run" / "score.json").read_text())["reasons"])
    assert done.returncode == 1
    assert "runs on this dataset cannot have a valid score" in done.stderr
    assert "the score of this run will be void" in done.stderr
    assert "of 12 triggers" in reasons
    assert "% of strategies (" in reasons


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


def test_a_dataset_is_taken_as_it_is(tmp_path: Path, pairs_command: Command) -> None:
    """`pairs bench --data D --speed 200` needs no profile, at whatever speed D was meant to be replayed."""
    made = pairs_command("generate", "-o", "market", *WORKLOAD, "--duration", "5m", "--seed", "9")
    done = pairs_command("bench", "--data", "market", "--target", "bare", "--speed", "200", "-o", "run")
    assert (made.returncode, done.returncode) == (0, 1), done.stderr
    assert "Validation result: PASSED" in done.stdout, done.stderr
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (run["settings"]["speed"], run["dataset_manifest"]["parameters"]["seed"]) == (200, 9)


@pytest.mark.slow
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
