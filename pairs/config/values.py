"""The kinds of configuration values: how each is read from TOML or a flag, and written back."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from pairs.core.errors import BadInputError, shown
from pairs.core.units import parse_duration_ms, show_duration

_Scalar = str | int | float
Plain = _Scalar | list[dict[str, _Scalar]]  # a value in TOML or JSON

LOWEST_RATE, HIGHEST_RATE = Fraction(1, 10**6), Fraction(10**9)
SLOWEST, FASTEST = 0.001, 10_000.0  # simulated seconds per wall second
_NEAR = 0.7  # how alike a misspelled name and the right one are at least; 1 is equal
_MASTER = re.compile(r"local(\[([1-9]\d*|\*)(\s*,\s*[1-9]\d*)?\])?|local-cluster\[[\d\s,]+\]|yarn|[a-z][a-z0-9]*://.*")


@dataclass(frozen=True)
class Kind:
    """A kind of value: `wanted` completes the sentence 'give ...', `parse` raises ValueError for an invalid value."""

    metavar: str
    wanted: str
    parse: Callable[[Any], Any]
    show: Callable[[Any], Any] = lambda value: value
    choices: tuple[str, ...] = ()

    def read(self, raw: Any, place: str) -> Any:
        """Parse a value; `place` is its flag, or its key in a file."""
        try:
            return self.parse(raw)
        except (ValueError, OverflowError):
            raise BadInputError(f"{place}: {shown(raw)} is not valid; give {self.wanted}") from None


def whole(low: int, high: int | None = None, metavar: str = "N") -> Kind:
    """Whole numbers from `low` up, to `high` if given."""

    def parse(raw: Any) -> int:
        if isinstance(raw, str) and re.fullmatch(r"[+-]?\d{1,20}", raw):
            raw = int(raw)
        if type(raw) is not int or raw < low or (high is not None and raw > high):
            raise ValueError
        return raw

    bounds = f"from {low} up" if high is None else f"from {low} to {high:,}"
    return Kind(metavar, f"a whole number {bounds}", parse)


def number(wanted: str, accepts: Callable[[float], bool], metavar: str = "X") -> Kind:
    """Finite decimal numbers for which `accepts` is true."""

    def parse(raw: Any) -> float:
        value = float(raw) if isinstance(raw, int | float | str) and raw is not True and raw is not False else None
        if value is None or not math.isfinite(value) or not accepts(value):
            raise ValueError
        return value

    return Kind(metavar, wanted, parse)


def fraction(raw: Any) -> Fraction:
    """Read a number that is not negative, such as 5000, 83.5 or 5000/60, exactly; anything else raises ValueError."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ValueError
    if isinstance(raw, str) and not re.fullmatch(r"[\d./ ]{1,200}", raw):  # no exponents, which can be enormous
        raise ValueError
    try:
        value = Fraction(str(raw).replace(" ", ""))
    except ZeroDivisionError:
        raise ValueError from None
    if value < 0:
        raise ValueError
    return value


def show_fraction(value: Fraction) -> int | str:
    return int(value) if value.denominator == 1 else str(value)


def rate() -> Kind:
    """Positive rates, also as a fraction such as 5000/60, kept exact."""

    def parse(raw: Any) -> Fraction:
        value = fraction(raw)
        if not LOWEST_RATE <= value <= HIGHEST_RATE:
            raise ValueError
        return value

    wanted = "a rate above zero, from 10^-6 to 10^9, such as 5000, 83.5 or 5000/60"
    return Kind("R", wanted, parse, show_fraction)


def share(lowest: int, highest: int) -> Kind:
    """Shares in percent, kept exact: 75% is 3/4."""

    def parse(raw: Any) -> Fraction:
        if not isinstance(raw, str) or not re.fullmatch(r"\d{1,6}(\.\d{1,6})?%", raw):
            raise ValueError
        percent = Fraction(raw.removesuffix("%"))
        if not lowest <= percent <= highest:
            raise ValueError
        return percent / 100

    return Kind("SHARE", f"a share from {lowest}% to {highest}%, such as 75%", parse)


SPEEDS = number(
    f"a number from {SLOWEST:g} to {FASTEST:,.0f} such as 1 or 60", lambda value: SLOWEST <= value <= FASTEST
)


def speed() -> Kind:
    """Speeds in simulated seconds per wall second, or `max` for unpaced."""

    def parse(raw: Any) -> float | str:
        return "max" if raw == "max" else float(SPEEDS.parse(raw))

    return Kind("X", f"{SPEEDS.wanted}, or max", parse)


def choice(*names: str) -> Kind:
    wanted = "one of " + ", ".join(names)
    return Kind("|".join(names), wanted, lambda raw: names[names.index(raw)], choices=names)  # index raises ValueError


def truth() -> Kind:
    """Yes or no; no is not shown."""

    def parse(raw: Any) -> bool:
        if raw not in (True, False, "true", "false"):
            raise ValueError
        return raw in (True, "true")

    return Kind("", "true or false", parse, lambda value: value or None)


def text(metavar: str) -> Kind:
    def parse(raw: Any) -> str:
        if not isinstance(raw, str) or not raw.strip():
            raise ValueError
        return raw

    return Kind(metavar, "a text that is not empty", parse)


def spark_master() -> Kind:
    """Accept URLs of Spark masters; whether a cluster is there is found out by starting Spark."""

    def parse(raw: Any) -> str:
        if not isinstance(raw, str) or not _MASTER.fullmatch(raw):
            raise ValueError
        return raw

    return Kind("URL", "a Spark master such as local[*], spark://host:7077 or yarn", parse)


def time_span() -> Kind:
    """Lengths of simulated time, kept in whole milliseconds."""
    wanted = "a duration above zero, at most 366d, such as 2h, 12m, 90s or 1h30m"
    return Kind("TIME", wanted, parse_duration_ms, show_duration)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the word that a misspelled word stands for; None if none is really near."""
    return next(iter(get_close_matches(word, list(words), n=1, cutoff=_NEAR)), None)


def suggestion(word: str, words: Iterable[str]) -> str:
    """Return the remedy for a word that is not among those that there are: the nearest, or else all of them."""
    known = list(words)
    near = nearest(word, known)
    return f"give one of {', '.join(known)}" if near is None else f"did you mean {near!r}?"
