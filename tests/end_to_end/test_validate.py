"""`pairs expected` and `pairs validate` as users call them, on the golden datasets."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pairs.cli import app as cli
from pairs.dataset.folder import Dataset
from pairs.run_folder.folder import digest_of
from pairs.run_folder.records import InvalidRow, SinkRecord
from pairs.validator.expected import compute
from tests.conftest import Command
from tests.markets import CALM, GOLDEN, golden_market
from tests.records import run_manifest


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the golden dataset by hand: only ticks and strategies."""
    return golden_market(tmp_path_factory.mktemp("golden") / "market")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Copy the golden answers."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for stream in ("indicators", "orders"):
        shutil.copy(GOLDEN / f"{stream}.csv", folder)
    return folder


@pytest.fixture
def expected(market: Path, pairs_command: Command) -> str:
    """Compute the expected answers, or find them; return the output."""
    done = pairs_command("expected", str(market), "--master", "local[2]")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def change(answers: Path, stream: str, edit: Callable[[list[str]], None]) -> None:
    """Edit the lines of a file of answers."""
    file = answers / f"{stream}.csv"
    lines = file.read_text().splitlines(keepends=True)
    edit(lines)
    file.write_text("".join(lines))


def validate(market: Path, answers: Path, *more: str) -> int:
    """Validate in this process: the expected answers are there, so no Spark starts."""
    return cli.run(["validate", "--dataset", str(market), "--answers", str(answers), *more])


def counts(answers: Path, stream: str) -> dict[str, int]:
    """Read the counts that are not as they should be in a correct set of answers."""
    found = json.loads((answers / "validation.json").read_text())[stream]
    return {name: found[name] for name in ("missing", "undue", "wrong", "duplicates") if found[name]}


def test_expected_answers_are_computed_once(market: Path, expected: str, pairs_command: Command) -> None:
    """The second call finds them; --recompute and any change of the inputs computes them anew."""
    assert "1,499 indicators and 130 orders of 18 strategies" in expected
    assert "of a band or a stop" not in expected
    assert sorted(file.name for file in (market / "expected").iterdir()) == [
        "expected.json",
        "indicators.parquet",
        "orders.parquet",
    ]
    again = pairs_command("expected", str(market), "--master", "nonsense://here")
    assert (again.returncode, again.stderr) == (0, "")
    assert "as computed before" in again.stdout
    anew = pairs_command("expected", str(market), "--recompute", "--master", "local[2]")
    assert "26,669 ticks" in anew.stdout


@pytest.mark.usefixtures("expected")
def test_right_answers_pass(market: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The golden answers, as CSV: exit 0, the counts on the screen and in validation.json."""
    assert validate(market, answers) == 0
    shown = capsys.readouterr().out
    assert "Validation result: PASSED" in shown
    assert "of a band or a stop" not in shown
    found = json.loads((answers / "validation.json").read_text())
    assert found["verdict"] == "PASSED"
    for stream, number in (("indicators", 1499), ("orders", 130)):
        assert {name: found[stream][name] for name in ("validator", "sut", "correct")} == dict.fromkeys(
            ("validator", "sut", "correct"), number
        )
        assert counts(answers, stream) == {}


@pytest.mark.usefixtures("expected")
def test_parquet_passes_too(market: Path, answers: Path) -> None:
    """The same answers as Parquet."""
    for stream in ("indicators", "orders"):
        pq.write_table(pa_csv.read_csv(answers / f"{stream}.csv"), answers / f"{stream}.parquet")
        (answers / f"{stream}.csv").unlink()
    assert validate(market, answers) == 0


CHANGES: dict[str, tuple[str, Callable[[list[str]], None], dict[str, int]]] = {
    "dropped order": ("orders", lambda lines: lines.__delitem__(7), {"missing": 1}),
    "duplicated order": ("orders", lambda lines: lines.append(lines[7]), {"undue": 1, "duplicates": 1}),
    "invented order": ("orders", lambda lines: lines.append("st_00001,BUY,YQRXPU,1,10,77\n"), {"undue": 1}),
    "altered price": ("orders", lambda lines: lines.__setitem__(1, lines[1].replace(",3489,", ",3488,")), {"wrong": 1}),
    "malformed order": ("orders", lambda lines: lines.append("garbage\n"), {"undue": 1}),
    "unknown strategy": ("orders", lambda lines: lines.append("st_99999,BUY,YQRXPU,1,10,77\n"), {"undue": 1}),
    "dropped indicator": ("indicators", lambda lines: lines.__delitem__(1499), {"missing": 1}),
    "duplicated indicator": ("indicators", lambda lines: lines.insert(1, lines[1]), {"undue": 1, "duplicates": 1}),
    "altered indicator": (
        "indicators",
        lambda lines: lines.__setitem__(1, lines[1].replace("0.6389155959560645", "0.638915597")),
        {"wrong": 1},
    ),
    "no orders at all": ("orders", lambda lines: lines.__delitem__(slice(1, None)), {"missing": 130}),
}


@pytest.mark.usefixtures("expected")
@pytest.mark.parametrize("case", CHANGES)
def test_any_change_fails(market: Path, answers: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, the verdict FAILED, and the count for the change."""
    stream, edit, changed = CHANGES[case]
    change(answers, stream, edit)
    assert validate(market, answers) == 1
    shown = capsys.readouterr()
    assert "Validation result: FAILED" in shown.out
    assert shown.err == ""
    assert counts(answers, stream) == changed
    other = "indicators" if stream == "orders" else "orders"
    assert counts(answers, other) == {}


@pytest.mark.usefixtures("expected")
def test_incorrect_answers_are_shown_side_by_side(
    market: Path, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--show lists both sides in the order of time, as many as wanted, and writes all of them as CSV."""
    change(answers, "orders", lambda lines: lines.reverse())
    change(answers, "orders", lambda lines: lines.insert(0, lines.pop()))
    change(
        answers,
        "orders",
        lambda lines: lines.__setitem__(slice(1, None), [line.replace(",BUY,", ",BUY,X") for line in lines[1:]]),
    )
    assert validate(market, answers, "--show", "wrong", "--limit", "2") == 1
    shown = capsys.readouterr().out
    assert "val_symbol  sut_symbol  val_price  sut_price" in shown
    assert "YQRXPU      XYQRXPU" in shown
    assert "... and" in shown
    listed = pa_csv.read_csv(answers / "wrong_orders.csv").to_pylist()
    assert len(listed) == counts(answers, "orders")["wrong"]
    assert [row["inputTickTS"] for row in listed] == sorted(row["inputTickTS"] for row in listed)
    assert all(row["sut_symbol"] == "X" + row["val_symbol"] for row in listed)
    assert validate(market, answers, "--show", "wrong", "--strategy", "st_00004") == 1
    assert {row["strategy"] for row in pa_csv.read_csv(answers / "wrong_orders.csv").to_pylist()} == {"st_00004"}


@pytest.mark.usefixtures("expected")
def test_the_first_error_of_each_strategy(market: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A strategy's first error is separate from those that follow."""
    change(answers, "indicators", lambda lines: lines.__delitem__(slice(500, None)))
    assert validate(market, answers) == 1
    assert "First errors of" in capsys.readouterr().out
    errors = json.loads((answers / "validation.json").read_text())["first_errors"]
    dropped = (GOLDEN / "indicators.csv").read_text().splitlines()[500:]
    first: dict[str, int] = {}
    for line in dropped:
        first.setdefault(line.split(",")[0], int(line.split(",")[-1]))
    assert {error["strategy"]: error["inputTickTS"] for error in errors} == first
    assert sum(error["incorrect"] for error in errors) == len(dropped)
    assert [error["inputTickTS"] for error in errors] == sorted(first.values())


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Make the golden dataset with prices that stand still, with its expected answers."""
    dataset = golden_market(tmp_path_factory.mktemp("golden") / "calm", source=CALM)
    compute(spark, Dataset(dataset))
    return dataset


REMARK = "351 decisions lie within 1e-9 of a band or a stop, where an engine that sums in another order may decide"


def test_knife_edges_are_counted(calm: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By `pairs expected`, and by the verdict, on a dataset that has any."""
    assert cli.run(["expected", str(calm)]) == 0
    assert ", 351 decisions of 9 strategies lie within 1e-9 of a band or a stop\n" in capsys.readouterr().out
    for stream in ("indicators", "orders"):
        shutil.copy(CALM / f"{stream}.csv", answers)
    assert validate(calm, answers) == 0
    shown = capsys.readouterr().out
    assert REMARK in shown
    assert "such decisions" not in shown
    found = json.loads((answers / "validation.json").read_text())
    assert (found["knife_edges"], found["knife_edge_strategies"]) == (351, [])


@pytest.mark.parametrize(
    ("wrong", "touched", "said"),
    [
        (
            ("st_00009", "st_00002", "st_00012"),
            ["st_00009", "st_00012"],
            "2 strategies with incorrect answers have such decisions: st_00009, st_00012\n",
        ),
        (("st_00002",), [], "No strategy with incorrect answers has such decisions\n"),
    ],
)
def test_incorrect_answers_on_a_knife_edge(
    calm: Path,
    answers: Path,
    wrong: tuple[str, ...],
    touched: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The verdict stays FAILED; it says which strategies with incorrect answers have decisions on a knife edge."""
    shutil.copy(CALM / "indicators.csv", answers)
    lines = (CALM / "orders.csv").read_text().splitlines(keepends=True)
    (answers / "orders.csv").write_text("".join(line for line in lines if not line.startswith(wrong)))
    assert validate(calm, answers) == 1
    shown = capsys.readouterr().out
    assert "Validation result: FAILED" in shown
    assert REMARK in shown
    assert said in shown
    assert json.loads((answers / "validation.json").read_text())["knife_edge_strategies"] == touched


@pytest.mark.usefixtures("expected")
def test_a_run_knows_its_dataset(market: Path, answers: Path) -> None:
    """A run is validated by its folder alone, wherever its dataset lies."""
    strategies_digest = digest_of(market / "strategies.xml")
    run_manifest(dataset=str(market), strategies_digest=strategies_digest).write(answers / "run.json")
    assert cli.run(["validate", str(answers)]) == 0


@pytest.mark.usefixtures("expected")
def test_control_characters_are_not_printed(market: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an engine sends cannot steer the terminal."""
    change(answers, "orders", lambda lines: lines.append("st\x1b[31m,BUY,\x07,1,10,77\n"))
    assert validate(market, answers, "--show", "undue") == 1
    shown = capsys.readouterr().out
    assert "st\\x1b[31m" in shown
    assert "\x07" not in shown


def test_what_the_sink_could_not_read_is_undue(market: Path, answers: Path, expected: str) -> None:
    """A line that an engine sent as an answer counts, though it is not in the files."""
    row = InvalidRow(file="connection 1", line=7, problem="size is 'ten', not a whole number")
    record = SinkRecord(
        writers=1,
        batches=1,
        rows={},
        repeated_batches=0,
        repeated_rows={},
        recent_latency_us={},
        refused_connections=1,
        invalid_rows={"orders": (row,)},
    )
    record.write(answers / "sink.json")
    assert validate(market, answers) == 1
    assert counts(answers, "indicators") == {}
    assert counts(answers, "orders")["undue"] == 1
    found = json.loads((answers / "validation.json").read_text())["orders"]
    assert found["malformed_examples"] == [row.model_dump()]
