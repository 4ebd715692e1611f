"""Compiling the Java part of a program."""

import zipfile
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError, PairsError
from pairs.core.javac import compile_jar

pytestmark = pytest.mark.process


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a class, with an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "Hello.java"
    file.write_text("package pairs; public record Hello(String name) {}\n")
    return file


def test_compiled_once(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jar holds the classes; equal content needs no compiler the second time."""
    compile_jar([source], "", "none", tmp_path / "a.jar", "or else")
    assert zipfile.ZipFile(tmp_path / "a.jar").namelist() == ["pairs/Hello.class"]
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    compile_jar([source], "", "none", tmp_path / "a.jar", "or else")
    with pytest.raises(BadInputError, match="no Java compiler found"):
        compile_jar([source], "", "other versions", tmp_path / "a.jar", "or else")


def test_no_compiler(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a JDK one is asked for by name, with what can be given instead."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInputError, match=r"install a JDK 17.*or else"):
        compile_jar([source], "", "none", tmp_path / "a.jar", "or else")
    assert not (tmp_path / "a.jar").exists()


def test_errors_have_their_line(source: Path, tmp_path: Path) -> None:
    """What the compiler refuses is named with file and line."""
    source.write_text("package pairs;\npublic record Hello(Nothing name) {}\n")
    with pytest.raises(PairsError, match=r"Hello\.java:2: error: cannot find symbol"):
        compile_jar([source], "", "none", tmp_path / "a.jar", "or else")
