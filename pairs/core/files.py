"""Writes files atomically, under a temporary name and renamed when whole; finds the files shipped with the kit."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from pairs.core.errors import BadInputError
from pairs.core.interrupts import guarded_context


@guarded_context
def temporary_folder(prefix: str = "pairs-", parent: Path | None = None) -> Iterator[Path]:
    """Give a new folder, which is removed in the end, whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@guarded_context
def temporary_for(file: Path) -> Iterator[Path]:
    """Give a temporary path, different each time; it is renamed to `file` on success and removed on failure."""
    partial = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        yield partial
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_write(file: Path) -> Iterator[Path]:
    """Give a temporary path like `temporary_for`; an error of the file system becomes one line for the user."""
    try:
        with temporary_for(file) as partial:
            yield partial
    except OSError as error:
        raise BadInputError(f"{file}: cannot be written: {error.strerror or error}; check the folder") from None


def write_text(file: Path, text: str) -> None:
    with atomic_write(file) as partial:
        partial.write_text(text, encoding="utf-8")


def shipped_folder(name: str) -> Path:
    """Return the folder `configs` or `templates`, which are linked into the package."""
    return Path(__file__).parent.parent / name
