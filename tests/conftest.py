"""Fixtures shared by all tests: one Spark session, and the command line as users call it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from pairs.core.spark import session

settings.register_profile("steady", deadline=None, derandomize=True)  # no test measures time; every run is the same
settings.load_profile("steady")

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Run one Spark session on two cores."""
    with session("tests", "local[2]") as running:
        yield running


@pytest.fixture
def pairs_command(tmp_path: Path) -> Command:
    """Run `pairs` as a process of its own in an empty folder."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            [sys.executable, "-m", "pairs.cli.app", *arguments],
            **({"cwd": tmp_path, "capture_output": True, "text": True, "check": False} | options),
        )

    return run
