"""Locks on folders that are in use, so that no command changes what another one works with.

The lock is the system's own (flock), on the folder itself: no file is added, a folder that is read-only can be locked,
and a killed process leaves no lock. On a file system without such locks folders are used unlocked.
"""

import fcntl
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from pairs.core.errors import BadInputError
from pairs.core.interrupts import guarded_context
from pairs.core.secrets import without_secrets

_LOCKS = Path("/proc/locks")
_NAMES = ("pairs", "pairs.cli")  # of the program, as a script and as a module
_LONGEST = 200  # characters of a command in a message
_Identity = tuple[int, int]  # device and inode of a folder
_own: set[_Identity] = set()  # the folders that this process uses alone


@contextmanager
def shared(folder: Path) -> Iterator[None]:
    """Use a folder that must not change meanwhile, together with others; refuse one that a process uses alone."""
    with _locked(folder, fcntl.LOCK_SH):
        yield


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Use a folder alone; refuse one that is in use."""
    with _locked(folder, fcntl.LOCK_EX) as identity:
        if identity is None:
            yield
            return
        _own.add(identity)
        try:
            yield
        finally:
            _own.discard(identity)


@guarded_context
def exclusive_made(folder: Path) -> Iterator[None]:
    """Use a folder alone like `exclusive`; if it is missing it is made, and removed if nothing came into it."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{folder}: cannot be written: {error.strerror}; choose another folder") from None
    try:
        with exclusive(folder):
            yield
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def user_of(folder: Path) -> str | None:
    """Return which process uses a folder, with its command; None if it is free."""
    try:
        with exclusive(folder):
            return None
    except BadInputError:
        return _holder(folder)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[_Identity | None]:
    """Lock a folder and give its identity; nothing if this process uses it alone already, or it cannot be locked."""
    opened = None if _identity(folder) in _own else _lock(folder, how)
    try:
        yield None if opened is None else _identity(opened)
    finally:
        if opened is not None:
            os.close(opened)


def _lock(folder: Path, how: int) -> int | None:
    """Return a descriptor that holds the lock; None if the folder cannot be read, or its file system has no locks."""
    while True:
        try:
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return None
        try:
            fcntl.flock(opened, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(opened)
            raise BadInputError(f"{folder}: in use by {_holder(folder)}; wait until it ends") from None
        except OSError:
            os.close(opened)
            return None
        if _identity(opened) == _identity(folder):
            return opened
        os.close(opened)  # it was replaced meanwhile


def _identity(folder: Path | int) -> _Identity | None:
    """Identify a folder by its path or an open descriptor, whatever it is called; nothing if it is missing."""
    with suppress(OSError):
        found = folder.stat() if isinstance(folder, Path) else os.fstat(folder)
        return found.st_dev, found.st_ino
    return None


def _holder(folder: Path) -> str:
    """Describe the process that has locked a folder, as far as the system tells."""
    with suppress(OSError, psutil.Error):
        inode = folder.stat().st_ino  # some file systems tell another device there
        for line in _LOCKS.read_text().splitlines():
            kind, pid, place = (line.split()[field] for field in (1, 4, 5))
            if kind == "FLOCK" and place.endswith(f":{inode}"):
                return f"process {pid} ({_command(psutil.Process(int(pid)).cmdline())})"
    return "another process"


def _command(words: list[str]) -> str:
    """Return a command as it was typed, without Python and its path."""
    own = [place for place, word in enumerate(words) if Path(word).name in _NAMES]
    command = shlex.join(without_secrets(["pairs", *words[own[0] + 1 :]] if own else words))
    return command if len(command) <= _LONGEST else f"{command[:_LONGEST]}..."
