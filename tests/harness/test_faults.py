"""Whatever dies, hangs or sends invalid data: the run ends with a reason, nothing goes on, what was recorded stays."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

from pairs.config.run_settings import FaultSpec
from pairs.core.errors import BadInputError, PairsError
from pairs.core.process_tree import end_tree, is_alive
from pairs.harness.faults import FaultInjector, KillWorker, find_faults
from pairs.harness.processes import Engine, EngineError, Processes
from pairs.harness.supervisor import Outcome, OverloadedError
from pairs.run_folder.folder import Run, new_run
from pairs.run_folder.records import SinkRecord
from tests.harness.engines import ScriptEngine, play_golden
from tests.processes import processes_of, wait_until

SPEED = 180.0  # the golden quarter of an hour in five seconds
ENGINE = """
import socket, sys, time
from pathlib import Path
import pyarrow as pa
from pairs.transport.clients import open_sink
from pairs.transport.ticklog_file import TickLogReader
from pairs.model.tuples import INDICATOR, MARKET_ORDER

behaviour, source, address = sys.argv[1:]
if behaviour == "garbage":
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET / HTTP/1.1" + bytes(10_000))
log, sink = TickLogReader(Path(source)), open_sink(address)
types = {field.name: field.type for schema in (INDICATOR, MARKET_ORDER) for field in schema}
position = batch = 0
while not (log.closed and position == log.produced):
    end = min(log.produced, position + 100) if behaviour == "slow" else log.produced
    if behaviour == "flood":
        sys.stderr.write("noise " * 20_000)
    if end > position:
        last = list(log.read(position, end))[-1][-1]
        rows = {name: pa.nulls(1, kind) for name, kind in types.items()}
        rows |= {name: pa.array(["BUY"]) for name in ("strategy", "type", "symbol")}
        rows |= {name: pa.array([int(last["tickTS"])]) for name in ("price", "size", "inputTickTS", "inputTS")}
        sink.send(batch, pa.table(rows))
        position, batch = end, batch + 1
        log.mark_consumed(position)
    if behaviour == "hang" and position > 2_000:
        time.sleep(1_000)
    if behaviour == "exit" and position > 2_000:
        sys.exit(0)
    if behaviour == "crash" and position > 2_000:
        sys.exit("engine: out of luck")
    time.sleep(0.05 if behaviour == "slow" else 0.005)
"""


def play(tmp_path: Path, behaviour: str, **settings: Any) -> tuple[Run, Outcome | PairsError]:
    """Run an engine that answers something to every batch of ticks, and behaves in some way."""
    try:
        return play_golden(tmp_path, ENGINE, behaviour, speed=SPEED, **settings)
    except PairsError as error:
        return Run((tmp_path / "run").resolve()), error


def wait_for_orders(run: Path) -> None:
    """Wait until some orders are recorded."""
    orders = run / "orders.arrows"
    wait_until(lambda: orders.exists() and orders.stat().st_size > 4_000)


def assert_kept(run: Run) -> None:
    """See that what was recorded is readable, that nothing else is left, and that nothing runs."""
    assert pq.read_table(run.answers_file("orders")).num_rows > 0
    assert pq.read_table(run.answers_file("indicators")).num_rows == 0
    assert pq.read_table(run.throughput_file)["produced"].to_pylist()[-1] > 0
    assert pq.read_table(run.resources_file).num_rows > 0
    assert not run.transport_folder.exists()
    assert list(run.path.glob("*.arrows")) == []
    assert processes_of(run.path) == {}


ENDS = {
    "hang": "the engine consumed no tick for 2s, though there were some",
    "exit": "the engine ended before it had read all ticks",
    "crash": "the engine ended with exit code 1: engine: out of luck",
}


@pytest.mark.process
@pytest.mark.parametrize("behaviour", ENDS)
def test_an_engine_that_does_not_go_on(tmp_path: Path, behaviour: str) -> None:
    """An engine that hangs, exits or crashes ends the run, with the reason."""
    run, error = play(tmp_path, behaviour, stall_timeout=2_000)
    assert ENDS[behaviour] in str(error)
    assert_kept(run)


@pytest.mark.process
def test_an_engine_that_cannot_keep_up(tmp_path: Path) -> None:
    """It is overloaded, and the run ends with its time series up to then."""
    run, error = play(tmp_path, "slow", max_behind=1_500)
    assert isinstance(error, OverloadedError)
    assert str(error).startswith("OVERLOADED: the engine is more than 1s500ms behind")
    assert_kept(run)


@pytest.mark.process
@pytest.mark.parametrize("behaviour", ["garbage", "flood"])
def test_an_engine_that_sends_garbage(tmp_path: Path, behaviour: str) -> None:
    """Garbage to the sink and floods of messages do no harm: every answer is recorded, none is made up."""
    run, outcome = play(tmp_path, behaviour)
    assert isinstance(outcome, Outcome), outcome
    assert set(outcome.exit_codes.values()) == {0}
    assert_kept(run)
    assert ("sent invalid data" in run.log_file("sink").read_text()) is (behaviour == "garbage")


@pytest.mark.process
@pytest.mark.parametrize("part", ["sink", "driver"])
def test_a_part_of_the_harness_that_is_killed(tmp_path: Path, part: str) -> None:
    """A dead sink or driver ends the run as failed; the answers recorded until then are kept."""

    def kill() -> None:
        wait_for_orders(tmp_path / "run")
        for pid, command in processes_of(tmp_path / "run").items():
            if f"pairs.harness.{part}" in command:
                os.kill(pid, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    run, error = play(tmp_path, "steady")
    assert f"the {part}" in str(error)
    assert "ended with exit code -9" in str(error)
    assert_kept(run)


@pytest.mark.process
def test_an_engine_that_is_killed_and_starts_again(tmp_path: Path) -> None:
    """Ticks go on meanwhile, the engine starts anew twice, and the run comes to its end."""
    faults = (FaultSpec.parse("kill@200s"), FaultSpec.parse("kill@500s"))
    run, outcome = play(tmp_path, "steady", faults=faults)
    assert isinstance(outcome, Outcome), outcome
    assert [fault.kind for fault in outcome.faults] == ["kill", "kill"]
    assert outcome.start_us is not None
    at_ms = [(fault.time_us - outcome.start_us) / 1000 * SPEED for fault in outcome.faults]
    assert at_ms[0] >= 200_000
    assert at_ms[1] >= 500_000
    assert_kept(run)
    assert SinkRecord.read(run.sink_file).repeated_batches > 0  # this engine numbers its batches from 0 again


class RecordingEngine:
    """Writes down what is done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def kill(self) -> None:
        """Note a kill."""
        self.done.append("killed")

    def kill_worker(self) -> None:
        """Note a kill of a worker."""
        self.done.append("worker killed")

    def start(self) -> None:
        """Note a start."""
        self.done.append("started")


def test_faults_strike_in_the_order_of_their_times() -> None:
    """Each once, when simulated time has reached it; how far the run was is noted while the engine is down."""
    engine, now = RecordingEngine(), [0.0]
    specs = [FaultSpec.parse("kill@20s"), FaultSpec.parse("kill@10s")]
    injector = FaultInjector(
        find_faults(specs),
        engine,  # type: ignore[arg-type]
        simulated_ms=lambda: now[0],
        on_strike=lambda: engine.done.append(f"noted at {now[0]:.0f}"),
    )
    for now[0] in (0, 9_999, 10_000, 15_000, 30_000, 40_000):
        injector.poll()
    assert engine.done == ["killed", "noted at 10000", "started", "killed", "noted at 30000", "started"]
    assert [event.kind for event in injector.events] == ["kill", "kill"]


def test_nothing_is_started_again_after_the_death_of_a_worker() -> None:
    """Nor does the engine get time to start: one that consumes nothing stalls from when it last consumed a tick."""
    engine = RecordingEngine()
    injector = FaultInjector(
        find_faults([FaultSpec.parse("kill-worker@10s")]),
        engine,  # type: ignore[arg-type]
        simulated_ms=lambda: 10_000.0,
        on_strike=lambda: engine.done.append("noted"),
        on_restart=lambda: engine.done.append("restarted"),
    )
    injector.poll()
    assert engine.done == ["worker killed", "noted"]
    assert [event.kind for event in injector.events] == ["kill-worker"]


EXECUTOR = "import time; time.sleep(99)"
WORKER = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {EXECUTOR!r}]).wait()"


@contextmanager
def engine_with_workers(folder: Path, *programs: str) -> Iterator[tuple[Engine, list[psutil.Process]]]:
    """Run an engine, and workers that are not below it."""
    with ExitStack() as stack:
        started = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
        for process in started:
            stack.enter_context(process)
            stack.callback(end_tree, process.pid)
        processes = Processes(new_run(folder / "run", overwrite=False))
        stack.callback(processes.end_all)
        pids = [process.pid for process in started]
        engine = Engine(processes, [sys.executable, "-c", EXECUTOR], folder, lambda: pids)
        yield engine, [psutil.Process(pid) for pid in pids]


@pytest.mark.process
def test_the_worker_that_is_killed_has_executors(tmp_path: Path) -> None:
    """It dies with them; the engine and a worker that does nothing live on."""
    with engine_with_workers(tmp_path, EXECUTOR, WORKER) as (engine, (idle, busy)):
        wait_until(lambda: bool(busy.children()))
        executor = busy.children()[0]
        engine.kill_worker()
        assert [is_alive(process) for process in (idle, busy, executor)] == [True, False, False]
        assert engine.process.running


@pytest.mark.process
def test_workers_without_executors_are_not_killed(tmp_path: Path) -> None:
    """The run fails rather than to claim that it survived."""
    with engine_with_workers(tmp_path, EXECUTOR) as (engine, (idle,)):
        with pytest.raises(EngineError, match="no worker of the cluster has an executor on this machine"):
            engine.kill_worker()
        assert is_alive(idle)


def test_a_target_without_workers_refuses_to_lose_one(tmp_path: Path) -> None:
    """A fault that cannot strike is refused before the run begins."""
    with pytest.raises(BadInputError, match="--fault: script has no worker on this machine; leave the fault out"):
        KillWorker.check(ScriptEngine(tmp_path), {}, "--fault")


def test_unknown_faults_are_refused() -> None:
    """With a list of those that there are."""
    with pytest.raises(
        BadInputError, match="--fault: 'flood@3s' is not a fault; give one of kill, kill-worker, then @TIME"
    ):
        find_faults([FaultSpec.parse("kill@1s"), FaultSpec.parse("flood@3s")])


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


@pytest.mark.process
def test_a_disk_that_fills_up(tmp_path: Path, small_disk: Callable[[str], Path]) -> None:
    """The run ends and says so; the tick log makes room for what was recorded until then."""
    folder = small_disk("60m")

    def fill() -> None:
        wait_for_orders(folder)
        with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4_096))

    threading.Thread(target=fill, daemon=True).start()
    run, error = play(tmp_path, "steady")
    assert "no space left on the disk" in str(error)
    assert "make room" in str(error)
    assert_kept(run)


@pytest.mark.process
def test_a_disk_that_is_too_small(tmp_path: Path, small_disk: Callable[[str], Path]) -> None:
    """The driver cannot even begin."""
    small_disk("20m")
    run, error = play(tmp_path, "steady")
    assert "the driver-0 ended" in str(error)
    assert "No space left on device" in str(error)
    assert pq.read_table(run.answers_file("orders")).num_rows == 0
    assert not run.transport_folder.exists()
    assert processes_of(run.path) == {}
