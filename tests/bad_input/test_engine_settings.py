"""Bad settings of an engine: refused by every verb that runs it, before anything is written or started."""

import os
from pathlib import Path

import pytest

from pairs.cli import app as cli
from tests.markets import golden_market

VERBS = {
    "run": ["run", "market"],
    "run --generate": ["run", "--generate", "--duration", "10s"],
    "bench": ["bench", "--duration", "10s"],
    "bench of a grid": ["bench", "--duration", "10s", "--drivers", "1,2"],
    "sweep": ["sweep", "--duration", "10s"],
    "search": ["search"],
}
_TICKS = "give a whole number from 0 to 1,000,000,000"
CASES = {
    "max-ticks-per-batch=-1": f"--set max-ticks-per-batch: '-1' is not valid; {_TICKS}",
    "max-ticks-per-batch=abc": f"--set max-ticks-per-batch: 'abc' is not valid; {_TICKS}",
    "max-ticks-per-batch=": f"--set max-ticks-per-batch: '' is not valid; {_TICKS}",
    "max-ticks-per-batch=1000000001": "--set max-ticks-per-batch: '1000000001' is not valid",
    "shards=0": "--set shards: '0' is not valid; give a whole number from 1 to 10,000",
    "partitions=1.5": "--set partitions: '1.5' is not valid; give a whole number from 1 to 10,000",
    "ticks-per-read=0": "--set ticks-per-read: '0' is not valid; give a whole number from 1 to 10,000,000",
    "state=whole": "--set state: pyspark has it only with plan vectorized; leave it out, or give that plan",
    "master=nowhere": "--set master: 'nowhere' is not valid; give a Spark master such as local[*]",
    "master=local[0]": "--set master: 'local[0]' is not valid; give a Spark master such as local[*]",
    "shard=2": "--set shard: is not a setting of pyspark; did you mean 'shards'?",
    "sparc.sql.x=1": "--set sparc.sql.x: is not a setting of pyspark; give one of master, shards, partitions, max-",
    "nosuch": "--set: 'nosuch' is not valid; give a name and a value such as spark.sql.shuffle.partitions=2",
}


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that is refused in one line; return the line."""
    before = sorted(Path().rglob("*"))
    assert cli.run(list(arguments)) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1), shown.err
    assert sorted(Path().rglob("*")) == before
    return shown.err.removeprefix("pairs: ")


@pytest.fixture(autouse=True)
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that holds a dataset."""
    monkeypatch.chdir(tmp_path)
    golden_market(tmp_path / "market")


@pytest.mark.parametrize("setting", CASES)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_refuses_a_bad_setting(verb: str, setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the name, the value and what would be valid; no dataset is generated first."""
    assert refusal(capsys, *VERBS[verb], "--set", setting).startswith(CASES[setting])


def test_every_point_of_a_sweep_is_checked_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Also the last."""
    error = refusal(capsys, "sweep", "--target", "bare", "--set", "max-ticks-per-batch=5,6,-1")
    assert error.startswith("--set max-ticks-per-batch: '-1' is not valid")


@pytest.mark.parametrize("verb", ["run --generate", "bench", "bench of a grid", "sweep", "search"])
def test_a_fault_after_the_close_is_refused_first(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The duration is known before a dataset is generated."""
    error = refusal(capsys, *VERBS[verb], "--fault", "kill@3h")
    assert error.startswith("--fault: 'kill@3h' is after the close; give a time before")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cores", "0"], "--cores: '0' is not valid; give a whole number from 1 to 10,000"),
        (["--cores", "10000"], "--cores: 10000 is more than this run may use; give at most "),
        (
            ["--cores", "1", "--master", "yarn"],
            "--cores: pyspark cannot limit its cores on yarn; leave it out, and size",
        ),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_cores_that_an_engine_cannot_have(
    verb: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No more than there are, and only where they can be limited."""
    assert refusal(capsys, *VERBS[verb], *arguments).startswith(message)


def test_a_system_that_cannot_limit_cores(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Some systems do not bind processes to cores."""
    monkeypatch.delattr(os, "sched_getaffinity")
    error = refusal(capsys, "run", "market", "--cores", "1")
    assert error == "--cores: this system does not bind processes to cores; leave it out\n"


NO_WORKER = {
    "": "--fault: a worker belongs to a standalone cluster, and the master is local[*,4]; give --master spark://HOST:PORT",
    "yarn": "--fault: a worker belongs to a standalone cluster, and the master is yarn; give --master spark://HOST:PORT",
    "spark://127.0.0.1:1": "--fault: no worker of spark://127.0.0.1:1 runs on this machine; start at least two",
}


@pytest.mark.parametrize("master", NO_WORKER)
@pytest.mark.parametrize("verb", VERBS)
def test_a_fault_in_a_worker_needs_a_worker(verb: str, master: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a standalone cluster, on this machine."""
    given = ["--master", master] if master else []
    error = refusal(capsys, *VERBS[verb], *given, "--fault", "kill-worker@3s")
    assert error.startswith(NO_WORKER[master])
    assert error.endswith("or leave the fault out\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[settings]\nshards = 0", "mine.toml: settings shards: '0' is not valid; give a whole number"),
        ("[settings]\nshrads = 1", "mine.toml: settings shrads: is not a setting of pyspark; did you mean 'shards'?"),
        ("[settings]\nshards = [1]", "mine.toml: settings: shards: [1] is not valid; give a text or a number"),
        ("settings = 3", "mine.toml: settings: 3 is not valid; give a table of settings by name"),
        ('target = "pyspork"', "mine.toml: target: 'pyspork' is not a target; did you mean 'pyspark'?"),
        ('plan = "block"', "mine.toml: plan: 'block' is not a plan of pyspark; give one of keyed, vectorized"),
        ('transport = "pigeon"', "mine.toml: transport: 'pigeon' is not a transport; give one of ticklog"),
        ('faults = ["flood@3s"]', "mine.toml: faults: 'flood@3s' is not a fault; give one of kill, kill-worker, then"),
        ('faults = ["kill-worker@3s"]', "mine.toml: faults: a worker belongs to a standalone cluster"),
        ('faults = ["kill@0"]', "mine.toml: faults: 'kill@0' is not valid; give a fault and a time above zero"),
        ('faults = "kill@1s"', "mine.toml: faults: 'kill@1s' is not valid; give a list such as [\"kill@30m\"]"),
        ('[run]\ntarget = "pyspork"', "mine.toml: [run]: target: 'pyspork' is not a target"),
    ],
)
def test_a_run_file_is_blamed_for_what_it_says(content: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The file and the key, not a flag that nobody gave."""
    Path("mine.toml").write_text(content)
    assert refusal(capsys, "bench", "--run", "mine.toml").startswith(message)


def test_a_flag_is_blamed_if_it_overrides_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Settings of the file stay as they are, and are right."""
    Path("mine.toml").write_text("[settings]\nshards = 1\npartitions = 2")
    error = refusal(capsys, "bench", "--run", "mine.toml", "--set", "shards=0")
    assert error.startswith("--set shards: '0' is not valid")


@pytest.mark.parametrize("verb", ["generate -o x", "check market", "expected market", "bench", "run market", "search"])
def test_a_bad_master_is_refused_before_spark_starts(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By every verb that has one."""
    error = refusal(capsys, *verb.split(), "--master", "nowhere")
    assert error.startswith("--master: 'nowhere' is not valid; give a Spark master such as local[*]")


def test_targets_tell_what_a_setting_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its values and bounds."""
    assert cli.run(["targets"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--set shards=N tasks that the state is spread over; a whole number from 1 to 10,000" in shown
    assert "--set state=whole|parts" in shown
    assert "--set spark.*=VALUE any setting of Spark; any text" in shown
