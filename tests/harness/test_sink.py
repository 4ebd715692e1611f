"""The sink takes every batch once, stamps it, and loses nothing."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.core.errors import BadInputError, PairsError
from pairs.harness.sink import AnswerFiles
from pairs.model.streams import ORDERS
from pairs.model.tuples import INDICATOR, MARKET_ORDER
from pairs.transport.answers import FolderSink, SocketSink, open_sink, packed, parted

EMPTY: dict[str, Any] = dict.fromkeys(
    (
        "strategy",
        "ratio",
        "avgRatio",
        "upperBand",
        "lowerBand",
        "type",
        "symbol",
        "price",
        "size",
        "inputTickTS",
        "inputTS",
    )
)
TYPES = {one.name: one.type for schema in (INDICATOR, MARKET_ORDER) for one in schema}
SCHEMA = pa.schema([(name, TYPES[name]) for name in EMPTY])


def answers(*tick_ts: int) -> pa.Table:
    """Make an indicator and an order for each time."""
    rows = []
    for one in tick_ts:
        key = {"strategy": "st_00001", "inputTickTS": one, "inputTS": one * 1000}
        rows.append(EMPTY | key | {"ratio": 1.0, "avgRatio": 2.0, "upperBand": 3.0, "lowerBand": 4.0})
        rows.append(EMPTY | key | {"type": "BUY", "symbol": "AAAAAA", "price": 5, "size": 10})
    return pa.Table.from_pylist(rows, SCHEMA)


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError


class RunningSink:
    """A sink as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        port_file = folder / "port"
        arguments = [str(folder), str(port_file), str(folder / "status")]
        command = [sys.executable, "-m", "pairs.harness.sink", *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while not port_file.exists():
            assert self.process.poll() is None
            time.sleep(0.01)
        self.port = int(port_file.read_text())

    def finish(self) -> dict[str, list[dict[str, Any]]]:
        """End it; return what it recorded."""
        self.process.terminate()
        _, self.errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0
        return {one: pq.read_table(self.folder / f"{one}.parquet").to_pylist() for one in ("indicators", "orders")}


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[RunningSink]:
    """Start a sink, and see to it that it ends."""
    running = RunningSink(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.communicate()


def test_batches_are_recorded_with_the_time_of_arrival(sink: RunningSink) -> None:
    """Both streams have their own columns and sinkTS, and what comes later has a later one."""
    engine = open_sink(f"127.0.0.1:{sink.port}")
    before = time.time_ns() // 1000
    engine.send(0, answers(5, 6))
    between = time.time_ns() // 1000
    engine.send(1, answers(7))
    found = sink.finish()
    assert [row["inputTickTS"] for row in found["indicators"]] == [5, 6, 7]
    assert [row["inputTickTS"] for row in found["orders"]] == [5, 6, 7]
    assert pq.read_schema(sink.folder / "orders.parquet").equals(ORDERS.recorded_schema)
    assert before <= found["orders"][0]["sinkTS"] <= between <= found["orders"][2]["sinkTS"]
    assert sorted(file.name for file in sink.folder.iterdir()) == [
        "indicators.parquet",
        "orders.parquet",
        "port",
        "status",
    ]


def test_a_batch_of_an_engine_that_is_killed_before_its_receipt_is_taken_once(sink: RunningSink) -> None:
    """A connection that is reset takes nothing with it: what was recorded is not recorded again."""
    with socket.create_connection(("127.0.0.1", sink.port)) as killed:
        for batch in (0, 1):
            killed.sendall(packed(batch, parted(answers(5 + batch))))
        orders = sink.folder / "orders.arrows"
        eventually(lambda: _batches(orders) == 2)
        # Closed with receipts that nobody has read, the connection is reset.
    again = SocketSink("127.0.0.1", sink.port)
    for batch in (0, 1, 2):
        again.send(batch, answers(5 + batch))
    assert [row["inputTickTS"] for row in sink.finish()["orders"]] == [5, 6, 7]
    assert "the engine broke off its connection" in sink.errors


def _batches(file: Path) -> int:
    """Count the batches in a stream that is still written."""
    found = 0
    with suppress(pa.ArrowException, OSError), pa.OSFile(str(file)) as source:
        for _ in pa.ipc.open_stream(source):
            found += 1
    return found


def test_a_batch_that_comes_again_is_dropped(sink: RunningSink) -> None:
    """An engine that was restarted sends its last batch again, on another connection; it gets its receipt."""
    SocketSink("127.0.0.1", sink.port).send(0, answers(5))
    again = SocketSink("127.0.0.1", sink.port)
    again.send(0, answers(5))
    again.send(1, answers(6))
    assert [row["inputTickTS"] for row in sink.finish()["orders"]] == [5, 6]


def test_what_was_recorded_is_readable_at_any_time(sink: RunningSink) -> None:
    """Should the sink be killed, the answers so far are there."""
    SocketSink("127.0.0.1", sink.port).send(0, answers(5))
    sink.process.kill()
    sink.process.communicate()
    with pa.OSFile(str(sink.folder / "orders.arrows")) as source:
        batch = next(iter(pa.ipc.open_stream(source)))
    assert batch["inputTickTS"].to_pylist() == [5]


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n" * 10, b"\0" * 100, b"PAIRS\x00\x00\x01" + b"\xff" * 100])
def test_garbage_closes_the_connection_only(sink: RunningSink, garbage: bytes) -> None:
    """The next engine is served, and the log says what happened."""
    with socket.create_connection(("127.0.0.1", sink.port)) as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    SocketSink("127.0.0.1", sink.port).send(0, answers(5))
    assert len(sink.finish()["orders"]) == 1
    assert "nonsense" in sink.errors


def test_a_sink_that_dies_is_noticed(sink: RunningSink) -> None:
    """The engine gets no receipt, and says so."""
    engine = SocketSink("127.0.0.1", sink.port)
    sink.process.kill()
    sink.process.communicate()
    with pytest.raises((PairsError, OSError)):
        engine.send(0, answers(5))


def test_no_sink_there() -> None:
    """The address is named."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(BadInputError, match=f"127.0.0.1:{port}: no sink there"):
        open_sink(f"127.0.0.1:{port}")


def test_a_folder_holds_each_batch_once(tmp_path: Path) -> None:
    """A batch that comes again replaces its files."""
    target = open_sink(str(tmp_path / "out"))
    assert isinstance(target, FolderSink)
    target.send(0, answers(5))
    target.send(0, answers(5))
    target.send(1, answers(6))
    found = pq.read_table(tmp_path / "out" / "orders")
    assert found["inputTickTS"].to_pylist() == [5, 6]


def test_answers_are_parted_by_type() -> None:
    """A row without a type is an indicator."""
    streams = parted(answers(1, 2, 3))
    assert streams["indicators"].schema == INDICATOR
    assert streams["orders"].schema == MARKET_ORDER
    assert [len(rows) for rows in streams.values()] == [3, 3]


def test_many_small_batches_take_linear_time(tmp_path: Path) -> None:
    """An engine that answers one by one: what is turned into Parquet at the end must not wait for hours."""
    files, rows = AnswerFiles(tmp_path), parted(answers(1))
    for batch in range(30_000):
        files.add(batch, rows, batch)
    began = time.monotonic()
    files.finish()
    assert time.monotonic() - began < 20  # two seconds
    assert pq.read_table(tmp_path / "orders.parquet")["sinkTS"].to_pylist() == list(range(30_000))
