"""Tests of the checks before Spark starts, and of the messages when it fails."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pairs.core.errors import BadInputError
from pairs.core.spark import cause_of, check_java, java_version, session
from tests.processes import is_alive


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("command not found", None),
    ],
)
def test_java_versions_are_read(printed: str, version: int | None) -> None:
    """Both old and new version names are parsed."""
    assert java_version(printed) == version


def fake_java(folder: Path, prints: str) -> None:
    """Write a program `java` that prints a version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{prints}' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("prints", "message"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "Java 11, too old"),
        ("Segmentation fault", "not a Java with a known version"),
        (None, "no Java found"),
    ],
)
def test_an_unusable_java_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str | None, message: str
) -> None:
    """A missing or too old Java is bad input, and the message says what to install."""
    if prints:
        fake_java(tmp_path, prints)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadInputError, match=message) as error:
        check_java()
    assert "install Java 17 or newer" in str(error.value)
    assert str(error.value).startswith("JAVA_HOME")


def test_no_java_on_the_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without JAVA_HOME the PATH is searched."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInputError, match="no Java found on the PATH; install Java 17"), session("never", "local[1]"):
        pass


def test_the_cause_of_a_failed_job_is_the_python_error() -> None:
    """Of a long stack trace, the line with the reason is kept."""
    trace = (
        "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n"
        ": org.apache.spark.SparkException: Job aborted due to stage failure\n"
        'Traceback (most recent call last):\n  File "x.py", line 1\nOSError: [Errno 28] No space left on device\n'
    )
    assert cause_of(RuntimeError(trace)) == "OSError: [Errno 28] No space left on device"


@pytest.mark.process
def test_a_session_leaves_the_search_path_as_it_was() -> None:
    """The archive for the executors is gone after a session, so later imports must not search it."""
    program = (
        "import sys; from pairs.core.spark import session; before = list(sys.path)\n"
        "for _ in range(2):\n"
        "    with session('x', 'local[1]') as spark: spark.sparkContext.parallelize([1], 1).count()\n"
        "    assert sys.path == before, sys.path\n"
        "    import pairs.validator.validation, pairs.generator.estimate"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_java_that_hangs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit that it did not keep; what it started is ended."""
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nsleep 99\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pairs.core.spark._TIME_TO_ANSWER_S", 0.5)
    with pytest.raises(BadInputError, match=r"bin/java -version did not end within 0\.5 s; install Java 17"):
        check_java()
    assert not any(is_alive(child) for child in psutil.Process().children() if child.name() == "sleep")


@pytest.mark.process
def test_a_spark_that_does_not_start_is_given_up(tmp_path: Path) -> None:
    """A Java that tells its version and then hangs fails the session within the limit, and is ended."""
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "17.0.1"\' || sleep 99\n')
    program.chmod(0o755)
    start = (
        "import psutil; from pairs.core import spark; from pairs.core.errors import BadInputError\n"
        "spark._TIME_TO_START_S = 2\n"
        "try:\n"
        "    with spark.session('x', 'local[1]'): pass\n"
        "except BadInputError as error: print(error)\n"
        "assert psutil.Process().children(recursive=True) == []\n"
    )
    environment = os.environ | {"JAVA_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("--master: Spark did not start on 'local[1]' within 2 s; ")
