"""Tests of atomic writing: a file is there whole or not at all."""

from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from pairs.core.files import atomic_write, temporary_for, write_text


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    """Until then the old content stays; two writers do not share a temporary file."""
    file = tmp_path / "score.json"
    write_text(file, "old")
    with atomic_write(file) as first, atomic_write(file) as second:
        first.write_text("first")
        second.write_text("second")
        assert file.read_text() == "old"
    assert file.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["score.json"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """Neither half a file nor a temporary file."""
    with pytest.raises(ZeroDivisionError), atomic_write(tmp_path / "score.json") as partial:
        partial.write_text(str(1 / 0))
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_way_of_a_file_is_not_followed(tmp_path: Path) -> None:
    """Writing replaces the link, not the file it leads to."""
    target, file = tmp_path / "precious", tmp_path / "score.json"
    target.write_text("precious")
    file.symlink_to(target)
    write_text(file, "{}")
    assert target.read_text() == "precious"
    assert (file.read_text(), file.is_symlink()) == ("{}", False)


def test_an_error_of_the_file_system_is_one_line(tmp_path: Path) -> None:
    """For the user; tasks on executors get the error itself."""
    file = tmp_path / "missing" / "score.json"
    with pytest.raises(BadInputError, match=r"score\.json: cannot be written: No such file or directory; check"):
        write_text(file, "{}")
    with pytest.raises(FileNotFoundError), temporary_for(file) as partial:
        partial.write_text("{}")
