"""Compiling the Java part of a program."""

import zipfile
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError, PairsError
from pairs.core.javac import JavaPart, check_compiler, check_jar, compile_jar

pytestmark = pytest.mark.process

HELLO = JavaPart({"Hello.java": b"package pairs; public record Hello(String name) {}\n"}, "none")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cache folder be empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jar holds the classes; equal content needs no compiler the second time."""
    compile_jar(HELLO, "", tmp_path / "a.jar", "or else")
    assert "pairs/Hello.class" in zipfile.ZipFile(tmp_path / "a.jar").namelist()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    check_compiler(HELLO, "or else")
    compile_jar(HELLO, "", tmp_path / "a.jar", "or else")
    with pytest.raises(BadInputError, match="no Java compiler found"):
        compile_jar(JavaPart(HELLO.sources, "other versions"), "", tmp_path / "a.jar", "or else")


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a JDK one is asked for by name, with what can be given instead."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    needed = r"JAVA_HOME.*install a JDK 17.*or else"
    with pytest.raises(BadInputError, match=needed):
        check_compiler(HELLO, "or else")
    with pytest.raises(BadInputError, match=needed):
        compile_jar(HELLO, "", tmp_path / "a", "or else")
    assert not (tmp_path / "a").exists()


def test_java_home_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAVA_HOME may be a runtime only: then the compiler on the PATH does."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    compile_jar(HELLO, "", tmp_path / "a.jar", "or else")
    assert (tmp_path / "a.jar").is_file()


def test_errors_have_their_line(tmp_path: Path) -> None:
    """What the compiler refuses is named with file and line."""
    wrong = JavaPart({"Hello.java": b"package pairs;\npublic record Hello(Nothing name) {}\n"}, "none")
    with pytest.raises(PairsError, match=r"Hello\.java:2: error: cannot find symbol"):
        compile_jar(wrong, "", tmp_path / "a.jar", "or else")


def test_a_jar_that_is_given(tmp_path: Path) -> None:
    """It must have been compiled from the same sources; what is no jar of a program is refused as such."""
    compile_jar(HELLO, "", tmp_path / "a.jar", "or else")
    check_jar(HELLO, tmp_path / "a.jar", "--set jar")
    with pytest.raises(BadInputError, match="was compiled from other sources"):
        check_jar(JavaPart(HELLO.sources, "other versions"), tmp_path / "a.jar", "--set jar")
    (tmp_path / "b.jar").write_text("no jar")
    for file in ("b.jar", "c.jar"):
        with pytest.raises(BadInputError, match="is not the jar of a program"):
            check_jar(HELLO, tmp_path / file, "--set jar")
