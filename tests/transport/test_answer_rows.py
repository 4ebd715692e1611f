"""Answers as rows: what a connection says, and what is recognised as a repetition."""

import io
import socket
import struct
import threading
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.core.errors import PairsError
from pairs.harness.sink import Sink
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from pairs.transport.answer_rows import HEADER, MAGIC, ROW, Numbering, RowConnection, are_rows
from pairs.transport.base import Arrival
from pairs.transport.ticklog import TickLogTransport
from tests.processes import wait_until
from tests.transport.answers import receiving

NAMES = ["st_1", "AAA", "st_2", "Ünï,\n"]


def names_as_bytes(names: list[str]) -> bytes:
    """Write what a connection begins with."""
    encoded = b"".join(struct.pack("<H", len(name.encode())) + name.encode() for name in names)
    return HEADER.pack(MAGIC, len(names), len(encoded)) + encoded


def connected(names: list[str] = NAMES, rest: bytes = b"", numbering: Numbering | None = None) -> RowConnection:
    """Open a connection that says these names, and then the rest."""
    content = names_as_bytes(names) + rest
    return RowConnection(io.BufferedReader(cast(Any, io.BytesIO(content))), numbering or Numbering())


def indicator(strategy: int, number: int, ratio: float = 1.5) -> bytes:
    """Write an indicator as the format says."""
    return struct.pack("<iiqqqdddd", 0, strategy, number, 7_000, 8_000, ratio, 2.5, 3.5, 0.5)


def order(strategy: int, number: int, kind: int = 1, symbol: int = 1) -> bytes:
    """Write an order as the format says."""
    return struct.pack("<iiqqqqqqq", kind, strategy, number, 7_000, 8_000, symbol, 4_321, 10**12, 0)


def test_rows_become_answers() -> None:
    """Every value comes out as it went in, names of any letters included."""
    streams, repeated = connected().read(indicator(0, 0) + order(2, 0) + order(3, 0, kind=2))
    assert streams["indicators"].to_pylist() == [
        {
            "strategy": "st_1",
            "ratio": 1.5,
            "avgRatio": 2.5,
            "upperBand": 3.5,
            "lowerBand": 0.5,
            "inputTickTS": 7_000,
            "inputTS": 8_000,
        }
    ]
    assert [(row["strategy"], row["type"], row["symbol"]) for row in streams["orders"].to_pylist()] == [
        ("st_2", "BUY", "AAA"),
        ("Ünï,\n", "SELL", "AAA"),
    ]
    assert {(row["price"], row["size"]) for row in streams["orders"].to_pylist()} == {(4_321, 10**12)}
    assert repeated == {"indicators": 0, "orders": 0}


def test_repetitions_are_dropped_and_counted() -> None:
    """What came by a connection that broke off is recognised when it comes again, by another, with other places."""
    numbering = Numbering()
    connected(numbering=numbering).read(indicator(0, 0) + order(0, 1) + indicator(2, 0))
    again = connected(["AAA", "st_2", "st_1"], numbering=numbering)
    streams, repeated = again.read(
        indicator(2, 0) + order(2, 1, symbol=0) + indicator(2, 2) + indicator(1, 0) + order(1, 1, symbol=0)
    )
    assert [row["strategy"] for row in streams["indicators"].to_pylist()] == ["st_1"]
    assert [row["strategy"] for row in streams["orders"].to_pylist()] == ["st_2"]
    assert repeated == {"indicators": 2, "orders": 1}


def test_rows_without_numbers_are_never_repetitions() -> None:
    """A program that does not number its answers sends a number below 0."""
    rows = connected()
    for _ in range(2):
        streams, repeated = rows.read(indicator(0, -1) + indicator(0, -1))
        assert (len(streams["indicators"]), repeated["indicators"]) == (2, 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=30), st.integers(1, 8))
def test_numbering_as_said(rows: list[tuple[int, int]], together: int) -> None:
    """However rows are cut into chunks, one is new if its number is above all that came before of its strategy."""
    numbering = Numbering()
    places = numbering.places(["a", "b", "c", "d", "e"])
    last, expected, found = dict.fromkeys(range(5), -1), [], []
    for strategy, number in rows:
        expected.append(number > last[strategy])
        last[strategy] = max(last[strategy], number)
    for first in range(0, len(rows), together):
        chunk = np.array(rows[first : first + together], np.int64)
        found += numbering.are_new(places[chunk[:, 0]], chunk[:, 1]).tolist()
    assert found == expected


def test_chunks_hold_whole_rows() -> None:
    """Rows arrive in any pieces; a chunk has whole rows only, and one that is cut off tells of a broken connection."""
    rows = indicator(0, 0) + order(0, 1)
    whole = b"".join(chunk for chunk, _ in connected(rest=rows).chunks())
    assert whole == rows
    with pytest.raises(ConnectionError, match="cut off"):
        list(connected(rest=rows[:-1]).chunks())


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (order(0, 0, kind=3), "neither"),
        (order(0, 0, kind=-1), "neither"),
        (indicator(4, 0), "not given"),
        (indicator(-1, 0), "not given"),
        (order(0, 0, symbol=4), "not given"),
        (order(0, 0, symbol=-1), "not given"),
    ],
)
def test_invalid_rows(row: bytes, problem: str) -> None:
    """A row of another kind, or with a name that was not given, is refused."""
    with pytest.raises(ValueError, match=problem):
        connected().read(indicator(0, 0) + row)


@pytest.mark.parametrize(
    "content",
    [
        MAGIC,
        HEADER.pack(MAGIC, -1, 0),
        HEADER.pack(MAGIC, 1, 1 << 30),
        HEADER.pack(MAGIC, 2, 3) + b"\x01\x00a",
        HEADER.pack(MAGIC, 1, 3) + b"\x02\x00a",
        HEADER.pack(MAGIC, 1, 3) + b"\x01\x00\xff",
        HEADER.pack(MAGIC, 1, 10) + b"\x01\x00a",
    ],
)
def test_invalid_names(content: bytes) -> None:
    """Names that are cut off, too many, too few or not UTF-8 are refused."""
    with pytest.raises((ValueError, struct.error)):
        RowConnection(io.BufferedReader(cast(Any, io.BytesIO(content))), Numbering())


def test_format_is_recognised() -> None:
    """By its first bytes, and a row has 64."""
    assert are_rows(MAGIC + b"...")
    assert not are_rows(b"PAIRS\x00\x00\x02")
    assert ROW.itemsize == len(indicator(0, 0)) == len(order(0, 0)) == 64


def send(address: str, content: bytes) -> None:
    """Send some bytes over a connection of their own."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(content)


def test_what_a_restarted_engine_sends_again_is_dropped_and_counted(tmp_path: Path) -> None:
    """A crash breaks a row off; the engine connects anew, repeats what it is not sure of, and goes on."""
    run = Run(tmp_path / "run")
    run.path.mkdir()
    sink, recorded = Sink(run), list[int]()

    def handle(arrival: Arrival) -> None:
        sink.handle(arrival)
        recorded.extend(map(len, arrival.streams.values()))

    with receiving(run.transport_folder, handle) as address:
        send(address, names_as_bytes(NAMES) + indicator(0, 0) + order(0, 1) + indicator(0, 2)[:40])
        wait_until(lambda: sum(recorded) == 2)
        send(address, names_as_bytes(NAMES) + indicator(0, 0) + order(0, 1) + indicator(0, 2) + order(2, 0))
        wait_until(lambda: sum(recorded) == 4)
    sink.finalize()
    record = SinkRecord.read(run.sink_file)
    assert record.rows == {"indicators": 2, "orders": 2}
    assert record.repeated_rows == {"indicators": 1, "orders": 1}
    assert record.refused_connections == 0
    assert pq.read_table(run.answers_file("orders"))["strategy"].to_pylist() == ["st_1", "st_2"]


def test_an_error_while_rows_are_recorded_ends_receiving(tmp_path: Path) -> None:
    """No answer is lost without a word, whatever went wrong, also if the engine sends nothing more."""

    def fail(_: Arrival) -> None:
        raise TypeError("a defect")

    transport, failed = TickLogTransport(tmp_path / "transport"), list[PairsError]()
    transport.create()

    def receive() -> None:
        try:
            transport.receive(fail, threading.Event())
        except PairsError as error:
            failed.append(error)

    receiver = threading.Thread(target=receive)
    receiver.start()
    wait_until(lambda: transport.sink is not None)
    host, _, port = str(transport.sink).rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(names_as_bytes(NAMES) + indicator(0, 0))
        receiver.join(timeout=30)
    assert [str(error) for error in failed] == ["the sink cannot record answers: TypeError('a defect')"]
