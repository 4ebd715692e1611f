"""The strategy set as XML: written and read as a stream, checked against the schema, every problem with its line.

Hostile XML is refused before it is parsed: no DTD, so no entities; no encoding but UTF-8; no element of more than a
megabyte. What is wrong is said in words of our own (strategy_xml_errors.py).
"""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import BinaryIO

from lxml import etree

from pairs.core.errors import BadInputError
from pairs.core.files import atomic_write
from pairs.core.progress import waiting
from pairs.core.units import counted
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml_errors import SCHEMA_FILE, malformed, not_of_schema, shown

_CHUNK = 65_536
_LARGEST_ELEMENT = 1_048_576
_ELEMENTS_AT_A_TIME = 512
_MOST_PROBLEMS = 10_000
_UNIQUE = "aliasesAreUnique"  # the schema's rule; our own check names both lines
_FORBIDDEN = {b"<!DOCTYPE": "a DTD", b"<!ENTITY": "an entity declaration"}
_LONGEST_MARK = max(len(mark) for mark in _FORBIDDEN)


@dataclass(frozen=True, order=True)
class Problem:
    """Something wrong with a strategy set, and where."""

    line: int
    text: str


class _RefusedError(Exception):
    """Stops reading the file; the arguments are those of a Problem."""


@waiting("writing strategies")
def write_strategies(path: Path, strategies: StrategySet) -> None:
    with atomic_write(path) as partial:
        with etree.xmlfile(str(partial), encoding="UTF-8") as target:
            target.write_declaration()
            with target.element("Strategies", marketClose=str(strategies.market_close_ms)):
                for strategy in strategies.strategies:
                    target.write("\n  ", etree.Element("PairsStrategy", _attributes(strategy)))
                target.write("\n")
        with partial.open("ab") as target_file:
            target_file.write(b"\n")


def write_new(path: Path, strategies: StrategySet, overwrite: bool) -> None:
    """Write a strategy set; a different set is replaced only with `overwrite`."""
    if path.exists() and not overwrite:
        old, _ = scan(path)
        if old != strategies:
            raise BadInputError(f"{path}: exists with other strategies; give --overwrite to replace it")
    write_strategies(path, strategies)


def read_strategies(path: Path) -> StrategySet:
    """Read a strategy set; refuse an invalid set with its first problem."""
    strategies, problems = scan(path)
    if problems or strategies is None:
        more = f" ({counted(len(problems) - 1, 'more problem')})" if len(problems) > 1 else ""
        raise BadInputError(
            f"{path}:{problems[0].line}: {problems[0].text}{more}; 'pairs strategies --check {path}' lists everything"
        )
    return strategies


@waiting("reading strategies")
def scan(
    path: Path, symbols: Collection[str] | None = None, last_ts: int | None = None
) -> tuple[StrategySet | None, list[Problem]]:
    """Read a strategy set and all its problems; the set is None if there are any.

    The symbols and the time of the last tick are those of the dataset it is for, if they are known.
    """
    try:
        with path.open("rb") as source:
            reading = _Reading(symbols, last_ts)
            try:
                reading.read(source)
            except _RefusedError as refused:
                reading.problems.append(Problem(*refused.args))
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    problems = sorted(set(reading.problems))
    return (None if problems else StrategySet(reading.market_close_ms, tuple(reading.strategies))), problems


@dataclass
class _Reading:
    """One pass over a file."""

    symbols: Collection[str] | None
    last_ts: int | None
    strategies: list[Strategy] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lines_of_aliases: dict[str, int] = field(default_factory=dict)
    market_close_ms: int = 0

    def read(self, source: BinaryIO) -> None:
        pending: list[etree._Element] = []
        for element in _elements(source):
            parent = element.getparent()
            root = element if parent is None else parent
            if root.getparent() is not None:
                raise _RefusedError(element.sourceline, f"an element inside {root.tag!r}; it may only have attributes")
            if root.tag != "Strategies":
                text = f"the first element is {shown(root.tag)}, not 'Strategies'; rename it"
                raise _RefusedError(root.sourceline, text)
            if element is not root:
                pending.append(element)
            if element is root or len(pending) == _ELEMENTS_AT_A_TIME:
                self._add(root, pending)
                pending = []
            if element is root:
                self._check_market_close(root)

    def _add(self, root: etree._Element, elements: list[etree._Element]) -> None:
        """Validate the elements under the root, keep their strategies, and free their memory."""
        known = [element for element in elements if element.tag == "PairsStrategy"]
        for foreign in (element for element in elements if element.tag != "PairsStrategy"):
            text = f"an element {shown(foreign.tag)}; only PairsStrategy may be there"
            self.problems.append(Problem(foreign.sourceline, text))
            root.remove(foreign)
        invalid_lines = self._check_form(root)
        for element in known:
            if element.sourceline not in invalid_lines:
                given = dict(element.items())
                self._check_meaning(element.sourceline, given)
                if not self.problems:
                    self.strategies.append(_strategy(given))
            if root[0] is not element:  # the first stays, as the root must not be empty
                root.remove(element)
        if len(self.problems) > _MOST_PROBLEMS:
            raise _RefusedError(self.problems[-1].line, "too many problems; the rest was not read")

    def _check_form(self, root: etree._Element) -> set[int]:
        """Validate against the schema; return the invalid lines."""
        schema = _schema()
        schema.validate(root)
        entries = [entry for entry in schema.error_log if _UNIQUE not in entry.message]
        self.problems += {Problem(entry.line, not_of_schema(entry, root)) for entry in entries}
        return {entry.line for entry in entries}

    def _check_market_close(self, root: etree._Element) -> None:
        """Keep when the market closes, unless that is invalid; compare it with the dataset's last tick."""
        if any(problem.line == root.sourceline for problem in self.problems):
            return
        self.market_close_ms = int(root.get("marketClose", ""))
        if self.last_ts is None:
            return
        found = StrategySet(self.market_close_ms, tuple(self.strategies))
        if problem := found.late_close(self.last_ts) or found.premature_close(self.last_ts):
            self.problems.append(Problem(root.sourceline, problem))

    def _check_meaning(self, line: int, given: dict[str, str]) -> None:
        """Check what a schema cannot express, or only with the whole file in memory."""
        alias = given.get("alias", "")
        first = self.lines_of_aliases.get(alias)
        if first is None:
            self.lines_of_aliases[alias] = line
        else:
            self.problems.append(Problem(line, f"alias {given['alias']!r} is used in line {first} already"))
        symbols = {name: given.get(name, "") for name in ("symbol1", "symbol2")}
        if len(set(symbols.values())) == 1:
            self.problems.append(Problem(line, f"symbol1 and symbol2 are both {symbols['symbol1']!r}"))
        for name, symbol in symbols.items():
            if self.symbols is not None and symbol not in self.symbols:
                self.problems.append(Problem(line, f"{name} {symbol!r} is not a symbol of the dataset"))


@cache
def _schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(SCHEMA_FILE))


def _elements(source: BinaryIO) -> Iterator[etree._Element]:
    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    parser = etree.XMLPullParser(("end",), remove_comments=True, remove_pis=True, **safe)
    since_element, line = 0, 1
    try:
        for chunk in _safe_chunks(source):
            parser.feed(chunk)
            finished = [element for _, element in parser.read_events()]
            line = finished[-1].sourceline if finished else line
            yield from finished
            since_element = 0 if finished else since_element + len(chunk)
            if since_element > _LARGEST_ELEMENT:
                raise _RefusedError(line, f"an element or text of more than {_LARGEST_ELEMENT:,} bytes after this line")
        parser.close()
    except etree.XMLSyntaxError as error:
        raise _RefusedError(*malformed(error)) from None
    with suppress(etree.XMLSyntaxError):
        yield from (element for _, element in parser.read_events())


def _safe_chunks(source: BinaryIO) -> Iterator[bytes]:
    """Yield a file's bytes; refuse forbidden marks before the parser sees them."""
    line, tail, first = 1, b"", True
    while chunk := source.read(_CHUNK):
        if first:
            _check_encoding(chunk)
        window = tail + chunk
        for mark, what in _FORBIDDEN.items():
            if (found := window.find(mark)) >= 0:
                raise _RefusedError(line + window.count(b"\n", 0, found), f"{what} is not allowed; remove it")
        line += window.count(b"\n", 0, max(0, len(window) - _LONGEST_MARK))
        tail, first = window[-_LONGEST_MARK:], False
        yield chunk
    if first:
        raise _RefusedError(1, "the file is empty; give a strategy set")


def _check_encoding(beginning: bytes) -> None:
    """Refuse a file in an encoding, actual or declared, other than UTF-8 or ASCII."""
    declared = re.match(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*encoding\s*=\s*['\"]([^'\"]*)", beginning)
    if b"\0" in beginning or beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _RefusedError(1, "not UTF-8; save the file as UTF-8")
    if declared and declared.group(1).lower() not in (b"utf-8", b"us-ascii"):
        named = declared.group(1).decode("ascii", "replace")
        raise _RefusedError(1, f"the encoding {named!r} is declared; save the file as UTF-8")


def _attributes(strategy: Strategy) -> dict[str, str]:
    return {
        "alias": strategy.alias,
        **({} if strategy.user is None else {"user": strategy.user}),
        "availableFunds": str(strategy.available_funds_cents),
        "symbol1": strategy.symbol1,
        "symbol2": strategy.symbol2,
        "periodLength": _decimal(strategy.period_ms, 1_000),
        "numPeriods": str(strategy.num_periods),
        "bandsMultiplier": _decimal(strategy.bands_multiplier),
        "stopLossPerc": _decimal(strategy.stop_loss_fraction),
    }


@lru_cache(maxsize=10_000)
def _decimal(value: float, divisor: int = 1) -> str:
    """Write a number without an exponent, as XML Schema's decimals require."""
    return f"{Decimal(repr(value)) / divisor:f}"


@lru_cache(maxsize=10_000)
def _milliseconds(seconds: str) -> int:
    return int(Decimal(seconds) * 1_000)


def _strategy(given: dict[str, str]) -> Strategy:
    return Strategy(
        alias=given["alias"],
        user=given.get("user"),
        available_funds_cents=int(given["availableFunds"]),
        symbol1=given["symbol1"],
        symbol2=given["symbol2"],
        period_ms=_milliseconds(given["periodLength"]),
        num_periods=int(given["numPeriods"]),
        bands_multiplier=float(given["bandsMultiplier"]),
        stop_loss_fraction=float(given["stopLossPerc"]),
    )
