"""Whatever dies, hangs or talks nonsense: the run ends with a reason, nothing goes on, what was recorded stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest

from pairs.config.load import RunSettings
from pairs.core.errors import PairsError
from pairs.dataset.folder import Dataset
from pairs.harness.supervisor import Job, Outcome, OverloadedError, execute
from pairs.run_folder.folder import Run, new_run
from pairs.translator.target import Launch, Target
from tests.markets import golden_market

SPEED = 180.0  # the golden quarter of an hour in five seconds
TICKS = 26_669
ENGINE = """
import socket, sys, time
from pathlib import Path
import pyarrow as pa
from pairs.transport.answers import open_sink
from pairs.transport.ticklog import TickLogReader
from pairs.model.tuples import INDICATOR, MARKET_ORDER

behaviour, source, address = sys.argv[1:]
if behaviour == "garbage":
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET / HTTP/1.1" + bytes(10_000))
log, sink = TickLogReader(Path(source)), open_sink(address)
types = {one.name: one.type for schema in (INDICATOR, MARKET_ORDER) for one in schema}
position = batch = 0
while not (log.closed and position == log.written):
    end = min(log.written, position + 100) if behaviour == "slow" else log.written
    if behaviour == "flood":
        sys.stderr.write("noise " * 20_000)
    if end > position:
        last = list(log.read(position, end))[-1][-1]
        rows = {name: pa.nulls(1, kind) for name, kind in types.items()}
        rows |= {name: pa.array(["BUY"]) for name in ("strategy", "type", "symbol")}
        rows |= {name: pa.array([int(last["tickTS"])]) for name in ("price", "size", "inputTickTS", "inputTS")}
        sink.send(batch, pa.table(rows))
        position, batch = end, batch + 1
        log.mark_done(position)
    if behaviour == "hang" and position > 2_000:
        time.sleep(1_000)
    if behaviour == "exit" and position > 2_000:
        sys.exit(0)
    if behaviour == "crash" and position > 2_000:
        sys.exit("engine: out of luck")
    time.sleep(0.05 if behaviour == "slow" else 0.005)
"""


class FaultyEngine(Target):
    """An engine that answers something to every batch of ticks, and behaves in some way."""

    name = "faulty"
    summary = "an engine with a fault"
    plans: ClassVar = {"shared": ""}
    options: ClassVar = {}
    templates = Path()

    def __init__(self, script: Path, behaviour: str) -> None:
        self._command = [sys.executable, str(script), behaviour]

    def command(self, launch: Launch) -> list[str]:
        """Run the script."""
        return [*self._command, str(launch.source), launch.sink]


def play(tmp_path: Path, behaviour: str, **settings: Any) -> tuple[Run, Outcome | PairsError]:
    """Run such an engine in real time; return what came of it."""
    script = tmp_path / "engine.py"
    script.write_text(ENGINE)
    run = new_run(tmp_path / "run", overwrite=False)
    run.app_folder.mkdir()
    plain: dict[str, Any] = {"stall_timeout": 60_000, "max_behind": 120_000, "faults": ()} | settings
    job = Job(
        Dataset(golden_market(tmp_path / "market")),
        FaultyEngine(script, behaviour),
        RunSettings(target="faulty", plan="shared", speed=SPEED, drivers=1, master="", settings={}, **plain),
        TICKS,
        {"measurement": 0, "cool-down": 900_000},
        900_000,
    )
    try:
        return run, execute(run, job)
    except PairsError as error:
        return run, error


def processes_of(run: Run) -> list[int]:
    """Return the processes that have to do with a run."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if str(run.path).encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def assert_kept(run: Run) -> None:
    """See that what was recorded is readable, that nothing else is left, and that nothing runs."""
    assert pq.read_table(run.answers_file("orders")).num_rows > 0
    assert pq.read_table(run.answers_file("indicators")).num_rows == 0
    assert pq.read_table(run.pace_file)["sent"].to_pylist()[-1] > 2_000
    assert pq.read_table(run.resources_file).num_rows > 0
    assert not run.log_folder.exists()
    assert list(run.path.glob("*.arrows")) == []
    assert processes_of(run) == []


ENDS = {
    "hang": "the engine took no tick for 2s, though there were some",
    "exit": "the engine ended before it had read all ticks",
    "crash": "the engine ended with exit code 1: engine: out of luck",
}


@pytest.mark.parametrize("behaviour", ENDS)
def test_an_engine_that_does_not_go_on(tmp_path: Path, behaviour: str) -> None:
    """One that hangs, exits or crashes ends the run, with the reason."""
    run, error = play(tmp_path, behaviour, stall_timeout=2_000)
    assert ENDS[behaviour] in str(error)
    assert_kept(run)


def test_an_engine_that_cannot_keep_up(tmp_path: Path) -> None:
    """It is overloaded, and the run ends with its time series up to then."""
    run, error = play(tmp_path, "slow", max_behind=1_500)
    assert isinstance(error, OverloadedError)
    assert str(error).startswith("OVERLOADED: the engine is more than 1s500ms behind")
    assert_kept(run)


@pytest.mark.parametrize("behaviour", ["garbage", "flood"])
def test_an_engine_that_talks_nonsense(tmp_path: Path, behaviour: str) -> None:
    """Garbage to the sink and floods of messages do no harm: every answer is taken, none is made up."""
    run, outcome = play(tmp_path, behaviour)
    assert isinstance(outcome, Outcome), outcome
    assert set(outcome.exit_codes.values()) == {0}
    assert_kept(run)
    said = run.log_file("sink").read_text()
    assert ("sent nonsense" in said) is (behaviour == "garbage")


@pytest.mark.parametrize("part", ["sink", "driver"])
def test_a_part_of_the_harness_that_is_killed(tmp_path: Path, part: str) -> None:
    """A dead sink or driver ends the run as failed; the answers taken until then are kept."""

    def kill() -> None:
        run = Run((tmp_path / "run").absolute())
        while True:
            time.sleep(0.05)
            orders = run.path / "orders.arrows"
            if orders.exists() and orders.stat().st_size > 4_000:
                break
        for pid in processes_of(run):
            if f"pairs.harness.{part}".encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    run, error = play(tmp_path, "steady")
    assert f"the {part}" in str(error)
    assert "ended with exit code -9" in str(error)
    assert_kept(run)


def test_an_engine_that_is_killed_and_starts_again(tmp_path: Path) -> None:
    """Ticks go on meanwhile, the engine starts anew twice, and the run comes to its end."""
    run, outcome = play(tmp_path, "steady", faults=(200_000, 500_000))
    assert isinstance(outcome, Outcome), outcome
    assert len(outcome.kills_us) == 2
    assert outcome.start_us is not None
    at_ms = [(one - outcome.start_us) / 1000 * SPEED for one in outcome.kills_us]
    assert at_ms[0] >= 200_000
    assert at_ms[1] >= 500_000
    assert_kept(run)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Give a function that makes the folder of the run a small disk of its own."""
    folder = tmp_path / "run"

    def mount(size: str) -> Path:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("no disk can be mounted here")
        return folder

    yield mount
    subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def test_a_disk_that_fills_up(tmp_path: Path, small_disk: Callable[[str], Path]) -> None:
    """The run ends and says so; the tick log makes room for what was recorded until then."""
    folder = small_disk("60m")

    def fill() -> None:
        while not (folder / "orders.arrows").exists() or (folder / "orders.arrows").stat().st_size < 4_000:
            time.sleep(0.05)
        with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4_096))

    threading.Thread(target=fill, daemon=True).start()
    run, error = play(tmp_path, "steady")
    assert "no space left on the disk" in str(error)
    assert "make room" in str(error)
    assert_kept(run)


def test_a_disk_that_is_too_small(tmp_path: Path, small_disk: Callable[[str], Path]) -> None:
    """The driver cannot even begin."""
    small_disk("20m")
    run, error = play(tmp_path, "steady")
    assert "the driver-0 ended" in str(error)
    assert "No space left on device" in str(error)
    assert pq.read_table(run.answers_file("orders")).num_rows == 0
    assert not run.log_folder.exists()
    assert processes_of(run) == []
