"""Answers as lines of text are recorded as they were sent, however they arrive; no invalid line is lost silently."""

import io
import socket
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.harness.sink import Sink
from pairs.model.streams import INDICATORS, ORDERS, STREAMS
from pairs.run_folder.folder import Run
from pairs.run_folder.records import InvalidRow, SinkRecord
from pairs.transport.answer_lines import InvalidLineError, receive_lines
from pairs.transport.ticklog import TickLogTransport
from tests.processes import wait_until
from tests.transport.answers import receiving

ORDER = b"orders\tst_00001\tBUY\tAAAAAA\t5\t10\t7\t7000\n"
INDICATOR = b"indicators\tst_00001\t1.0\t2.0\t3.5\t0.5\t7\t7000\n"

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), max_size=8)
WHOLES = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False)
ANSWERS = st.one_of(
    st.tuples(st.just("indicators"), NAMES, DOUBLES, DOUBLES, DOUBLES, DOUBLES, WHOLES, WHOLES),
    st.tuples(st.just("orders"), NAMES, NAMES, NAMES, WHOLES, WHOLES, WHOLES, WHOLES),
)


class Chunks(io.RawIOBase):
    """A connection that gives what it was sent in pieces."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = [chunk for chunk in chunks if chunk]

    def readable(self) -> bool:
        """Say that it is for reading."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Give a piece, or as much of it as there is room for."""
        if not self._chunks:
            return 0
        count = min(len(buffer), len(self._chunks[0]))
        buffer[:count], self._chunks[0] = self._chunks[0][:count], self._chunks[0][count:]
        self._chunks = [chunk for chunk in self._chunks if chunk]
        return count


def receive(found: list[dict[str, pa.Table]], *chunks: bytes) -> None:
    """Receive the answers of a connection, those that arrived together as one."""
    source: io.BufferedReader = io.BufferedReader(Chunks(*chunks))
    found.extend(streams for streams, _ in receive_lines(source))


def received(*chunks: bytes) -> list[dict[str, pa.Table]]:
    """Return the answers of a connection without an invalid line."""
    found: list[dict[str, pa.Table]] = []
    receive(found, *chunks)
    return found


@given(st.lists(ANSWERS, max_size=20), st.lists(st.integers(0, 2_000), max_size=6))
def test_lines_read_back_the_same_however_they_are_cut(answers: list[tuple[object, ...]], cuts: list[int]) -> None:
    """Doubles to the last bit, names of any letters, whatever the pieces that the network makes of them."""
    sent = "".join("\t".join(map(str, answer)) + "\n" for answer in answers).encode()
    places = [0, *sorted(cuts), len(sent)]
    found = received(*(sent[begin:end] for begin, end in pairwise(places)))
    for name, stream in STREAMS.items():
        tables = [stream.schema.empty_table(), *(streams[name] for streams in found if name in streams)]
        rows = pa.concat_tables(tables).to_pylist()
        assert [tuple(row.values()) for row in rows] == [answer[1:] for answer in answers if answer[0] == name]


INVALID = [
    (b"\n", None, "'' is not a stream; give one of indicators, orders, then a tab"),
    (b"order\tx\n", None, "'order' is not a stream"),
    (b"GET / HTTP/1.1\r\n", None, "is not a stream"),
    (b"orders\t\xff\xfe\n", None, "is not UTF-8"),
    (b"orders\tx\tBUY\n", "orders", "has 2 values after the stream, not 7 for strategy, type, symbol, price"),
    (ORDER.replace(b"\t10\t", b"\tten\t"), "orders", "size is 'ten', not a whole number"),
    (ORDER.replace(b"\t10\t", b"\t10.5\t"), "orders", "size is '10.5', not a whole number"),
    (ORDER.replace(b"\t10\t", b"\t" + b"9" * 30 + b"\t"), "orders", "not a whole number"),
    (ORDER.replace(b"\n", b"\r\n"), "orders", "inputTS is '7000\\r', not a whole number"),
    (INDICATOR.replace(b"3.5", b""), "indicators", "upperBand is '', not a number"),
    (ORDER[:-1], None, "is cut off, as it does not end with a newline"),
    (b"orders\t" + b"x" * 5_000 + b"\n", None, "has more than 4,096 bytes"),
]


@pytest.mark.parametrize(("line", "stream", "problem"), INVALID)
@pytest.mark.parametrize("together", [True, False])
def test_an_invalid_line_ends_a_connection(line: bytes, stream: str | None, problem: str, together: bool) -> None:
    """It is named by its number and its problem; what came before it is there, and nothing after it."""
    valid = [INDICATOR, ORDER, ORDER]
    chunks = [b"".join([*valid, line])] if together else [*valid, line]
    found: list[dict[str, pa.Table]] = []
    with pytest.raises(InvalidLineError) as error:
        receive(found, *chunks)
    assert (error.value.stream, error.value.line) == (stream, 4)
    assert problem in error.value.problem
    assert sum(len(streams["orders"]) for streams in found if "orders" in streams) == 2
    assert len(found) == (1 if together else 3)


def test_what_arrives_together_is_one_batch() -> None:
    """Many lines cost little: they are parsed at once."""
    assert [len(streams["orders"]) for streams in received(ORDER * 500, ORDER)] == [500, 1]


def connect(address: str) -> socket.socket:
    """Connect to a sink as any program does."""
    host, port = address.split(":")
    return socket.create_connection((host, int(port)))


def test_lines_and_batches_are_recorded_side_by_side(tmp_path: Path) -> None:
    """Every connection of lines is a writer of its own; a line that is sent twice is there twice."""
    run = Run(tmp_path)
    sink = Sink(run)
    with receiving(run.transport_folder, sink.handle) as address:
        for _ in range(2):
            with connect(address) as connection:
                connection.sendall(ORDER + INDICATOR + ORDER)
                connection.shutdown(socket.SHUT_WR)
                assert connection.recv(1) == b""  # all of it was read
    sink.finalize()
    orders, indicators = (pq.read_table(run.answers_file(stream)) for stream in ("orders", "indicators"))
    assert (orders.schema, indicators.schema) == (ORDERS.recorded_schema, INDICATORS.recorded_schema)
    assert (len(orders), len(indicators)) == (4, 2)
    assert indicators["upperBand"].to_pylist() == [3.5, 3.5]
    record = SinkRecord.read(run.sink_file)
    assert (record.writers, record.repeated_batches, record.refused_connections) == (2, 0, 0)


def test_an_invalid_line_is_counted_and_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The log and sink.json say which line of which connection and why; other connections are served."""
    run = Run(tmp_path)
    sink = Sink(run)
    with receiving(run.transport_folder, sink.handle, sink.refuse) as address:
        for content in (ORDER, ORDER + b"orders\tx\n" + ORDER, b"nonsense\n", b"\0" * 100_000, ORDER):
            with connect(address) as connection, suppress(ConnectionError):
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
                assert connection.recv(1) == b""
    sink.finalize()
    assert len(pq.read_table(run.answers_file("orders"))) == 3
    record = SinkRecord.read(run.sink_file)
    problem = "has 1 values after the stream, not 7 for strategy, type, symbol, price, size, inputTickTS, inputTS"
    assert record.refused_connections == 3
    assert record.invalid_rows == {"orders": (InvalidRow(file="connection 2", line=2, problem=problem),)}
    assert run.invalid_answers() == record.invalid_rows
    assert f"closed a connection that sent invalid data: line 2: {problem}" in capfd.readouterr().err


def test_an_endless_line_is_refused(tmp_path: Path) -> None:
    """The sink keeps no more of it than a few kilobytes, and closes the connection."""
    refused: list[object] = []
    with receiving(tmp_path / "transport", lambda _: None, refused.append) as address:
        with connect(address) as connection, pytest.raises(ConnectionError):
            connection.sendall(b"x" * 100_000_000)
        wait_until(lambda: len(refused) == 1)


def test_a_transport_tells_when_the_engine_has_left(tmp_path: Path) -> None:
    """There was a connection, and none is open any more; one that opens again is an engine again."""
    transport = TickLogTransport(tmp_path / "transport")
    with receiving(tmp_path / "transport", lambda _: None) as address:
        assert (transport.ready, transport.left) == (False, False)
        with connect(address), connect(address) as second:
            wait_until(lambda: transport.ready)
            second.close()
            assert not transport.left
        wait_until(lambda: transport.left)
        with connect(address):
            wait_until(lambda: not transport.left)
        wait_until(lambda: transport.left)
