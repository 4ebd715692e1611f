"""What must hold of every reader, whatever it is given, in one place.

It returns, or raises a PairsError with a message of one line that a person can read; in bounded time (the watchdog of
worker.py) and memory; without a library's own words on the terminal.
"""

import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairs.core.errors import PairsError, one_line
from pairs.core.memory import peak_bytes

MOST_BYTES = 256 * 2**20  # that one file may take, beyond what the process has taken before
_LONGEST_LINE = 2_000  # characters


@dataclass(frozen=True)
class Finding:
    """A broken contract: equal titles are the same finding; the text has all that helps to fix it."""

    title: str
    text: str


def broken_by(read: Callable[[Path], Any], folder: Path) -> Finding | None:
    """Let a reader read what is in a folder; return what it did that it must not do."""
    before = peak_bytes()
    printed: list[BaseException] = []  # by Python itself, where an error could not be raised
    sys.unraisablehook = lambda hooked: printed.append(hooked.exc_value or SystemExit())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # numpy's would appear on the terminal
            read(folder)
    except PairsError as error:
        finding = _bad_message(error)
    except Exception as error:  # noqa: BLE001 - whatever comes out of a reader is a finding
        place = _innermost_place(error)
        finding = Finding(f"{type(error).__name__} {place}", "".join(traceback.format_exception(error)))
    else:
        finding = None
    sys.unraisablehook = sys.__unraisablehook__
    if finding is None and printed:
        return Finding(f"prints {printed[0]!r:.40}", "".join(traceback.format_exception(printed[0])))
    grown = peak_bytes() - before
    if finding is None and grown > MOST_BYTES:
        return Finding("too much memory", f"{grown:,} bytes, more than {MOST_BYTES:,}")
    return finding


def _bad_message(error: PairsError) -> Finding | None:
    line = one_line(str(error))
    if not line:
        return Finding(f"an empty message {_innermost_place(error)}", "".join(traceback.format_exception(error)))
    if len(line) > _LONGEST_LINE:
        return Finding(f"a message too long to read {_innermost_place(error)}", f"{len(line):,} characters: {line}")
    return None


def _innermost_place(error: BaseException) -> str:
    """Return where in the kit an error arose."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/pairs/" in frame.filename]
    inner = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"in {inner.name}, {inner.filename.rpartition('/pairs/')[2]}:{inner.lineno}"
