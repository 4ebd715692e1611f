"""What the command line prints is complete and readable at any width, in a pipe and on terminals that can do little."""

import io
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from pairs.cli import app as cli
from pairs.cli import layout
from pairs.cli.render import render
from pairs.cli.render_sweep import _print_points
from pairs.cli.render_validation import render_incorrect, render_validation
from pairs.cli.search import _HEADINGS, _row
from pairs.dataset.folder import Dataset
from pairs.measure.search_policy import Outcome
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run
from pairs.run_folder.records import ScoreRecord
from pairs.translator.targets import all_targets
from pairs.validator.validation import Validation, validate
from tests.report.runs import golden_dataset, golden_run, write_pairs
from tests.report.test_sweep import FAST, SLOW

NARROW = 40
COMMAND = typer.main.get_command(cli.app)
VERBS = sorted(COMMAND.commands)  # type: ignore[attr-defined]
LONG_NAME = "st_" + "0123456789" * 12


class Screen:
    """Prints at a width, and keeps what was printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def at(self, columns: int | None) -> None:
        """Set the width; None is a pipe."""
        if columns is None:
            self._monkeypatch.delenv("COLUMNS", raising=False)
        else:
            self._monkeypatch.setenv("COLUMNS", str(columns))

    def command(self, columns: int | None, *arguments: str) -> str:
        """Run a command that must succeed; return what it printed."""
        self.at(columns)
        assert cli.run(list(arguments)) == 0
        return self.printed()

    def printed(self) -> str:
        """Return what was printed since the last time."""
        return self._capsys.readouterr().out


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Screen:
    """Print at any width."""
    return Screen(monkeypatch, capsys)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Make a dataset that `show` accepts."""
    found = golden_dataset(tmp_path / "market")
    write_pairs(found)
    return found


def widest(shown: str) -> int:
    """Return the length of the longest line."""
    return max(len(line.rstrip()) for line in shown.splitlines())


def squeezed(shown: str) -> str:
    """Return a text without white space: wrapping adds nothing else."""
    return "".join(shown.split())


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("verb", VERBS)
def test_help_is_complete(screen: Screen, verb: str, columns: int) -> None:
    """Every option with its metavar and its text is there, no line is too long, and no type or markup shows."""
    shown = screen.command(columns, verb, "--help")
    assert widest(shown) <= columns
    assert not re.search(r"<[a-z]|list\[|\[/?dim|…|None", shown)
    known = [param for param in COMMAND.commands[verb].params if not getattr(param, "hidden", False)]  # type: ignore[attr-defined]
    for param in known:
        for name in param.opts if param.opts[0].startswith("-") else [param.metavar]:
            assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown), name
        assert squeezed(param.help) in squeezed(shown)
        assert param.metavar is None or squeezed(param.metavar) in squeezed(shown)


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS), ["targets"]])
def test_narrow_text_is_the_wide_text_wrapped(screen: Screen, arguments: list[str]) -> None:
    """Not a letter is lost or added, however narrow it gets."""
    wide = squeezed(screen.command(120, *arguments))
    assert [squeezed(screen.command(columns, *arguments)) for columns in (NARROW, 9, 1)] == [wide] * 3


def test_targets_are_complete(screen: Screen) -> None:
    """Every target, plan and setting is there with its text; in a pipe each is one line."""
    narrow, piped = screen.command(NARROW, "targets"), screen.command(None, "targets")
    assert widest(narrow) <= NARROW
    for target in all_targets().values():
        for name, plan in target.plans.items():
            assert squeezed(f"--plan {name} class {plan.plan_class}: {plan.summary} {plan.division}") in squeezed(
                narrow
            )
        for name, option in target.options.items():
            flag = f"--set {name}={option.kind.metavar}"
            assert flag in narrow
            assert re.search(rf"^  {re.escape(flag)} +\w.*$", piped, re.M)


@pytest.mark.parametrize("arguments", [["profiles"], ["estimate", "--profile", "quick"]])
def test_no_word_is_lost(screen: Screen, arguments: list[str]) -> None:
    """On a narrow terminal as in a pipe, where every row is a line."""
    narrow, piped = screen.command(NARROW, *arguments), screen.command(None, *arguments)
    assert widest(narrow) <= NARROW
    figures = re.compile(r"\d[\d.,]* \w+")  # size and time are measured anew
    assert set(figures.sub("", piped).split()) <= set(figures.sub("", narrow).split()) | {"about"}
    assert all(line.strip() for line in piped.splitlines())


def test_a_configuration_stays_a_file(screen: Screen) -> None:
    """Its lines are not wrapped, whatever the width, so that they can be read back."""
    assert screen.command(NARROW, "config", "--set", f"spark.x={LONG_NAME}") == screen.command(
        None, "config", "--set", f"spark.x={LONG_NAME}"
    )


def test_show_is_complete(screen: Screen, dataset: Dataset) -> None:
    """Parameters, the whole digest, charts as wide as the terminal and the first ticks."""
    narrow, piped = (screen.command(columns, "show", str(dataset.path)) for columns in (NARROW, None))
    assert widest(narrow) <= NARROW
    assert dataset.manifest.digest in squeezed(narrow)
    assert squeezed(str(dataset.path)) in squeezed(narrow)
    assert f"digest      {dataset.manifest.digest}" in piped
    bars = [line for line in narrow.splitlines() if "█" in line]
    assert [len(line) for line in bars] == [NARROW] * 3
    assert piped.splitlines()[-1].split() == narrow.splitlines()[-1].split()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_without_these_letters(dataset: Dataset, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """Charts are drawn with signs that the terminal has, names with letters that it lacks by their codes."""
    renamed = Dataset(dataset.path.with_name("marché-市場"))
    dataset.path.rename(renamed.path)
    written = io.BytesIO()
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, write_through=True))
    assert cli.run(["show", str(renamed.path)]) == 0
    shown = written.getvalue().decode(encoding)
    assert re.search(r"ticks/s +[_.:=+*#-]+#", shown)
    assert "\\u5e02\\u5834" in shown


def score_of(tmp_path: Path) -> ScoreRecord:
    """Score a run with everything that a score may say, and long names."""
    score = ScoreRecord.read(golden_run(tmp_path, curve="burst").score_file)
    warnings = ("the interval is wide", "the machine was busy with [/bold] and \x1b[31m")
    return score.model_copy(update={"target": LONG_NAME, "warnings": warnings})


def test_a_score_is_complete(screen: Screen, tmp_path: Path) -> None:
    """Reasons and warnings in full, whatever is in them; in a pipe each is one line."""
    score = score_of(tmp_path)
    screen.at(NARROW)
    render(score)
    narrow = screen.printed()
    screen.at(None)
    render(score)
    piped = screen.printed()
    assert widest(narrow) <= NARROW
    assert squeezed(narrow) == squeezed(piped)
    assert LONG_NAME in squeezed(narrow)
    assert "[/bold] and \\x1b[31m" in piped
    assert all(f"void      {reason}\n" in piped for reason in score.reasons)
    assert "burst     max " in piped


def validation_of(run: Run) -> Validation:
    """Validate a run with a wrong, a missing and an undue order and a wrong indicator."""
    orders = pq.read_table(run.answers_file("orders"))
    price = orders["price"].to_numpy().copy()
    price[3] += 7
    orders = orders.set_column(orders.schema.get_field_index("price"), "price", pa.array(price))
    pq.write_table(
        pa.concat_tables([orders.slice(0, 10), orders.slice(11), orders.slice(20, 1)]), run.answers_file("orders")
    )
    indicators = pq.read_table(run.answers_file("indicators"))
    ratio = indicators["ratio"].to_numpy().copy()
    ratio[5] *= 1.5
    place = indicators.schema.get_field_index("ratio")
    pq.write_table(indicators.set_column(place, "ratio", pa.array(ratio)), run.answers_file("indicators"))
    dataset = run.dataset()
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    return validate(dataset, aliases, run.path, {})


def test_a_validation_is_complete(screen: Screen, tmp_path: Path) -> None:
    """Counts in columns also where there is little room; incorrect answers become blocks where a row does not fit."""
    validation = validation_of(golden_run(tmp_path))
    files = {stream: Path(f"{stream}.csv") for stream in validation.streams}
    shown = {}
    for columns in (NARROW, None):
        screen.at(columns)
        render_validation(validation, 20, hint=False)
        for kind in ("missing", "undue", "wrong"):
            render_incorrect(validation, kind, None, 20, files)
        shown[columns] = screen.printed()
    narrow, piped = shown[NARROW], shown[None]
    assert widest("\n".join(line for line in narrow.splitlines() if not line.startswith(("First", "all of")))) <= NARROW
    assert re.search(r"^validator answers +1,499 +130$", narrow, re.M)
    assert set(piped.split()) <= set(narrow.split())
    wrong = validation.streams["orders"].listed("wrong").to_pylist()[0]
    assert f"sut_price    {wrong['sut_price']}\n" in narrow
    assert re.search(rf"^{wrong['strategy']} .* {wrong['sut_price']} +\d+ +\d+ *$", piped, re.M)
    assert "1 wrong order\n" in narrow
    assert "1 wrong indicator\n" in narrow


def test_points_of_a_sweep_are_complete(screen: Screen) -> None:
    """A table where it fits, else a block for each point."""
    screen.at(NARROW)
    _print_points([FAST, SLOW])
    narrow = screen.printed()
    screen.at(None)
    _print_points([FAST, SLOW])
    piped = screen.printed()
    assert "p99, ms (range)\n      110.0 (100.0 to 120.0)\n" in narrow
    assert set(piped.split()) <= set(narrow.split())
    assert re.search(r"^1 +keyed +2 of 3 +110.0 \(100.0 to 120.0\)", piped, re.M)


def test_outcomes_of_a_search_are_complete(screen: Screen) -> None:
    """Why a scale factor is not sustained is wrapped in its column, or stands in the block of its run."""
    why = "the backlog grew to 3.2 s of input; validation FAILED; p99 is 1.3 s"
    outcome = Outcome(1234, False, why, 1.3, (1.2, 1.4), 12_345, 6_789, 12.34, 1.75, 0.61)
    for columns in (NARROW, 100, None):
        screen.at(columns)
        layout.print_table(_HEADINGS, [_row(outcome)], right=_HEADINGS[:-1], texts=_HEADINGS[-1:])
        shown = screen.printed()
        assert columns is None or widest(shown) <= columns
        assert {*why.split(), "1,234", "12,345", "6,789", "12.34", "1.75", "0.61"} <= set(shown.split())
    assert f"no: {why}" in shown


def test_letters_that_take_two_columns(screen: Screen) -> None:
    """They count twice, so that a table is not cut off."""
    screen.at(20)
    layout.print_table(("name", "value"), [("市場市場市場", "1234567")])
    shown = screen.printed()
    assert "市場市場市場" in shown
    assert "1234567" in shown
