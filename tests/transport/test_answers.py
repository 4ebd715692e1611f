"""Answers reach the sink whole and once, from any number of writers, whatever else is sent to it."""

import random
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairs.core.errors import BadInputError, PairsError
from pairs.harness.sink import Sink
from pairs.model.streams import STREAMS
from pairs.model.tuples import INDICATOR, MARKET_ORDER
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from pairs.transport.answers import HEADER, MAGIC, FolderSink, SocketSink, encode_batch, split_streams
from pairs.transport.base import Arrival
from pairs.transport.clients import open_sink
from tests.transport.answers import answers, receiving

BATCHES = st.lists(st.integers(0, 3), min_size=1, max_size=6)  # how many answers each batch of a writer has


def send_with_repetitions(address: str, writer: int, sizes: list[int], dice: random.Random) -> list[int]:
    """Send all batches of a writer, going back at times as a restarted engine does; return those sent again."""
    sink, batch, again, done = open_sink(address, writer), 0, [], -1
    while batch < len(sizes):
        sink.send(batch, answers(*range(100 * batch, 100 * batch + sizes[batch]), strategy=f"writer {writer}"))
        if batch <= done:
            again.append(batch)
        done = max(done, batch)
        batch += 1
        if dice.random() < 0.3:
            batch = dice.randrange(batch + 1)
            sink = open_sink(address, writer)
    return again


@settings(max_examples=25)
@given(st.lists(BATCHES, min_size=1, max_size=4), st.integers(0, 2**32))
def test_every_answer_of_every_writer_is_recorded_once(
    tmp_path_factory: pytest.TempPathFactory, writers: list[list[int]], seed: int
) -> None:
    """Writers send at the same time and repeat batches at random; counts of what was dropped are exact."""
    run = Run(tmp_path_factory.mktemp("run"))
    sink, again = Sink(run), [list[int]() for _ in writers]

    def send(writer: int) -> None:
        again[writer] = send_with_repetitions(address, writer, writers[writer], random.Random(seed + writer))  # noqa: S311

    with receiving(run.transport_folder, sink.handle) as address:
        threads = [threading.Thread(target=send, args=(writer,)) for writer in range(len(writers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    sink.finalize()
    expected = [
        (f"writer {writer}", 100 * batch + place)
        for writer, sizes in enumerate(writers)
        for batch, size in enumerate(sizes)
        for place in range(size)
    ]
    for stream in STREAMS:
        found = pq.read_table(run.answers_file(stream), columns=["strategy", "inputTickTS"]).to_pylist()
        assert sorted((row["strategy"], row["inputTickTS"]) for row in found) == expected, seed
    record = SinkRecord.read(run.sink_file)
    rows = sum(writers[writer][batch] for writer, batches in enumerate(again) for batch in batches)
    assert (record.writers, record.batches) == (len(writers), sum(map(len, writers))), seed
    assert record.rows == dict.fromkeys(STREAMS, len(expected))
    assert record.repeated_batches == sum(map(len, again)), seed
    assert record.repeated_rows == dict.fromkeys(STREAMS, rows), seed


HEADER_WITH_LIST = b"PAIRS\x00\x00\x02" + bytes(12) + b"\x02\x00\x00\x00[]"
NESTED = b"[" * 60_000
OFFSETS = encode_batch(0, 0, {"orders": split_streams(answers(1))["orders"]}).replace(
    b"\x00\x00\x00\x00\x08\x00\x00\x00", b"\x00\x00\x00\x00\xff\xff\xff\x7f"
)  # a name that ends two gigabytes after its beginning
GARBAGE = [
    HEADER.pack(MAGIC, 0, 0, len(NESTED)) + NESTED,
    OFFSETS,
    encode_batch(0, 0, {"orders": pa.table([pa.nulls(2**27)] * len(MARKET_ORDER), MARKET_ORDER.names)}),  # a gigabyte
    b"GET / HTTP/1.1\r\n\r\n" * 10,
    b"\0" * 100,
    b"PAIRS\x00\x00\x01" + bytes(100),  # an earlier version
    b"PAIRS\x00\x00\x02" + b"\xff" * 100,
    HEADER_WITH_LIST,
    encode_batch(0, 0, {"indicators": split_streams(answers(1))["orders"]}),  # the columns of another stream
    encode_batch(0, 0, split_streams(answers(1)))[:-5],
]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_invalid_data_closes_the_connection_only(
    tmp_path: Path, garbage: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it is handled, other writers are served, and the log says what happened."""
    arrivals: list[Arrival] = []
    with receiving(tmp_path / "transport", arrivals.append) as address:
        host, port = address.split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        open_sink(address).send(0, answers(5))
    assert [arrival.streams["orders"]["inputTickTS"].to_pylist() for arrival in arrivals] == [[5]]
    assert "closed a connection that sent invalid data" in capfd.readouterr().err


def test_what_has_arrived_is_handled_before_receiving_ends(tmp_path: Path) -> None:
    """Batches that wait behind a slow batch are not lost when the sink is told to end."""
    arrivals: list[Arrival] = []
    first, go_on = threading.Event(), threading.Event()

    def handle(arrival: Arrival) -> None:
        first.set()
        assert go_on.wait(60)
        arrivals.append(arrival)

    with receiving(tmp_path / "transport", handle) as address:
        host, port = address.split(":")
        connection = socket.create_connection((host, int(port)))
        for batch in range(3):
            connection.sendall(encode_batch(0, batch, split_streams(answers(batch))))
        assert first.wait(60)
        threading.Timer(0.2, go_on.set).start()  # after the end was asked for
    connection.close()
    assert [arrival.batch for arrival in arrivals] == [0, 1, 2]


def test_an_error_of_the_sink_ends_receiving(tmp_path: Path) -> None:
    """If nothing can be recorded any more, the engine gets no receipt, and the receiver raises the reason."""
    failed: list[BaseException] = []

    def handle(_: Arrival) -> None:
        raise PairsError("the disk is full")

    threading.excepthook, hook = lambda caught: failed.append(caught.exc_value or KeyError()), threading.excepthook
    try:
        with receiving(tmp_path / "transport", handle) as address, pytest.raises((PairsError, OSError)):
            open_sink(address).send(0, answers(5))
    finally:
        threading.excepthook = hook
    assert [str(error) for error in failed] == ["the disk is full"]


def test_no_sink_there() -> None:
    """The address is named."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(BadInputError, match=f"127.0.0.1:{port}: no sink there"):
        SocketSink("127.0.0.1", port)


def test_a_folder_holds_each_batch_once(tmp_path: Path) -> None:
    """A batch that comes again replaces its files; writers do not replace each other's."""
    for writer, batch in [(0, 0), (0, 0), (0, 1), (1, 0)]:
        target = open_sink(str(tmp_path / "out"), writer)
        assert isinstance(target, FolderSink)
        target.send(batch, answers(10 * writer + batch))
    found = pq.read_table(tmp_path / "out" / "orders")
    assert sorted(found["inputTickTS"].to_pylist()) == [0, 1, 10]


def test_answers_are_split_by_type() -> None:
    """A row without a type is an indicator."""
    streams = split_streams(answers(1, 2, 3))
    assert streams["indicators"].schema == INDICATOR
    assert streams["orders"].schema == MARKET_ORDER
    assert [len(rows) for rows in streams.values()] == [3, 3]
