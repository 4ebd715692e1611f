"""Writes files atomically: under a temporary name, renamed when whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pairs.core.errors import BadInputError


@contextmanager
def atomic_write(file: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it is renamed to `file` on success and removed on failure."""
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        partial.unlink(missing_ok=True)
        partial.touch(exist_ok=False)  # created here: not a link that somebody else has put there
        yield partial
        partial.replace(file)
    except OSError as error:
        raise BadInputError(f"{file}: cannot be written: {error.strerror or error}; check the folder") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def write_text(file: Path, text: str) -> None:
    """Write a text file atomically, as UTF-8."""
    with atomic_write(file) as partial:
        partial.write_text(text, encoding="utf-8")
