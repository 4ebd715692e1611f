"""Programs are rendered whole, formatted, of a size that does not grow, and never made of names from data."""

import ast
import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pairs.cli import app as cli
from pairs.core.errors import BadInputError
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml import read_strategies, write_strategies
from pairs.translator import targets
from pairs.translator.target import Launch, Program
from pairs.translator.targets.bare import Bare
from pairs.translator.targets.pyspark import PySpark
from pairs.translator.translate import translate
from tests.markets import GOLDEN
from tests.translator.programs import translated

PLANS = [(name, plan) for name, target in targets.all_targets().items() for plan in target.plans]


@pytest.mark.parametrize(("target", "plan"), PLANS)
def test_golden_programs(tmp_path: Path, target: str, plan: str) -> None:
    """The programs are those in tests/golden/apps; `make golden` renders them again, and the diff is reviewed."""
    found, _ = targets.find(target, plan)
    translate(GOLDEN / "strategies.xml", found, plan, tmp_path / "app")
    expected = GOLDEN / "apps" / f"{target}-{plan}"
    names = sorted(texts_in(tmp_path / "app"))
    assert names == sorted(texts_in(expected))
    for name in names:
        assert (tmp_path / "app" / name).read_text() == (expected / name).read_text(), name


def texts_in(app: Path) -> list[str]:
    """Return the files of a program that are not compiled."""
    files = (file for file in app.rglob("*") if file.is_file() and file.suffix != ".jar")
    return [file.relative_to(app).as_posix() for file in files]


@pytest.mark.parametrize(("target", "plan"), PLANS)
def test_programs_are_formatted(target: str, plan: str) -> None:
    """They read as if written by hand: formatted, imports in order, nothing unused, every function explained."""
    app = GOLDEN / "apps" / f"{target}-{plan}"
    for command in (["format", "--check"], ["check", "--select", "E,F,W,I,B,D1", "--ignore", "D107,D105"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--line-length", "120", str(app)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("target", "plan"), PLANS)
def test_programs_share_nothing_with_the_validator(target: str, plan: str) -> None:
    """Of the kit they import the client side of the transport alone."""
    app = GOLDEN / "apps" / f"{target}-{plan}"
    imported = set()
    for file in app.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module)
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    kit = {
        name for name in imported if name and name.split(".")[0] in ("pairs", "validator", "generator", "translator")
    }
    modules = ("clients", "tick_records", "ticklog_file", "ticklog_spark", "kafka.control", "kafka.settings")
    assert kit <= {f"pairs.transport.{name}" for name in modules}


@pytest.mark.parametrize(("target", "plan"), PLANS)
def test_programs_do_not_grow_with_the_strategies(tmp_path: Path, target: str, plan: str) -> None:
    """A thousand times the strategies make another digest in the header, no more text."""
    few = StrategySet(1_000, tuple(strategy(f"st_{number}") for number in range(9)))
    many = StrategySet(1_000, tuple(strategy(f"st_{number}") for number in range(9_000)))
    small, large = (translated(strategies, tmp_path, target, plan) for strategies in (few, many))
    for file in [*small.glob("*.py"), *small.glob("java/*")]:
        lines = file.read_text().splitlines(), (large / file.relative_to(small)).read_text().splitlines()
        assert [len(line) for line in lines[0]] == [len(line) for line in lines[1]]
        assert sum(line != other for line, other in zip(*lines, strict=True)) <= 1


def strategy(alias: str, symbols: tuple[str, str] = ("AAA", "BBB"), periods: int = 5) -> Strategy:
    """Make a strategy."""
    return Strategy(alias, None, 1_000_000, *symbols, 5_000, periods, 1.5, 0.1)


HOSTILE = [
    '"""',
    "'",
    "\\",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    'a,b\n"c"',
    "import os",
    "\u202e",
]


@pytest.mark.parametrize(("target", "plan"), PLANS)
def test_names_never_become_code(tmp_path: Path, target: str, plan: str) -> None:
    """Whatever strategies and symbols are called stays in the table, and comes out of it as it was."""
    plain = StrategySet(1_000, tuple(strategy(f"st_{number}") for number in range(len(HOSTILE))))
    hostile = StrategySet(1_000, tuple(strategy(name, (name[:5], f"{name[:4]}!")) for name in HOSTILE))
    apps = [translated(strategies, tmp_path, target, plan) for strategies in (plain, hostile)]
    for file in apps[0].glob("*.py"):
        lines = file.read_text().splitlines(), (apps[1] / file.name).read_text().splitlines()
        different = [other for line, other in zip(*lines, strict=True) if line != other]
        assert all("SHA-256" in line for line in different)
    with (apps[1] / "strategies.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["alias"] for row in rows] == HOSTILE
    assert [row["symbol1"] for row in rows] == [name[:5] for name in HOSTILE]


def test_a_hostile_folder_name_stays_out(tmp_path: Path) -> None:
    """The name of the dataset is in the header, but only its letters and digits."""
    folder = tmp_path / 'x"""; import os #'
    folder.mkdir()
    write_strategies(folder / "strategies.xml", StrategySet(1_000, (strategy("a"),)))
    found, plan = targets.find("bare", None)
    translate(folder / "strategies.xml", found, plan, tmp_path / "app")
    assert "strategy set x_____import_os__ (SHA" in (tmp_path / "app" / "app.py").read_text()


def test_what_a_target_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    """Columns are as wide as the longest strategy: a million windows would make all others as wide."""
    others = tuple(strategy(f"st_{number}") for number in range(10))
    strategies = StrategySet(1_000, (*others, strategy("endless", periods=1_000_000)))
    with pytest.raises(BadInputError, match=r"pyspark cannot express this set: strategy 'endless'"):
        translated(strategies, tmp_path, "pyspark", "vectorized")


@pytest.mark.parametrize(
    ("target", "plan", "message"),
    [
        ("pyspork", None, "--target: 'pyspork' is not a target; did you mean 'pyspark'?"),
        ("x", None, "--target: 'x' is not a target; give one of pyspark, bare"),
        ("pyspark", "vectorised", "--plan: 'vectorised' is not a plan of pyspark; did you mean 'vectorized'?"),
    ],
)
def test_unknown_targets_and_plans(target: str, plan: str | None, message: str) -> None:
    """The nearest is named, or all of them."""
    with pytest.raises(BadInputError) as caught:
        targets.find(target, plan)
    assert str(caught.value) == message


def test_an_installed_package_can_add_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point is found by its group; it cannot take the place of one of the kit's own."""

    class Point:
        def __init__(self, name: str) -> None:
            self.name = name

        def load(self) -> type:
            return Bare

    monkeypatch.setattr(targets, "entry_points", lambda group: [Point("flink"), Point("pyspark")])
    found = targets.all_targets()
    assert list(found) == ["pyspark", "bare", "flink"]
    assert isinstance(found["pyspark"], PySpark)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Translate writes into the dataset or where told, never over something else; targets lists what there is."""
    monkeypatch.chdir(tmp_path)
    dataset = tmp_path / "market"
    dataset.mkdir()
    (dataset / "strategies.xml").write_bytes((GOLDEN / "strategies.xml").read_bytes())
    assert cli.run(["translate", "market"]) == 0
    assert "18 strategies on 3 pairs for pyspark, plan keyed" in capsys.readouterr().out
    program = Program.read(dataset / "apps" / "pyspark-keyed" / "program.json")
    assert (program.target, program.plan, program.strategies) == ("pyspark", "keyed", 18)
    assert cli.run(["translate", "market"]) == 0
    assert cli.run(["translate", "market", "-o", "market"]) == 2
    assert "market: exists already" in capsys.readouterr().err
    assert cli.run(["translate", "market", "-o", "market", "--overwrite"]) == 2
    assert "is not a translated program" in capsys.readouterr().err
    assert cli.run(["translate", "nowhere"]) == 2
    assert "nowhere/strategies.xml: cannot be read" in capsys.readouterr().err
    assert cli.run(["targets"]) == 0
    assert "class keyed: each tick" in capsys.readouterr().out
    assert len(read_strategies(dataset / "strategies.xml").strategies) == 18


def test_a_replaced_set_makes_another_digest(tmp_path: Path) -> None:
    """The header tells programs of different sets apart."""
    early = StrategySet(1_000, (strategy("a"),))
    late = replace(early, market_close_ms=2_000)
    texts = [(translated(each, tmp_path, "bare", "vectorized") / "app.py").read_text() for each in (early, late)]
    assert texts[0].split("SHA-256 ")[1][:16] != texts[1].split("SHA-256 ")[1][:16]


def test_the_client_side_of_the_transport_is_light() -> None:
    """What a program imports brings neither the harness's side of the kit nor pydantic: workers start often."""
    imports = "import pairs.transport.clients, pairs.transport.kafka.client, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", imports], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "pydantic" not in loaded
    assert {name.split(".")[1] for name in loaded if name.startswith("pairs.")} == {"core", "model", "transport"}


def test_targets_know_their_engine() -> None:
    """The master is a setting like others; processes, versions and what must be installed are the target's business."""
    spark, bare = PySpark(), Bare()
    launch = Launch(Path("app"), "log", "127.0.0.1:1", Path("state"), Path("progress"), {"shards": "2"})
    assert "--master local[*,4]" in " ".join(spark.command(launch))
    chosen = replace(launch, settings={"master": "yarn", "spark.x": "1"})
    assert "--master yarn" in " ".join(spark.command(chosen))
    assert "--conf spark.x=1" in " ".join(spark.command(chosen))
    assert spark.process_role("java", []) == "engine JVM"
    assert {target.process_role("python3", []) for target in (spark, bare)} == {"engine Python"}
    assert set(bare.versions()) == {"numpy", "pyarrow"}
    bare.check_requirements()


def test_cores_of_a_cluster_are_limited_by_a_setting() -> None:
    """Spark's own, unless it is given; without a cluster the processes are bound, and on others there is no limit."""
    spark, launch = PySpark(), Launch(Path("app"), "log", "127.0.0.1:1", Path("state"), Path("progress"), cores=2)
    standalone = {"master": "spark://host:7077"}
    assert "spark.cores.max=2" in spark.command(replace(launch, settings=standalone))
    given = spark.command(replace(launch, settings=standalone | {"spark.cores.max": "3"}))
    assert [word for word in given if "cores.max" in word] == ["spark.cores.max=3"]
    assert "spark.cores.max" not in " ".join(spark.command(launch))
    assert [spark.limits_cores(settings) for settings in ({}, standalone, {"master": "yarn"})] == [False, True, False]
    assert spark.cluster({"master": "local-cluster[2,1,1024]"}) is None
    assert spark.cluster({"master": "yarn"}) == "yarn"


def test_an_engine_without_java_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says what to install, before anything is started."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(BadInputError, match="JAVA_HOME: no Java found at /nowhere/bin/java; install Java 17"):
        PySpark().check_requirements()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "realtime", "shards": "2"}, "--set shards: .* one shard only; give shards=1"),
        ({"mode": "realtime", "partitions": "2"}, "--set partitions: real-time mode reads in one task"),
        ({"mode": "microbatch", "batch-seconds": "9"}, "--set batch-seconds: only real-time mode has it"),
        ({"batch-seconds": "9"}, "--set batch-seconds: only real-time mode has it"),
    ],
)
def test_settings_that_a_mode_does_not_have(settings: dict[str, str], message: str) -> None:
    """They are refused, as they would have no effect or wrong answers as one."""
    with pytest.raises(BadInputError, match=message):
        PySpark().check_buildable("native", settings)
