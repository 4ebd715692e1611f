"""How `pairs collect` and `pairs play` end: whoever stops first, nothing is left behind, and answers are kept."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.end_to_end.terminals import Terminals
from tests.markets import GOLDEN_TICKS, golden_market
from tests.processes import processes_of, wait_until

pytestmark = pytest.mark.process

PROGRAM = """
import mmap, os, socket, sys, time
log, last_line, seconds = sys.argv[1:]
connection = socket.create_connection(("127.0.0.1", int(open(log + "/../port").read())))
connection.sendall(b"orders\\tst_00001\\tBUY\\tAAAAAA\\t5\\t10\\t7\\t7000\\n")
control = memoryview(mmap.mmap(os.open(log + "/control", os.O_RDWR), 0)).cast("q")
closed = False
while not closed:
    closed = all(control[20 : 20 + control[2]])
    control[3] = min(control[4 : 4 + control[2]])
    time.sleep(0.01)
connection.sendall(last_line.encode())
time.sleep(float(seconds))
"""
COLLECT = "exec pairs collect market -o run"
PLAY = "exec pairs play market -o run"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Terminals]:
    """Make a market and a program that sends an order, reads all ticks, sends a last line, and stays connected."""
    golden_market(tmp_path / "market")
    (tmp_path / "program.py").write_text(PROGRAM)
    terminals = Terminals(tmp_path)
    yield terminals
    terminals.close()


def program(last_line: str = "", seconds: float = 0) -> str:
    """Return the command of the program."""
    return f"exec python program.py run/transport/log '{last_line}' {seconds}"


def manifest(shell: Terminals) -> dict[str, Any]:
    """Read run.json."""
    found: dict[str, Any] = json.loads((shell.folder / "run" / "run.json").read_text())
    return found


def assert_left(shell: Terminals, orders: int) -> None:
    """See that the answers are there, that the transport is gone, and that nothing runs."""
    run = shell.folder / "run"
    assert pq.read_table(run / "orders.parquet").num_rows == orders
    assert not (run / "transport").exists()
    assert list(run.glob("*.arrows")) == []
    wait_until(lambda: processes_of(run) == {})


def test_unpaced(shell: Terminals) -> None:
    """Ticks go as fast as they can by two drivers; the program may start last; invalid lines are said at once."""
    collecting = shell.open(f"{COLLECT} --drivers 2")
    collecting.wait_for("answers  127.0.0.1:")
    playing = shell.open(f"{PLAY} --speed max")
    playing.wait_for("waiting for a program to connect to 127.0.0.1:")
    shell.open(program("orders\tnonsense\n"))
    code, output = playing.finish()
    assert (code, "all ticks were sent, unpaced" in output) == (0, True), output
    code, output = collecting.finish()
    assert code == 0, output
    assert "the sink closed 1 connection that sent invalid data; see" in output
    found = manifest(shell)
    assert (found["state"], found["settings"]["speed"]) == ("ended", "max")
    assert found["exit_codes"] == {"driver-0": 0, "driver-1": 0, "sink": 0}
    sink = json.loads((shell.folder / "run" / "sink.json").read_text())
    assert [row["line"] for row in sink["invalid_rows"]["orders"]] == [2]
    assert pq.read_table(shell.folder / "run" / "throughput.parquet")["consumed"].to_pylist()[-1] == GOLDEN_TICKS
    assert_left(shell, orders=1)


def test_a_program_that_stays_connected(shell: Terminals) -> None:
    """After the last tick a signal ends the collection, and the run has come to its end."""
    collecting = shell.open(COLLECT)
    collecting.wait_for("answers  127.0.0.1:")
    staying = shell.open(program(seconds=100))
    shell.run(f"{PLAY} --speed max")
    collecting.process.send_signal(signal.SIGTERM)
    code, output = collecting.finish()
    assert (code, manifest(shell)["state"]) == (0, "ended"), output
    staying.kill()
    assert_left(shell, orders=1)


def test_a_collection_that_ends_early(shell: Terminals) -> None:
    """The run has failed, what was recorded is kept, and the drivers end with it."""
    collecting = shell.open(COLLECT)
    collecting.wait_for("answers  127.0.0.1:")
    shell.open(program())
    playing = shell.open(f"{PLAY} --speed 10")
    playing.wait_for("phase start")
    collecting.process.send_signal(signal.SIGINT)
    code, output = collecting.finish()
    assert (code, manifest(shell)["state"]) == (130, "failed"), output
    code, output = playing.finish()
    assert (code, output.count("'pairs collect' has ended")) == (1, 1), output
    assert_left(shell, orders=1)


def test_drivers_that_end_early(shell: Terminals) -> None:
    """The collection ends with them, and says that not all ticks were sent."""
    collecting = shell.open(COLLECT)
    collecting.wait_for("answers  127.0.0.1:")
    shell.open(program())
    playing = shell.open(f"{PLAY} --speed 10")
    playing.wait_for("phase start")
    playing.process.send_signal(signal.SIGTERM)
    assert playing.finish()[0] == 130
    code, output = collecting.finish()
    assert (code, "'pairs play' did not send all ticks" in output) == (1, True), output
    assert manifest(shell)["state"] == "failed"
    assert_left(shell, orders=1)


def test_drivers_alone(shell: Terminals) -> None:
    """Without a collection ticks are kept until they are marked as consumed; nothing is recorded of answers."""
    playing = shell.open(f"{PLAY} --speed max")
    playing.wait_for("ticks    ")
    control = shell.folder / "run" / "transport" / "log" / "control"
    shell.run(f'python -c "{CONSUME.format(control=control)}"')
    code, output = playing.finish()
    assert (code, "all ticks were sent, unpaced" in output) == (0, True), output
    assert manifest(shell)["state"] == "ended"
    left = {"logs", "machine.parquet", "run.json", "strategies.xml", "throughput.parquet"}
    assert {file.name for file in (shell.folder / "run").iterdir()} == left


CONSUME = """
import mmap, os, time
control = memoryview(mmap.mmap(os.open('{control}', os.O_RDWR), 0)).cast('q')
while not control[20]:
    time.sleep(0.01)
control[3] = control[4]
"""
