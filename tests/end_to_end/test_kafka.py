"""Runs over Kafka, on a real broker, judged by the validator; and what goes wrong on the way."""

import json
import os
import random
import signal
import socket
import time
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from pairs.cli import app as cli
from pairs.dataset.folder import Dataset
from pairs.validator.expected import compute
from tests.brokers import running_broker, topics_of
from tests.markets import CALM, GOLDEN, golden_market
from tests.processes import Command, errors_of, processes_of, start_pairs, wait_until

pytestmark = pytest.mark.process

GOLDEN_ANSWERS = (1499, 130)


@pytest.fixture(scope="module")
def markets(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> dict[str, Path]:
    """Make the golden markets, with their expected answers: validating runs needs no Spark then."""
    folder = tmp_path_factory.mktemp("markets")
    made = {
        name: golden_market(folder / name, source=source) for name, source in {"golden": GOLDEN, "calm": CALM}.items()
    }
    for dataset in made.values():
        compute(spark, Dataset(dataset))
    return made


@pytest.fixture
def golden(markets: dict[str, Path]) -> Path:
    """Return the golden market."""
    return markets["golden"]


def correct_answers(run: Path) -> tuple[int, int]:
    """Validate a run; return how many answers are correct, if all are."""
    assert cli.run(["validate", str(run)]) == 0
    found = json.loads((run / "validation.json").read_text())
    return found["indicators"]["correct"], found["orders"]["correct"]


def test_a_run_starts_a_broker_of_its_own(golden: Path, tmp_path: Path, pairs_command: Command) -> None:
    """Without --bootstrap nothing needs to be there, and nothing is left but what was recorded."""
    done = pairs_command("run", str(golden), "-o", "run", "--target", "bare", "--transport", "kafka", "--speed", "max")
    assert (done.returncode, errors_of(done.stderr)) == (0, ""), done.stderr
    assert correct_answers(tmp_path / "run") == GOLDEN_ANSWERS
    assert not processes_of(tmp_path / "run")
    assert not (tmp_path / "run" / "transport").exists()
    assert (tmp_path / "run" / "logs" / "broker.log").is_file()


@pytest.mark.parametrize(
    ("plan", "market", "more"),
    [
        ("keyed", "golden", ["--partitions", "3", "--set", "max-ticks-per-batch=5000"]),
        ("vectorized", "calm", ["--partitions", "3", "--set", "shards=2", "--drivers", "2"]),
        ("realtime", "golden", ["--set", "shards=2"]),
        ("native", "calm", ["--set", "shards=2", "--set", "max-ticks-per-batch=5000"]),
    ],
)
def test_spark_with_its_own_source_and_sink(
    plan: str,
    market: str,
    more: list[str],
    markets: dict[str, Path],
    tmp_path: Path,
    kafka_broker: str,
    pairs_command: Command,
) -> None:
    """Every answer is right, also if ticks come by several partitions and are merged; the connector is recorded."""
    over = ["--transport", "kafka", "--bootstrap", kafka_broker, "--plan", plan, *more]
    done = pairs_command("run", str(markets[market]), "-o", f"run-{plan}", "--speed", "max", *over)
    assert (done.returncode, errors_of(done.stderr)) == (0, ""), done.stderr
    assert correct_answers(tmp_path / f"run-{plan}") == (GOLDEN_ANSWERS if market == "golden" else (3379, 390))
    manifest = json.loads((tmp_path / f"run-{plan}" / "run.json").read_text())
    assert "spark-sql-kafka-0-10_2.13" in manifest["engine_versions"]
    assert not {topic for topic in topics_of(kafka_broker) if topic.startswith(f"run-{plan}")}


def test_no_secret_is_written(golden: Path, tmp_path: Path, pairs_command: Command, kafka_broker: str) -> None:
    """Values of Kafka's settings are in no file of a run; their names are."""
    secret = ["--kafka", "client.id=s3cret", "--kafka=client.rack=s3cret"]
    over = ["--transport", "kafka", "--bootstrap", kafka_broker, "--target", "bare", *secret]
    done = pairs_command("run", str(golden), "-o", "run", "--speed", "max", *over)
    assert done.returncode == 0, done.stderr
    assert cli.run(["validate", str(tmp_path / "run")]) == 0
    assert cli.run(["score", str(tmp_path / "run")]) in (0, 1)
    assert cli.run(["report", str(tmp_path / "run")]) == 0
    files = [file for file in (tmp_path / "run").rglob("*") if file.is_file()]
    assert len(files) > 8
    assert not [file for file in files if b"s3cret" in file.read_bytes()]
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["settings"]["kafka"] == {"client.id": "not recorded", "client.rack": "not recorded"}
    assert (
        manifest["command"][-4:-2] == ["--kafka", "client.id=..."] or "--kafka=client.rack=..." in manifest["command"]
    )


BAD_INPUT = {
    "unreachable": (["--bootstrap", "127.0.0.1:1"], "--bootstrap: no broker answers at 127.0.0.1:1"),
    "login": (
        [
            *("--kafka", "security.protocol=SASL_PLAINTEXT", "--kafka", "sasl.mechanisms=PLAIN"),
            *("--kafka", "sasl.username=me", "--kafka", "sasl.password=s3cret"),
        ],
        "--kafka: BROKER refuses the login",
    ),
    "unknown setting": (["--kafka", "nonsense=1"], '--kafka: No such configuration property: "nonsense"'),
    "too few partitions": (["--drivers", "2"], "--partitions: 1 are too few for 2 drivers"),
    "partitions that a plan cannot merge": (
        ["--target", "pyspark", "--plan", "realtime", "--partitions", "2"],
        "--partitions: plan realtime needs all ticks in one partition",
    ),
    "no jars": (["--target", "pyspark", "--jars", "nowhere"], "--jars: nowhere: has no jars"),
    "not a pair": (["--kafka", "sasl.password"], "--kafka: 'sasl.password' is not valid; give a name and a value"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input(case: str, golden: Path, tmp_path: Path, kafka_broker: str, pairs_command: Command) -> None:
    """One line that names the place and the remedy, exit 2; no folder, no topic and no process is left."""
    flags, expected = BAD_INPUT[case]
    target = [] if "--target" in flags else ["--target", "bare"]
    reached = [] if "--bootstrap" in flags else ["--bootstrap", kafka_broker]
    done = pairs_command("run", str(golden), "-o", "run", "--transport", "kafka", *reached, *target, *flags)
    lines = errors_of(done.stderr).splitlines()
    assert done.returncode == 2
    assert len(lines) == 1
    assert lines[0].startswith(f"pairs: {expected.replace('BROKER', kafka_broker)}"), lines
    assert "; " in lines[0]
    assert "s3cret" not in lines[0]
    assert not (tmp_path / "run").exists()
    assert not {topic for topic in topics_of(kafka_broker) if topic.startswith("run.")}


def test_settings_of_kafka_need_kafka(golden: Path, pairs_command: Command) -> None:
    """They are refused where they would have no effect."""
    done = pairs_command("run", str(golden), "-o", "run", "--partitions", "2")
    assert done.returncode == 2
    assert "--partitions: only transport kafka has this setting, and the transport is ticklog" in done.stderr


@pytest.mark.slow
def test_a_broker_that_dies_ends_the_run(golden: Path, tmp_path: Path) -> None:
    """The run is failed, says why, and keeps what was recorded; nothing is left behind."""
    with running_broker(tmp_path / "broker") as broker:
        over = ["--transport", "kafka", "--bootstrap", broker.bootstrap, "--target", "bare", "--speed", "20"]
        process = start_pairs("run", golden, "-o", tmp_path / "run", *over)
        wait_until(lambda: (tmp_path / "run" / "indicators.arrows").is_file() and _has_answers(tmp_path / "run"))
        os.kill(broker.pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert "Kafka" in errors_of(errors)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["state"] == "failed"
    assert (tmp_path / "run" / "indicators.parquet").stat().st_size > 1_000
    assert not processes_of(tmp_path / "run")


def _has_answers(run: Path) -> bool:
    try:
        return bool(json.loads((run / "sink.json").read_text())["rows"]["indicators"])
    except (OSError, ValueError):
        return False


def test_a_broker_of_the_run_that_dies_ends_it(golden: Path, tmp_path: Path) -> None:
    """The broker is named as what ended, with its log."""
    over = ["--transport", "kafka", "--target", "bare", "--speed", "20"]
    process = start_pairs("run", golden, "-o", tmp_path / "run", *over)
    wait_until(lambda: _has_answers(tmp_path / "run"))
    broker = next(pid for pid, line in processes_of(tmp_path / "run").items() if "kafka.Kafka" in line)
    os.kill(broker, signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "the broker ended with exit code -9" in errors_of(errors)
    assert not processes_of(tmp_path / "run")


def test_the_broker_of_a_laptop(tmp_path: Path, pairs_command: Command) -> None:
    """It outlives the command that starts it, is found again, and is gone with its data when it is stopped."""
    where = ["--folder", "broker"]
    port = _free_port()
    try:
        started = pairs_command("broker", "start", "--port", str(port), *where)
        assert (started.returncode, errors_of(started.stderr)) == (0, "")
        assert f"broker at 127.0.0.1:{port}" in started.stdout
        again = pairs_command("broker", "start", "--port", str(port), *where)
        assert again.returncode == 2
        assert "a broker runs already" in again.stderr
        assert f"127.0.0.1:{port}, process" in pairs_command("broker", "status", *where).stdout
        assert topics_of(f"127.0.0.1:{port}") == set()
    finally:
        stopped = pairs_command("broker", "stop", *where)
    assert stopped.stdout == "the broker is stopped, its data removed\n"
    assert pairs_command("broker", "status", *where).returncode == 1
    assert pairs_command("broker", "stop", *where).stdout == "no broker was running\n"
    assert not processes_of(tmp_path / "broker")
    assert not (tmp_path / "broker" / "data").exists()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("delivery", ["spark", "once"])
def test_kills_at_random_moments(
    delivery: str, golden: Path, tmp_path: Path, kafka_broker: str, random_seed: int
) -> None:
    """Five times kill -9 of the engine: no answer is missing or wrong; those that came twice are counted and named."""
    chance = random.Random(random_seed)  # noqa: S311 - not a secret
    over = ["--transport", "kafka", "--bootstrap", kafka_broker, "--partitions", "2", "--speed", "5"]
    moments = sorted(chance.uniform(60, 840) for _ in range(5))
    faults = [flag for moment in moments for flag in ("--fault", f"kill@{moment:.0f}s")]
    run = tmp_path / f"run-{delivery}"
    process = start_pairs("run", golden, "-o", run, *over, "--set", f"delivery={delivery}", *faults)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    cli.run(["validate", str(run)])
    cli.run(["score", str(run)])
    found = json.loads((run / "validation.json").read_text())
    for stream, expected in zip(("indicators", "orders"), GOLDEN_ANSWERS, strict=True):
        counts = found[stream]
        assert (counts["correct"], counts["missing"], counts["wrong"]) == (expected, 0, 0)
        assert counts["undue"] == counts["duplicates"]
    recovery = json.loads((run / "score.json").read_text())["recovery"]
    twice = sum(found[stream]["duplicates"] for stream in ("indicators", "orders"))
    assert recovery["faults"] == 5
    assert recovery["kind"] == ("rollback" if twice else "precise")
    assert not twice or f"{twice:,} came twice" in recovery["explanation"]
    assert not (twice and delivery == "once")


def test_no_process_is_left_after_an_interrupt(golden: Path, tmp_path: Path) -> None:
    """Ctrl-C while the engine runs ends the broker, too."""
    process = start_pairs(
        "run", golden, "-o", tmp_path / "run", "--transport", "kafka", "--target", "bare", "--speed", "1"
    )
    wait_until(lambda: any("app.py" in line for line in processes_of(tmp_path / "run").values()))
    time.sleep(1)
    below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert not psutil.wait_procs(below, timeout=5)[1]
    assert not processes_of(tmp_path / "run")
