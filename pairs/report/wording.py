"""How numbers and settings are written on a page."""

from collections.abc import Iterator, Mapping
from typing import Any

NOT_RECORDED = "not recorded"
NONE = "\u2013"


def number(value: float | None, digits: int = 2) -> str:
    """Write a number with thousands apart."""
    return NONE if value is None else f"{value:,.{digits}f}"


def milliseconds(seconds: float | None) -> str:
    """Write a latency with about three figures."""
    if seconds is None:
        return NONE
    value = seconds * 1000
    return f"{value:,.0f} ms" if abs(value) >= 100 else f"{value:,.1f} ms" if abs(value) >= 10 else f"{value:.2f} ms"


def plain(value: Any) -> str:
    """Write any value of a configuration."""
    if value is None:
        return NOT_RECORDED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value)) or "none"
    return str(value)


def flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value of nested settings with its dotted name."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", "none" if value == {} else plain(value)
