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


def bytes_of(size: float | None) -> str:
    """Write an amount of memory."""
    if size is None:
        return NONE
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 1000:
            return f"{size:,.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"


def plain(value: Any) -> str:
    """Write any value of a configuration."""
    if value is None:
        return NOT_RECORDED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain(one) for one in value) or "none"
    return str(value)


def flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value of nested settings with its dotted name."""
    for name, value in values.items():
        if isinstance(value, dict):
            if not value:
                yield f"{prefix}{name}", "none"
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", plain(value)
