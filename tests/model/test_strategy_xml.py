"""Tests of the strategy set as XML."""

import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pairs.core.errors import BadInputError
from pairs.model import strategy_xml as module
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml import Problem, read_strategies, scan, write_new, write_strategies

SCHEMA = Path(module.__file__).with_name("strategies.xsd")

names = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
    min_size=1,
    max_size=12,
)
strategies = st.builds(
    Strategy,
    alias=names,
    user=st.none() | names,
    available_funds_cents=st.integers(1, 10**12),
    symbol1=names,
    symbol2=names,
    period_ms=st.integers(1, 10**9),
    num_periods=st.integers(2, 1_000),
    bands_multiplier=st.decimals("0.001", "100", places=3).map(float),
    stop_loss_fraction=st.decimals("0.001", "0.999", places=3).map(float),
).filter(lambda strategy: strategy.symbol1 != strategy.symbol2)
sets = st.builds(
    StrategySet,
    market_close_ms=st.integers(1, 10**12),
    strategies=st.lists(strategies, min_size=1, max_size=8, unique_by=lambda strategy: strategy.alias).map(tuple),
)

GOOD = (
    'alias="a" user="u" availableFunds="100" symbol1="X" symbol2="Y" periodLength="5" numPeriods="5" '
    'bandsMultiplier="1.5" stopLossPerc="0.1"'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for files that are written over and over."""
    return tmp_path_factory.mktemp("strategies")


@given(written=sets)
def test_a_written_set_reads_back(folder: Path, written: StrategySet) -> None:
    """Any strategies read back, whatever their names contain, and the schema accepts the file."""
    file = folder / "any.xml"
    write_strategies(file, written)
    assert read_strategies(file) == written
    assert etree.XMLSchema(etree.parse(SCHEMA)).validate(etree.parse(file))


def file_with(folder: Path, *elements: str, root: str = 'marketClose="7200000"') -> Path:
    """Write a set by hand, an element a line from line 2 on."""
    file = folder / "hand.xml"
    file.write_text("\n".join([f"<Strategies {root}>", *elements, "</Strategies>"]))
    return file


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('numPeriods="5"', 'numPeriods="1"', "numPeriods"),
        ('numPeriods="5"', 'numPeriods="5.5"', "numPeriods"),
        ('numPeriods="5"', "", "'numPeriods' is required but missing"),
        ('stopLossPerc="0.1"', 'stopLossPerc="1"', "stopLossPerc"),
        ('stopLossPerc="0.1"', 'stopLossPerc="0"', "stopLossPerc"),
        ('stopLossPerc="0.1"', 'stopLossPerc="10%"', "stopLossPerc"),
        ('periodLength="5"', 'periodLength="0"', "periodLength"),
        ('periodLength="5"', 'periodLength="0.0005"', "periodLength"),
        ('availableFunds="100"', 'availableFunds="-1"', "availableFunds"),
        ('bandsMultiplier="1.5"', 'bandsMultiplier="NaN"', "bandsMultiplier"),
        ('alias="b"', 'alias=""', "alias"),
        ('alias="b"', 'alias="a"', "alias 'a' is used in line 2 already"),
        ('symbol2="Y"', 'symbol2="X"', "symbol1 and symbol2 are both 'X'"),
        ('user="u"', 'userr="u"', "'userr' is not allowed"),
    ],
)
def test_a_wrong_value_is_reported_with_its_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    """The line and the attribute are named, and nothing else is reported."""
    second = GOOD.replace('alias="a"', 'alias="b"').replace(old, new)
    file = file_with(tmp_path, f"<PairsStrategy {GOOD}/>", f"<PairsStrategy {second}/>")
    found, problems = scan(file)
    assert found is None
    assert {problem.line for problem in problems} == {3}
    assert any(reason in problem.text for problem in problems), problems


def test_every_problem_is_reported(tmp_path: Path) -> None:
    """All problems are returned, in the order of the lines."""
    bad = GOOD.replace('numPeriods="5"', 'numPeriods="0"')
    second, third = GOOD.replace('alias="a"', 'alias="c"'), GOOD.replace('symbol2="Y"', 'symbol2="Z"')
    file = file_with(
        tmp_path, f"<PairsStrategy {bad}/>", f"<PairsStrategy {GOOD}/>", f"<PairsStrategy {second}/>", "<Other/>",
        f"<PairsStrategy {third}/>", root='marketClose="0"',
    )  # fmt: skip
    _, problems = scan(file, symbols={"X", "Y"})
    assert sorted({problem.line for problem in problems}) == [1, 2, 5, 6]
    assert Problem(6, "alias 'a' is used in line 3 already") in problems
    assert Problem(6, "symbol2 'Z' is not a symbol of the dataset") in problems


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("", 0, "not well-formed XML"),
        ("<Strategies marketClose='1'>", 0, "not well-formed XML"),
        ("<Strategies marketClose='1'>\n<PairsStrategy alias='a' alias='b'/></Strategies>", 2, "not well-formed XML"),
        ("<Strategies marketClose='1'/>", 1, "Missing child element(s)"),
        ("<Others/>", 1, "'Others'"),
        (f"<Strategies marketClose='1'>\ntext<PairsStrategy {GOOD}/></Strategies>", 1, "Character content"),
    ],
)
def test_what_is_not_a_strategy_set_is_refused(tmp_path: Path, content: str, line: int, reason: str) -> None:
    """Broken or foreign XML is a problem with a line, never a traceback."""
    file = tmp_path / "broken.xml"
    file.write_text(content)
    found, problems = scan(file)
    assert found is None
    assert reason in problems[0].text
    assert not line or problems[0].line == line
    with pytest.raises(BadInputError, match=r"broken\.xml:\d+: "):
        read_strategies(file)


def test_a_strategy_set_is_never_overwritten_silently(tmp_path: Path) -> None:
    """The same set may be written again; a different set only with --overwrite."""
    first = read_strategies(file_with(tmp_path, f"<PairsStrategy {GOOD}/>"))
    other = StrategySet(1, first.strategies)
    file = tmp_path / "strategies.xml"
    write_new(file, first, overwrite=False)
    write_new(file, first, overwrite=False)
    with pytest.raises(BadInputError, match="exists with other strategies; give --overwrite"):
        write_new(file, other, overwrite=False)
    write_new(file, other, overwrite=True)
    assert read_strategies(file) == other
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_decimals_are_exact(tmp_path: Path) -> None:
    """Periods of fractions of a second are whole milliseconds, multipliers are what is written."""
    short = GOOD.replace('periodLength="5"', 'periodLength="0.007"')
    [strategy] = read_strategies(file_with(tmp_path, f"<PairsStrategy {short}/>")).strategies
    assert (strategy.period_ms, Decimal(repr(strategy.bands_multiplier))) == (7, Decimal("1.5"))


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="xmllint is not installed")
def test_xmllint_agrees_with_the_schema(tmp_path: Path) -> None:
    """An independent validator accepts and refuses the same files."""
    bad = GOOD.replace('numPeriods="5"', 'numPeriods="1"')
    for attributes, code in ((GOOD, 0), (bad, 3)):
        file = file_with(tmp_path, f"<PairsStrategy {attributes}/>")
        done = subprocess.run(["xmllint", "--noout", "--schema", str(SCHEMA), str(file)], capture_output=True)
        assert done.returncode == code
        assert bool(scan(file)[1]) == bool(code)


def test_problems_far_into_a_large_file_have_their_lines(tmp_path: Path) -> None:
    """A file is read piece by piece; lines and earlier aliases are known all the same."""
    rest = GOOD.removeprefix('alias="a"')
    elements = [f'<PairsStrategy alias="a{number}"{rest}/>' for number in range(1_500)]
    elements[1_100] = elements[1_100].replace('numPeriods="5"', 'numPeriods="0"')
    elements[1_499] = elements[3]
    _, problems = scan(file_with(tmp_path, *elements))
    assert {problem.line for problem in problems} == {1_102, 1_501}
    assert Problem(1_501, "alias 'a3' is used in line 5 already") in problems
