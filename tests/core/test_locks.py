"""Folders in use are locked, and the refusal names the process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pairs.core import locks
from pairs.core.errors import BadInputError

HOLDER = """
import sys; from pathlib import Path; from pairs.core import locks
with getattr(locks, sys.argv[1])(Path(sys.argv[2])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(how: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process lock a folder for the time of a block."""
    command = [sys.executable, "-c", HOLDER, how, str(folder), "pairs", "run", "a market"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_a_folder_in_use_is_refused_with_its_user(tmp_path: Path) -> None:
    """By process and command; nothing is left when that is killed, not even a file."""
    with another_process("exclusive", tmp_path) as other:
        expected = rf"{tmp_path}: in use by process {other.pid} \(pairs run 'a market'\); wait until it ends"
        for lock in (locks.exclusive, locks.shared, locks.exclusive_made):
            with pytest.raises(BadInputError, match=expected), lock(tmp_path):
                pass
        assert locks.user_of(tmp_path) == f"process {other.pid} (pairs run 'a market')"
    with locks.exclusive(tmp_path):
        assert list(tmp_path.iterdir()) == []
    assert locks.user_of(tmp_path) is None


def test_readers_share_a_folder_and_keep_writers_out(tmp_path: Path) -> None:
    """Also a folder that is read-only, which must stay usable."""
    tmp_path.chmod(0o555)
    with another_process("shared", tmp_path):
        with locks.shared(tmp_path):
            pass
        with pytest.raises(BadInputError, match="in use by process"), locks.exclusive(tmp_path):
            pass
    tmp_path.chmod(0o755)


def test_a_process_does_not_lock_itself_out(tmp_path: Path) -> None:
    """A stage may use a folder that the command uses alone; only the outer end of use frees it."""
    with locks.exclusive(tmp_path):
        with locks.exclusive(tmp_path), locks.shared(tmp_path):
            pass
        assert "in use by process" in _try_elsewhere(tmp_path)
    assert _try_elsewhere(tmp_path) == ""


def _try_elsewhere(folder: Path) -> str:
    """Try to lock a folder in another process; return the last line of its error."""
    command = [sys.executable, "-c", HOLDER, "exclusive", str(folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stderr.strip().rpartition("\n")[2]


def test_a_missing_folder_is_made_and_removed_if_nothing_came_of_it(tmp_path: Path) -> None:
    """With the folders on the way; what is not empty stays."""
    with locks.exclusive_made(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    with locks.exclusive_made(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "file").touch()
    assert (tmp_path / "a" / "b" / "file").exists()
    with pytest.raises(BadInputError, match="cannot be written"), locks.exclusive_made(tmp_path / "a" / "b" / "file"):
        pass


def test_a_missing_folder_can_be_locked_for_reading(tmp_path: Path) -> None:
    """Nothing is made there: whoever reads it then says that it is missing."""
    with locks.shared(tmp_path / "nowhere"):
        assert not (tmp_path / "nowhere").exists()
