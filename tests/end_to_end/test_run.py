"""Generated programs on the real Spark, played unpaced, judged by the validator: every answer right, however cut."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pairs.cli import app as cli
from pairs.dataset.folder import Dataset
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run
from pairs.translator.targets.pyspark import PySpark
from pairs.validator.expected import compute
from tests.markets import CALM, GOLDEN, golden_market
from tests.processes import SPARK, Command, descendants, descendants_with, errors_of, is_alive, processes_of, wait_until

pytestmark = pytest.mark.process

PLANS = [*(("pyspark", plan) for plan in PySpark.plans), ("bare", "vectorized")]


@pytest.fixture(scope="module")
def markets(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> dict[str, Path]:
    """Make four markets: the golden ones, one of odd periods, and one of few ticks."""
    folder = tmp_path_factory.mktemp("markets")
    made = {
        "golden": golden_market(folder / "golden"),
        "calm": golden_market(folder / "calm", source=CALM),
        "odd": golden_market(folder / "odd", periods_s=(7, 11, 13)),
        "few": golden_market(folder / "few", ticks=120),
    }
    for dataset in made.values():
        compute(spark, Dataset(dataset))
    return made


def answers(run: Path) -> tuple[int, int]:
    """Validate a run, which must pass; return how many answers it gave."""
    assert cli.run(["validate", str(run)]) == 0
    found = json.loads((run / "validation.json").read_text())
    assert found["verdict"] == "PASSED"
    return found["indicators"]["correct"], found["orders"]["correct"]


def play(command: Command, dataset: Path, run: Path, target: str, plan: str, *more: str) -> tuple[int, int]:
    """Run a program unpaced; return how many answers it gave, all of them right."""
    done = command("run", str(dataset), "-o", str(run), "--speed", "max", "--target", target, "--plan", plan, *more)
    assert (done.returncode, errors_of(done.stderr)) == (0, ""), done.stderr
    return answers(run)


@pytest.mark.parametrize(
    ("market", "batch"),
    [("few", "1"), ("few", "7"), ("golden", "1000"), ("calm", "1000"), ("odd", "1000"), ("golden", "0")],
)
def test_bare(markets: dict[str, Path], market: str, batch: str, tmp_path: Path, pairs_command: Command) -> None:
    """The program without an engine is right, however many ticks it looks at together."""
    setting = f"max-ticks-per-batch={batch}"
    found = play(pairs_command, markets[market], tmp_path / "run", "bare", "vectorized", "--set", setting)
    assert found == {"golden": (1499, 130), "calm": (3379, 390)}.get(market, found)


def case(plan: str, market: str, *settings: str, slow: bool = False) -> Any:
    """Describe a run unpaced; some are slow."""
    name = ", ".join([plan, market, *settings])
    return pytest.param(plan, market, settings, id=name, marks=[pytest.mark.slow] if slow else [])


CASES = [
    case("vectorized", "golden", "master=local[2]"),
    case("vectorized", "calm", "master=local[2]", slow=True),
    case("vectorized", "odd", "shards=5", "partitions=4", "max-ticks-per-batch=5000", slow=True),
    case("vectorized", "golden", "state=parts", "max-ticks-per-batch=1000", slow=True),
    case("vectorized", "odd", "state=parts", "shards=3", "partitions=2", "max-ticks-per-batch=5000"),
    case("keyed", "calm", "master=local[2]", "partitions=2"),
    case("keyed", "odd", "master=local[2]", "partitions=4", slow=True),
    case("realtime", "golden", slow=True),
    case("realtime", "calm", "write-state=through"),
    case("realtime", "odd", "shards=2", "max-ticks-per-batch=5000"),
    case("realtime", "odd", "shards=3", "write-state=through", "max-ticks-per-batch=4000", slow=True),
    case("native", "odd", slow=True),
    case("native", "calm", "shards=2", "partitions=2", "max-ticks-per-batch=3000"),
    case("native", "golden", "mode=realtime", "max-ticks-per-batch=20000"),
]


@pytest.mark.parametrize(("plan", "market", "settings"), CASES)
def test_pyspark(
    markets: dict[str, Path],
    plan: str,
    market: str,
    settings: Sequence[str],
    tmp_path: Path,
    pairs_command: Command,
) -> None:
    """All plans are right, whatever the shards, the partitions and the batches."""
    more = [word for setting in settings for word in ("--set", setting)]
    assert sum(play(pairs_command, markets[market], tmp_path / "run", "pyspark", plan, *more)) > 1_000


SLOW_CASES = [
    (plan, state, market, master, shards, partitions, batch)
    for plan, state in (("vectorized", ["state=whole"]), ("vectorized", ["state=parts"]), ("keyed", []))
    for market, master, shards, partitions, batch in [
        ("few", "local[2]", "2", "1", "1"),
        ("few", "local[1]", "1", "4", "7"),
        ("golden", "local[1]", "2", "4", "1000"),
        ("golden", "local-cluster[2,1,1024]", "5", "4", "0"),
        ("odd", "local-cluster[2,1,1024]", "1", "1", "5000"),
    ]
]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("plan", "state", "market", "master", "shards", "partitions", "batch"), SLOW_CASES)
def test_pyspark_everywhere(
    markets: dict[str, Path],
    plan: str,
    state: list[str],
    market: str,
    master: str,
    shards: str,
    partitions: str,
    batch: str,
    tmp_path: Path,
    pairs_command: Command,
) -> None:
    """On any master, in batches of one tick, of seven, of a thousand and of all."""
    sets = [*state, f"master={master}", f"shards={shards}", f"partitions={partitions}", f"max-ticks-per-batch={batch}"]
    more = [argument for setting in sets for argument in ("--set", setting)]
    assert sum(play(pairs_command, markets[market], tmp_path / "run", "pyspark", plan, *more)) > 50


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("scale_factor", ["1", "11"])
def test_quick_markets(scale_factor: str, tmp_path: Path, pairs_command: Command) -> None:
    """A generated market at two scale factors, all targets and plans."""
    market = tmp_path / "market"
    for arguments in (
        ["generate", "-o", str(market), "--profile", "quick", "--sf", scale_factor],
        ["strategies", str(market)],
        ["expected", str(market)],
    ):
        assert pairs_command(*arguments).returncode == 0
    found = {play(pairs_command, market, tmp_path / f"{target}-{plan}", target, plan) for target, plan in PLANS}
    assert len(found) == 1


def test_a_run_leaves_what_one_needs(markets: dict[str, Path], tmp_path: Path, pairs_command: Command) -> None:
    """The answers, the program, the logs and the records; nothing of the transport. A second run is refused."""
    run = tmp_path / "run"
    play(pairs_command, markets["few"], run, "bare", "vectorized")
    assert sorted(file.name for file in run.iterdir()) == [
        "app",
        "indicators.parquet",
        "logs",
        "machine.parquet",
        "orders.parquet",
        "resources.parquet",
        "run.json",
        "sink.json",
        "strategies.xml",
        "throughput.parquet",
        "validation.json",
    ]
    facts = json.loads((run / "run.json").read_text())
    assert (facts["state"], facts["settings"]["target"]) == ("ended", "bare")
    again = pairs_command("run", str(markets["few"]), "-o", str(run), "--speed", "max", "--target", "bare")
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_spark_tells_of_its_batches(markets: dict[str, Path], tmp_path: Path, pairs_command: Command) -> None:
    """Its settings; how long each batch took and in which parts, its ticks and its state; the JVM's garbage."""
    play(pairs_command, markets["few"], tmp_path / "run", "pyspark", "vectorized", "--set", "max-ticks-per-batch=50")
    lines = [json.loads(line) for line in (tmp_path / "run" / "progress.jsonl").read_text().splitlines()]
    batches = [line for line in lines if line["kind"] == "batch"]
    assert [batch["batch"] for batch in batches] == list(range(1, len(batches) + 1))  # number 0 is empty
    assert sum(batch["rows"] for batch in batches) == 120
    assert all(0 < batch["duration_ms"]["addBatch"] <= batch["duration_ms"]["total"] for batch in batches)
    answered = [batch for batch in batches if batch["handed"]]
    assert answered
    for batch in answered:  # its answers left within it; its begin is known to a millisecond
        assert 0 < (batch["handed"] - batch["time"]) / 1000 < batch["duration_ms"]["total"] + 1
    assert batches[-1]["state_rows"] == 1
    assert batches[-1]["state_bytes"] > 0
    assert all(line["heap_bytes"] > 0 for line in lines if line["kind"] == "jvm")
    [settings] = [line["settings"] for line in lines if line["kind"] == "settings"]
    assert settings["spark.master"] == "local[*,4]"
    assert settings["spark.sql.streaming.pollingDelay"] == "1ms"


def test_a_program_that_fails_is_reported(markets: dict[str, Path], tmp_path: Path, pairs_command: Command) -> None:
    """One line with the reason and the log; no process is left."""
    run = tmp_path / "run"
    done = pairs_command(
        "run", str(markets["few"]), "-o", str(run), "--speed", "max", "--set", "master=nonsense://here"
    )
    assert done.returncode == 1
    assert errors_of(done.stderr).count("\n") == 1
    assert "the engine ended with exit code" in done.stderr
    assert str(run / "logs" / "engine.log") in done.stderr
    assert processes_of(run) == {}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_no_process(markets: dict[str, Path], tmp_path: Path, sent: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end driver, engine and sink; they end even if the run is killed and can do nothing."""
    run = tmp_path / "run"
    command = [sys.executable, "-m", "pairs.cli", "run", str(markets["few"]), "-o", str(run), "--speed", "max"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: bool(descendants_with(running.pid, SPARK)))
    started = descendants(running.pid)
    running.send_signal(sent)
    _, errors = running.communicate(timeout=60)
    if sent != signal.SIGKILL:
        kept = f"pairs: interrupted; {run} keeps what was recorded until then, marked as failed\n"
        assert (running.returncode, errors_of(errors)) == (130, kept)
        assert (Run(run).manifest.state, Run(run).manifest.reason) == ("failed", "interrupted")
    wait_until(lambda: not any(map(is_alive, started)))  # Spark's JVM notices that its Python has gone
    assert processes_of(run) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--speed", "max", "--target", "pyspork"], "did you mean 'pyspark'?"),
        (["--speed", "max", "--plan", "x"], "--plan: 'x' is not a plan of pyspark"),
        (["--speed", "max", "--fault", "flood@3s"], "--fault: 'flood@3s' is not a fault; give one of kill, kill-"),
        (["--speed", "max", "--set", "sharsd=2"], "--set sharsd: is not a setting of pyspark; did you mean 'shards'?"),
        (["--speed", "max", "--fault", "kill@15m"], "--fault: 'kill@15m' is after the close; give a time before 15m"),
        (["--target", "bare", "--fault", "kill@3s"], "--fault: bare keeps no state that survives a crash"),
        (["--speed", "1e9"], "--speed: '1e9' is not valid; give a number from 0.001 to 10,000"),
    ],
)
def test_bad_input(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused in one line before anything starts."""
    market = golden_market(tmp_path / "market")
    assert cli.run(["run", str(market), "-o", str(tmp_path / "run"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_programs_explain_themselves(tmp_path: Path) -> None:
    """`python app.py --help` says what it takes, without starting Spark."""
    for target, plan in PLANS:
        app = GOLDEN / "apps" / f"{target}-{plan}"
        copied = tmp_path / f"{target}-{plan}"
        shutil.copytree(app, copied)
        done = subprocess.run(
            [sys.executable, str(copied / "app.py"), "--help"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "--source FOLDER" in done.stdout
        assert len(read_strategies(GOLDEN / "strategies.xml").strategies) == 18
