"""The errors of the kit: libraries raise them, the command line prints each as one line."""

from collections.abc import Mapping
from typing import Any

_LONGEST_SHOWN = 80  # characters of a value
_LONGEST = 2_000  # characters of a message


def one_line(message: str) -> str:
    """Return a message as one line of bounded length without control characters, whatever names from data are in it.

    A long one loses its middle: it begins with the place and ends with the remedy.
    """
    words = " ".join(message.split())
    line = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in words)
    half = _LONGEST // 2 - 3
    return line if len(line) <= _LONGEST else f"{line[:half]} ... {line[-half:]}"


def shown(value: Any) -> str:
    """Return a value as its user wrote it: text in quotes, `true` as in TOML; what is long is cut."""
    if value is None or isinstance(value, bool):
        written = "null" if value is None else str(value).lower()
    elif isinstance(value, Mapping):
        written = "a table"
    elif isinstance(value, list | tuple):
        written = f"[{', '.join(map(shown, value))}]"
    else:
        written = repr(value) if isinstance(value, str) else str(value)
    return written if len(written) <= _LONGEST_SHOWN else f"{written[:_LONGEST_SHOWN]}..."


class PairsError(Exception):
    """Something the user can read and act on; printed as one line, exit code 1."""

    exit_code = 1


class BadInputError(PairsError):
    """The input is at fault: the message names the place and the remedy; exit code 2."""

    exit_code = 2


class CommandInterruptedError(PairsError):
    """The command was interrupted; the message says what is kept."""

    exit_code = 130
