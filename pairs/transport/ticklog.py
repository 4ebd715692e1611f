"""The tick log as a transport: ticks in memory-mapped files of this host, answers over a loopback socket."""

import json
import mmap
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from io import BufferedReader
from itertools import count
from pathlib import Path
from queue import Queue
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.core.files import write_text
from pairs.model.streams import STREAMS
from pairs.run_folder.records import InvalidRow
from pairs.transport.answer_lines import InvalidLineError, are_lines, receive_lines
from pairs.transport.answer_rows import Numbering, RowConnection, are_rows
from pairs.transport.answers import HEADER, MAGIC, RECEIPT
from pairs.transport.base import Arrival, Positions, Refusal, StartProcess, TickWriter, Transport, no_process
from pairs.transport.tick_records import RECORD, Records
from pairs.transport.ticklog_file import CLOSED, NEXT, TickLog, TickLogReader, create_log

_HOST = "127.0.0.1"
_POLL_S = 0.1
_MAX_DESCRIPTION_BYTES = 1 << 16
_MAX_BODY_BYTES = 1 << 30
_MOST_CHUNKS = 1_000  # of rows that have arrived and are not recorded yet


class TickLogWriter(TickLog, TickWriter):
    """Writes the ticks of one driver into the log."""

    def __init__(self, path: Path, driver: int = 0) -> None:
        super().__init__(path)
        self._driver = driver
        self._next = driver
        self._segment_number = -1
        self._segment = np.empty(0, RECORD)
        self._removed = 0
        self._seen = 0  # ticks of the whole stream

    def share(self, records: Records) -> Records:
        """Take every n-th tick of n drivers."""
        first = (self._driver - self._seen) % self._drivers
        self._seen += len(records)
        return records[first :: self._drivers]

    def append(self, records: Records) -> None:
        """Add the next ticks of this driver; readers see them when all of them are there."""
        step, first = self._drivers, self._next
        records["seq"] = np.arange(first, first + step * len(records), step)
        written = 0
        while written < len(records):
            number, place = divmod(first + step * written, self._segment_records)
            if number != self._segment_number:
                self._segment, self._segment_number = self._open_segment(number), number
            count = min(len(records) - written, -(-(self._segment_records - place) // step))
            self._segment[place : place + step * count : step] = records[written : written + count]
            written += count
        self._next = first + step * len(records)
        self._control[NEXT + self._driver] = self._next

    @property
    def positions(self) -> Positions:
        return _positions(self)

    def trim(self) -> None:
        while self._removed < self.consumed // self._segment_records:
            self._segment_file(self._removed).unlink(missing_ok=True)
            self._removed += 1

    def close(self) -> None:
        self._control[CLOSED + self._driver] = 1

    def _open_segment(self, number: int) -> Records:
        """Map a segment; the driver that is there first makes it."""
        path, size = self._segment_file(number), self._segment_records * RECORD.itemsize
        if not path.exists():
            partial = path.with_name(f".{path.name}.{self._driver}")
            with partial.open("w+b") as file:
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk shows here, not as a crash at some later store
            with suppress(FileExistsError):
                os.link(partial, path)
            partial.unlink()
        return self._map_segment(number, mmap.ACCESS_WRITE)


def _positions(log: TickLog) -> Positions:
    return Positions(log.produced, log.read_up_to, log.closed, log.consumed)


class TickLogTransport(Transport):
    """One host, nothing to install."""

    name = "ticklog"

    def __init__(self, folder: Path, drivers: int = 1, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder, drivers, settings)
        self._log_folder = folder / "log"
        self._port_file = folder / "port"
        self._connections_file = folder / "connections"  # how many are open; missing before the first

    @cached_property
    def _log(self) -> TickLogReader:
        return TickLogReader(self._log_folder)

    def create(self, start: StartProcess = no_process) -> None:
        super().create(start)
        create_log(self._log_folder, self.drivers)

    @property
    def source(self) -> str:
        return str(self._log_folder)

    @property
    def sink(self) -> str | None:
        return f"{_HOST}:{self._port_file.read_text()}" if self._port_file.exists() else None

    @property
    def ready(self) -> bool:
        return self._connections_file.exists()

    @property
    def left(self) -> bool:
        return self.ready and self._connections_file.read_text() == "0"

    def writer(self, driver: int) -> TickWriter:
        return TickLogWriter(self._log_folder, driver)

    def positions(self) -> Positions:
        return _positions(self._log)

    def next_tick_ts(self) -> int | None:
        first = self._log.read_up_to
        if first >= self._log.produced:
            return None
        return int(next(self._log.read(first, first + 1))["tickTS"][0])

    def receive(
        self,
        handle: Callable[[Arrival], None],
        ended: threading.Event,
        refuse: Callable[[Refusal], None] = lambda _: None,
    ) -> None:
        """Listen on a free port; the first connection tells that an engine is ready."""
        with socket.create_server((_HOST, 0)) as listening:
            write_text(self._port_file, str(listening.getsockname()[1]))
            _AnswerServer(handle, refuse, ended, self._note_connections).serve(listening)

    def _note_connections(self, count: int) -> None:
        write_text(self._connections_file, str(count))


@dataclass
class _AnswerServer:
    """The other end of `SocketSink`, and of programs that send rows or lines of text; a thread a connection.

    Every batch is handed to `handle`, then its receipt is sent. A connection of rows or lines is a writer of its own,
    with a number below zero, and what arrives together is a batch.
    """

    handle: Callable[[Arrival], None]
    refuse: Callable[[Refusal], None]
    ended: threading.Event
    note_connections: Callable[[int], None]
    failures: list[PairsError] = field(default_factory=list)
    open_connections: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    own_writers: Iterator[int] = field(default_factory=lambda: count(-1, -1))
    numbering: Numbering = field(default_factory=Numbering)

    def serve(self, listening: socket.socket) -> None:
        """Serve until `ended` is set; a killed engine breaks off its connections, and connects anew once restarted."""
        listening.settimeout(_POLL_S)
        connections: list[tuple[socket.socket, threading.Thread]] = []
        while not self.ended.is_set():
            with suppress(TimeoutError):
                connection, _ = listening.accept()
                self._connected(1)
                thread = threading.Thread(target=self._serve_connection, args=(connection,), daemon=True)
                thread.start()
                connections = [known for known in connections if known[1].is_alive()] + [(connection, thread)]
        for connection, thread in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # what has arrived is still read
            thread.join()
        if self.failures:
            raise self.failures[0]

    def _connected(self, change: int) -> None:
        with self.lock:
            self.open_connections += change
            self.note_connections(self.open_connections)

    def _serve_connection(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as source:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                first_bytes = source.peek(len(MAGIC))
                if are_rows(first_bytes):
                    self._serve_rows(RowConnection(source, self.numbering), connection)
                elif are_lines(first_bytes):
                    self._serve_lines(source)
                else:
                    self._serve_batches(source, connection)
        except ConnectionError:
            print("sink: the engine broke off its connection", file=sys.stderr, flush=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            self._refuse(error, Refusal())
        except PairsError as error:  # not the engine's fault: nothing more can be recorded
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - a defect: no answer may be lost without a word
            self._fail(PairsError(f"the sink cannot record answers: {error!r}"))
        finally:
            with suppress(PairsError):  # a full disk is noticed elsewhere
                self._connected(-1)

    def _fail(self, error: PairsError) -> None:
        self.failures.append(error)
        self.ended.set()

    def _serve_batches(self, source: BinaryIO, connection: socket.socket) -> None:
        while (arrival := _receive_batch(source)) is not None:
            self.handle(arrival)
            connection.sendall(RECEIPT.pack(arrival.batch))

    def _serve_rows(self, rows: RowConnection, connection: socket.socket) -> None:
        """Receive and stamp rows; another thread records them, so that none waits for others to be recorded."""
        chunks: Queue[tuple[bytes, int] | None] = Queue(_MOST_CHUNKS)
        errors: list[Exception] = []

        def stop(error: Exception) -> None:
            errors.append(error)
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # nothing more is waited for

        recording = threading.Thread(target=self._record_rows, args=(rows, chunks, stop), daemon=True)
        recording.start()
        try:
            for chunk in rows.chunks():
                if errors:
                    break
                chunks.put(chunk)
        finally:
            chunks.put(None)
            recording.join()
        if errors:
            raise errors[0]

    def _record_rows(
        self, rows: RowConnection, chunks: "Queue[tuple[bytes, int] | None]", stop: Callable[[Exception], None]
    ) -> None:
        writer, batches, stopped = next(self.own_writers), count(), False
        while (arrived := chunks.get()) is not None:
            if stopped:
                continue  # what is left is thrown away
            try:
                streams, repeated = rows.read(arrived[0])
                self.handle(Arrival(writer, next(batches), streams, arrived[1], repeated))
            except Exception as error:  # noqa: BLE001 - whoever receives the rows raises it
                stopped = True
                stop(error)

    def _serve_lines(self, source: BufferedReader) -> None:
        writer = next(self.own_writers)
        try:
            for batch, (streams, arrived_us) in enumerate(receive_lines(source)):
                self.handle(Arrival(writer, batch, streams, arrived_us))
        except InvalidLineError as error:
            row = InvalidRow(file=f"connection {-writer}", line=error.line, problem=error.problem)
            self._refuse(error, Refusal(error.stream, row))

    def _refuse(self, error: Exception, refusal: Refusal) -> None:
        print(f"sink: closed a connection that sent invalid data: {error}", file=sys.stderr, flush=True)
        self.refuse(refusal)


def _receive_batch(source: BinaryIO) -> Arrival | None:
    """Receive a batch; none if the writer has closed the connection."""
    header = source.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    magic, writer, batch, length = HEADER.unpack(header)
    if magic != MAGIC or writer < 0 or batch < 0 or not 0 <= length <= _MAX_DESCRIPTION_BYTES:
        raise ValueError("not a batch of answers")
    try:
        sizes = json.loads(_read(source, length))
    except RecursionError:
        raise ValueError("a description of batches within batches") from None
    if not isinstance(sizes, dict) or not all(
        stream in STREAMS and type(size) is int and 0 <= size <= _MAX_BODY_BYTES for stream, size in sizes.items()
    ):
        raise ValueError("a batch of unknown streams or impossible sizes")
    bodies = {stream: _read(source, size) for stream, size in sizes.items()}
    arrived_us = time.time_ns() // 1000
    return Arrival(writer, batch, {stream: _decode(stream, body) for stream, body in bodies.items()}, arrived_us)


def _decode(stream: str, body: bytes) -> pa.Table:
    """Read the answers of a stream; they are checked before they are looked at, as Arrow trusts what it is given."""
    with pa.ipc.open_stream(body) as source:
        if source.schema.names != STREAMS[stream].schema.names:
            raise ValueError(f"other columns than those of {stream}")
        if source.schema.types != STREAMS[stream].schema.types:
            raise ValueError(f"columns of other types than those of {stream}")
        answers = source.read_all()
    answers.validate(full=True)
    return answers.cast(STREAMS[stream].schema)


def _read(source: BinaryIO, size: int) -> bytes:
    content = source.read(size)
    if len(content) < size:
        raise ValueError("a batch that is cut off")
    return content
