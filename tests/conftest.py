"""Fixtures shared by all tests: one Spark session, the command line as users call it, a fixed seed."""

import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from pairs.core.spark import session
from tests.brokers import running_broker
from tests.processes import Command as Command

settings.register_profile("steady", deadline=None, derandomize=True)  # no test measures time; every run is the same
settings.load_profile("steady")

for _ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # as in the background of a script, or with nohup
    if signal.getsignal(_ignored) == signal.SIG_IGN:
        signal.signal(_ignored, signal.SIG_DFL)  # commands that tests start inherit it, and must hear their signals

_STARTING = {"spark", "pairs_command", "kafka_broker"}  # fixtures that start Spark or a process


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that starts Spark or a process by a fixture."""
    for item in items:
        if _STARTING.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.process)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Run one Spark session on two cores."""
    with session("tests", "local[2]") as running:
        yield running


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run one Kafka broker; return where it is reached."""
    with running_broker(tmp_path_factory.mktemp("kafka") / "broker") as broker:
        yield broker.bootstrap


@pytest.fixture
def random_seed(request: pytest.FixtureRequest) -> int:
    """Return a seed that is fixed for each test, and shown if the test fails."""
    seed = zlib.crc32(request.node.nodeid.encode())
    print(f"random_seed: {seed}")
    return seed


@pytest.fixture
def pairs_command(tmp_path: Path) -> Command:
    """Run `pairs` as a process of its own in an empty folder."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            [sys.executable, "-m", "pairs.cli", *arguments],
            **({"cwd": tmp_path, "capture_output": True, "text": True, "check": False} | options),
        )

    return run
