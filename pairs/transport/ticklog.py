"""The tick log as a transport: ticks in memory-mapped files of this host, answers over a loopback socket."""

import json
import mmap
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.core.files import write_text
from pairs.model.streams import STREAMS
from pairs.transport.answers import HEADER, MAGIC, RECEIPT
from pairs.transport.base import Arrival, Positions, TickWriter, Transport
from pairs.transport.tick_records import RECORD, Records
from pairs.transport.ticklog_file import CLOSED, NEXT, TickLog, TickLogReader, create_log

_HOST = "127.0.0.1"
_POLL_S = 0.1
_MAX_DESCRIPTION_BYTES = 1 << 16
_MAX_BODY_BYTES = 1 << 30


class TickLogWriter(TickLog, TickWriter):
    """Writes the ticks of one driver into the log."""

    def __init__(self, path: Path, driver: int = 0) -> None:
        super().__init__(path)
        self._driver = driver
        self._next = driver
        self._segment_number = -1
        self._segment = np.empty(0, RECORD)
        self._removed = 0

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
        with path.open("r+b") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), size), RECORD)


def _positions(log: TickLog) -> Positions:
    return Positions(log.produced, log.consumed, log.closed)


class TickLogTransport(Transport):
    """One host, nothing to install."""

    name = "ticklog"

    def __init__(self, folder: Path, drivers: int = 1, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder, drivers, settings)
        self._log_folder = folder / "log"
        self._port_file = folder / "port"
        self._connected_file = folder / "connected"

    @cached_property
    def _log(self) -> TickLogReader:
        return TickLogReader(self._log_folder)

    def create(self) -> None:
        super().create()
        create_log(self._log_folder, self.drivers)

    @property
    def source(self) -> str:
        return str(self._log_folder)

    @property
    def sink(self) -> str | None:
        return f"{_HOST}:{self._port_file.read_text()}" if self._port_file.exists() else None

    @property
    def ready(self) -> bool:
        return self._connected_file.exists()

    def writer(self, driver: int) -> TickWriter:
        return TickLogWriter(self._log_folder, driver)

    def positions(self) -> Positions:
        return _positions(self._log)

    def next_tick_ts(self) -> int | None:
        first = self._log.consumed
        if first >= self._log.produced:
            return None
        return int(next(self._log.read(first, first + 1))["tickTS"][0])

    def receive(self, handle: Callable[[Arrival], None], ended: threading.Event) -> None:
        """Listen on a free port; the first connection tells that an engine is ready."""
        with socket.create_server((_HOST, 0)) as listening:
            write_text(self._port_file, str(listening.getsockname()[1]))
            _AnswerServer(handle, ended, on_connect=self._connected_file.touch).serve(listening)


@dataclass
class _AnswerServer:
    """The other end of `SocketSink`: hands every batch to `handle`, then sends its receipt; a thread a connection."""

    handle: Callable[[Arrival], None]
    ended: threading.Event
    on_connect: Callable[[], None]
    failures: list[PairsError] = field(default_factory=list)

    def serve(self, listening: socket.socket) -> None:
        """Serve until `ended` is set; a killed engine breaks off its connections, and connects anew once restarted."""
        listening.settimeout(_POLL_S)
        connections: list[tuple[socket.socket, threading.Thread]] = []
        while not self.ended.is_set():
            with suppress(TimeoutError):
                connection, _ = listening.accept()
                self.on_connect()
                thread = threading.Thread(target=self._serve_connection, args=(connection,), daemon=True)
                thread.start()
                connections = [known for known in connections if known[1].is_alive()] + [(connection, thread)]
        for connection, thread in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # what has arrived is still read
            thread.join()
        if self.failures:
            raise self.failures[0]

    def _serve_connection(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as source:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while (arrival := _receive_batch(source)) is not None:
                    self.handle(arrival)
                    connection.sendall(RECEIPT.pack(arrival.batch))
        except ConnectionError:
            print("sink: the engine broke off its connection", file=sys.stderr, flush=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            print(f"sink: closed a connection that sent invalid data: {error}", file=sys.stderr, flush=True)
        except PairsError as error:  # not the engine's fault: nothing more can be recorded
            self.failures.append(error)
            self.ended.set()


def _receive_batch(source: BinaryIO) -> Arrival | None:
    """Receive a batch; none if the writer has closed the connection."""
    header = source.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    magic, writer, batch, length = HEADER.unpack(header)
    if magic != MAGIC or writer < 0 or batch < 0 or not 0 <= length <= _MAX_DESCRIPTION_BYTES:
        raise ValueError("not a batch of answers")
    sizes = json.loads(_read(source, length))
    if not isinstance(sizes, dict) or not all(
        stream in STREAMS and type(size) is int and 0 <= size <= _MAX_BODY_BYTES for stream, size in sizes.items()
    ):
        raise ValueError("a batch of unknown streams or impossible sizes")
    bodies = {stream: _read(source, size) for stream, size in sizes.items()}
    arrived_us = time.time_ns() // 1000
    streams = {
        stream: pa.ipc.open_stream(body).read_all().cast(STREAMS[stream].schema) for stream, body in bodies.items()
    }
    return Arrival(writer, batch, streams, arrived_us)


def _read(source: BinaryIO, size: int) -> bytes:
    content = source.read(size)
    if len(content) < size:
        raise ValueError("a batch that is cut off")
    return content
