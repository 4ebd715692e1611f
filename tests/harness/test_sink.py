"""The sink, a process of its own, records every batch once, stamps it, and loses nothing."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.core.errors import PairsError
from pairs.harness.sink import AnswerFiles, finalize_answers
from pairs.model.streams import ORDERS, STREAMS
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from pairs.transport.answers import AnswerSink, encode_batch, split_streams
from pairs.transport.base import Arrival
from pairs.transport.clients import open_sink
from pairs.transport.ticklog import TickLogTransport
from tests.processes import wait_until
from tests.transport.answers import answers


class RunningSink:
    """A sink as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.run = Run(folder)
        self.transport = TickLogTransport(self.run.transport_folder)
        self.transport.create()
        command = [sys.executable, "-m", "pairs.harness.sink", str(folder)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: self.transport.sink is not None)
        self.errors = ""

    @property
    def address(self) -> str:
        """Where it listens."""
        return str(self.transport.sink)

    def engine(self) -> AnswerSink:
        """Connect as an engine does."""
        return open_sink(self.address)

    def finish(self) -> dict[str, list[dict[str, Any]]]:
        """End it; return what it recorded."""
        self.process.terminate()
        _, self.errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0
        return {stream: pq.read_table(self.run.answers_file(stream)).to_pylist() for stream in STREAMS}


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[RunningSink]:
    """Start a sink, and see to it that it ends."""
    running = RunningSink(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.communicate()


@pytest.mark.process
def test_batches_are_recorded_with_the_time_of_arrival(sink: RunningSink) -> None:
    """Both streams have their own columns and sinkTS, and what comes later has a later time."""
    assert not sink.transport.ready
    engine = sink.engine()
    wait_until(lambda: sink.transport.ready)
    before = time.time_ns() // 1000
    engine.send(0, answers(5, 6))
    between = time.time_ns() // 1000
    engine.send(1, answers(7))
    found = sink.finish()
    assert [row["inputTickTS"] for row in found["indicators"]] == [5, 6, 7]
    assert [row["inputTickTS"] for row in found["orders"]] == [5, 6, 7]
    assert pq.read_schema(sink.run.answers_file("orders")).equals(ORDERS.recorded_schema)
    assert before <= found["orders"][0]["sinkTS"] <= between <= found["orders"][2]["sinkTS"]
    assert sorted(file.name for file in sink.run.path.iterdir()) == [
        "indicators.parquet",
        "orders.parquet",
        "sink.json",
        "transport",
    ]


@pytest.mark.process
def test_a_batch_of_an_engine_that_is_killed_before_its_receipt_is_recorded_once(sink: RunningSink) -> None:
    """A connection that is reset takes nothing with it: what was recorded is not recorded again."""
    host, port = sink.address.split(":")
    with socket.create_connection((host, int(port))) as killed:
        for batch in (0, 1):
            killed.sendall(encode_batch(0, batch, split_streams(answers(5 + batch))))
        wait_until(lambda: _batches(sink.run.path / "orders.arrows") == 2)
        # Closed with receipts that nobody has read, the connection is reset.
    restarted = sink.engine()
    for batch in (0, 1, 2):
        restarted.send(batch, answers(5 + batch))
    assert [row["inputTickTS"] for row in sink.finish()["orders"]] == [5, 6, 7]
    assert "the engine broke off its connection" in sink.errors
    record = SinkRecord.read(sink.run.sink_file)
    assert (record.writers, record.batches, record.repeated_batches) == (1, 3, 2)
    assert record.repeated_rows == {"indicators": 2, "orders": 2}


def _batches(file: Path) -> int:
    """Count the batches in a stream that is still written."""
    found = 0
    with suppress(pa.ArrowException, OSError), pa.OSFile(str(file)) as source:
        for _ in pa.ipc.open_stream(source):
            found += 1
    return found


@pytest.mark.process
def test_what_was_recorded_is_readable_at_any_time(sink: RunningSink) -> None:
    """Should the sink be killed, the answers so far and their counts are there."""
    sink.engine().send(0, answers(5))
    sink.process.kill()
    sink.process.communicate()
    with pa.OSFile(str(sink.run.path / "orders.arrows")) as source:
        batch = next(iter(pa.ipc.open_stream(source)))
    assert batch["inputTickTS"].to_pylist() == [5]
    assert SinkRecord.read(sink.run.sink_file).rows == {"indicators": 1, "orders": 1}


@pytest.mark.process
def test_a_sink_that_dies_is_noticed(sink: RunningSink) -> None:
    """The engine gets no receipt, and says so."""
    engine = sink.engine()
    sink.process.kill()
    sink.process.communicate()
    with pytest.raises((PairsError, OSError)):
        engine.send(0, answers(5))


@pytest.mark.timeout(60)
def test_many_small_batches_become_parquet(tmp_path: Path) -> None:
    """An engine that answers one by one: the end takes seconds, not hours."""
    files, streams = AnswerFiles(Run(tmp_path)), split_streams(answers(1))
    for batch in range(30_000):
        files.add(Arrival(0, batch, streams, batch))
    files.finalize()
    assert pq.read_table(tmp_path / "orders.parquet")["sinkTS"].to_pylist() == list(range(30_000))


def test_what_was_recorded_before_a_damaged_batch_is_kept(tmp_path: Path) -> None:
    """A disk that lost a page costs the rest, not everything; other columns are no answers at all."""
    run, rows = Run(tmp_path), split_streams(answers(1, 2, 3))["orders"]
    stamped = rows.append_column("sinkTS", pa.array([9] * len(rows))).cast(ORDERS.recorded_schema)
    with pa.OSFile(str(tmp_path / "orders.arrows"), "wb") as file, pa.ipc.new_stream(file, stamped.schema) as target:
        target.write_table(stamped, max_chunksize=1)
    raw = (tmp_path / "orders.arrows").read_bytes()
    last = raw.rindex(b"AAAAAA")
    (tmp_path / "orders.arrows").write_bytes(raw[:last] + b"\xff\xff" + raw[last + 2 :])  # a symbol that is not UTF-8
    with pa.OSFile(str(tmp_path / "indicators.arrows"), "wb") as file, pa.ipc.new_stream(file, rows.schema) as target:
        target.write_table(rows)
    finalize_answers(run)
    assert pq.read_table(run.answers_file("orders"))["inputTickTS"].to_pylist() == [1, 2]
    assert len(pq.read_table(run.answers_file("indicators"))) == 0
