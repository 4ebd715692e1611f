"""Durations as people write and read them."""

import re
from fractions import Fraction
from typing import Any

_UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:d|h|ms|m|s))+")
_LONGEST_MS = 366 * _UNITS_MS["d"]


def parse_duration_ms(raw: Any) -> int:
    """Read `2h`, `12m`, `1h30m` or a plain number of seconds as whole milliseconds."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ValueError
    written = str(raw).replace(" ", "")
    if not _DURATION.fullmatch(written):
        written += "s"
    parts = re.findall(r"(-?[\d.]+)(d|h|ms|m|s)", written)
    if "".join(value + unit for value, unit in parts) != written:
        raise ValueError
    total = sum(Fraction(value) * _UNITS_MS[unit] for value, unit in parts)
    if total.denominator != 1 or not 0 < total <= _LONGEST_MS:
        raise ValueError
    return int(total)


def show_duration(duration_ms: int) -> str:
    """Write milliseconds for people: 7,200,000 is `2h`."""
    written, rest = "", duration_ms
    for unit, size in _UNITS_MS.items():
        count, rest = divmod(rest, size)
        written += f"{count}{unit}" if count else ""
    return written or "0ms"


def counted(number: int, noun: str) -> str:
    """Write a number of things: `1 warning`, `2 warnings`, `3 strategies`."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"
