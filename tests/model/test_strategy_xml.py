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
        ('numPeriods="5"', 'numPeriods="1"', "numPeriods is '1'; give a whole number from 2 to 1,000,000"),
        ('numPeriods="5"', 'numPeriods="5.5"', "numPeriods is '5.5'; give a whole number from 2 to 1,000,000"),
        ('numPeriods="5"', "", "PairsStrategy has no numPeriods; give a whole number from 2 to 1,000,000"),
        ('stopLossPerc="0.1"', 'stopLossPerc="1"', "stopLossPerc is '1'; give a decimal number above 0 and below 1"),
        ('stopLossPerc="0.1"', 'stopLossPerc="0"', "stopLossPerc is '0'"),
        ('stopLossPerc="0.1"', 'stopLossPerc="10%"', "stopLossPerc is '10%'"),
        ('periodLength="5"', 'periodLength="0"', "periodLength is '0'; give a decimal number above 0 up to 31,622,400"),
        ('periodLength="5"', 'periodLength="0.0005"', "31,622,400 with at most 3 decimals"),
        ('availableFunds="100"', 'availableFunds="-1"', "availableFunds is '-1'; give a whole number from 1 to 9,007,"),
        ('availableFunds="100"', f'availableFunds="{"9" * 99}"', f"availableFunds is '{'9' * 40}...'; give a whole"),
        (
            'bandsMultiplier="1.5"',
            'bandsMultiplier="NaN"',
            "bandsMultiplier is 'NaN'; give a decimal number above 0 up",
        ),
        ('alias="b"', 'alias=""', "alias is empty; give 1 to 256 characters"),
        (
            'alias="b"',
            'alias="b" xmlns:x="u" x:alias="b"',
            "an unknown attribute 'alias' of the namespace 'u'; remove it",
        ),
        ("/>", ">text</PairsStrategy>", "text inside PairsStrategy; remove it"),
        ("/>", "><x/></PairsStrategy>", "an element inside 'PairsStrategy'; it may only have attributes"),
        ('alias="b"', 'alias="a"', "alias 'a' is used in line 2 already"),
        ('symbol2="Y"', 'symbol2="X"', "symbol1 and symbol2 are both 'X'"),
        ('user="u"', 'userr="u"', "PairsStrategy has an unknown attribute 'userr'; did you mean user?"),
        ('user="u"', 'colour="u"', "PairsStrategy has an unknown attribute 'colour'; remove it"),
    ],
)
def test_a_wrong_value_is_reported_with_its_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    """The line and the attribute are named, and nothing else is reported."""
    second = f"<PairsStrategy {GOOD}/>".replace('alias="a"', 'alias="b"').replace(old, new)
    file = file_with(tmp_path, f"<PairsStrategy {GOOD}/>", second)
    found, problems = scan(file)
    assert found is None
    assert {problem.line for problem in problems} == {3}
    assert [reason in problem.text for problem in problems] == [True], problems


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
        ("", 1, "the file is empty; give a strategy set"),
        (" \n", 2, "not well-formed XML: it has no element"),
        ("strategies", 1, "not well-formed XML: it has no element"),
        ("<Strategies marketClose='1'>\n", 2, "not well-formed XML: the file ends before every element is closed"),
        ("<Strategies>\n<PairsStrategy alias='a' alias='b'/></Strategies>", 2, "XML: an attribute is given twice"),
        ("<Strategies>\n</Strategy>", 2, "not well-formed XML: an element is closed by a tag of another name"),
        ("<Strategies marketClose=1/>", 1, "not well-formed XML: the value of an attribute is not in quotes"),
        ("<Strategies marketClose/>", 1, "not well-formed XML: an attribute has no value"),
        ("<Strategies marketClose='1/>", 1, "not well-formed XML: "),
        ("<Strategies marketClose='<'/>", 1, "not well-formed XML: '<' in a value; write &lt;"),
        ("<Strategies marketClose='&'/>", 1, "write &lt; for '<' and &amp; for '&' in values"),
        ("<Strategies marketClose='&x;'/>", 1, "not well-formed XML: an entity that is not defined; only &lt;"),
        ("<Strategies marketClose='&#0;'/>", 1, "not well-formed XML: a character that XML does not allow"),
        ("\n<?xml version='1.0'?><Strategies/>", 2, "XML: an XML declaration that is not at the very beginning"),
        (
            "<Strategies/>\n<Strategies/>",
            2,
            "not well-formed XML: something follows after the end of the first element",
        ),
        ("<Strategies>" + "<a>" * 300, 1, "not well-formed XML: elements inside elements too deep"),
        ("<Strategies><!-- a", 1, "not well-formed XML: a comment is not closed"),
        ("<Strategies marketClose='1'/>", 1, "no strategy in it; give at least one PairsStrategy"),
        ("<Strategies/>", 1, "Strategies has no marketClose; give a whole number from 1 to 9,007,199,254,740,991"),
        ("<Others>\n<PairsStrategy/></Others>", 1, "the first element is 'Others', not 'Strategies'; rename it"),
        ("<Strategies xmlns='urn:x'/>", 1, "the first element is 'Strategies' of the namespace 'urn:x', not"),
        (
            f"<Strategies marketClose='1'><PairsStrategy {GOOD}/>\n<x:PairsStrategy xmlns:x='u'/></Strategies>",
            2,
            "'PairsStrategy' of the namespace",
        ),
        (
            f"<Strategies marketClose='1'>\ntext<PairsStrategy {GOOD}/></Strategies>",
            1,
            "text inside Strategies; remove it",
        ),
        (
            f"<Strategies marketClose='1' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'>"
            f"<PairsStrategy {GOOD}/></Strategies>",
            1,
            "Strategies is not as strategies.xsd describes it",
        ),
    ],
)
def test_what_is_not_a_strategy_set_is_refused(tmp_path: Path, content: str, line: int, reason: str) -> None:
    """Broken or foreign XML is a problem with a line, never a traceback."""
    file = tmp_path / "broken.xml"
    file.write_text(content)
    found, problems = scan(file)
    assert found is None
    assert reason in problems[0].text
    assert problems[0].line == line
    assert not any(
        word in problems[0].text for word in ("XML_PARSE", "content type", "AttValue", "facet", "atomic type")
    )
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


def test_elements_after_a_foreign_one_are_checked(tmp_path: Path) -> None:
    """A foreign element is one problem; what follows it is read as ever."""
    bad = GOOD.replace('numPeriods="5"', "")
    file = file_with(
        tmp_path, "<Other/>", f"<PairsStrategy {GOOD}/>", f"<PairsStrategy {bad}/>", "<Another/>", "<More/>"
    )
    _, problems = scan(file)
    assert [problem.line for problem in problems] == [2, 4, 5, 6]


def test_problems_without_end_are_not_collected(tmp_path: Path) -> None:
    """Reading stops after some ten thousand."""
    _, problems = scan(file_with(tmp_path, *["<Other/>"] * 30_000))
    assert 10_000 < len(problems) < 11_000
    assert "too many problems; the rest was not read" in {problem.text for problem in problems}


@pytest.mark.parametrize(
    ("close", "problem"),
    [
        ("900000", None),
        ("25000", None),
        (
            "24999",
            "marketClose is 24999, before the first strategy can answer at 25000; give 900000, the dataset's last",
        ),
        ("5", "marketClose is 5, before the first strategy can answer at 25000; give 900000, the dataset's last tick"),
        (
            "900001",
            "marketClose is 900001, after the dataset's last tick at 900000, so the bell never rings; give 900000",
        ),
        ("94608000000000", "marketClose is 94608000000000, after the dataset's last tick at 900000"),
    ],
)
def test_the_close_is_compared_with_the_last_tick(tmp_path: Path, close: str, problem: str | None) -> None:
    """If it is known: a market that never closes, or closes before any answer, is a problem of the first line."""
    file = file_with(tmp_path, f"<PairsStrategy {GOOD}/>", root=f'marketClose="{close}"')
    assert scan(file)[1] == []
    found, problems = scan(file, last_ts=900_000)
    assert (found is None) == (problem is not None) == bool(problems)
    for found_problem in problems:
        assert found_problem.line == 1
        assert found_problem.text.startswith(problem or "never")
