"""The tick log as a transport: ticks in memory-mapped files of this host, answers over a loopback socket."""

import mmap
import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np

from pairs.core.files import write_text
from pairs.transport.answer_server import AnswerServer
from pairs.transport.base import Arrival, Positions, TickWriter, Transport
from pairs.transport.tick_records import RECORD, Records
from pairs.transport.ticklog_file import CLOSED, NEXT, TickLog, TickLogReader, create_log

_HOST = "127.0.0.1"


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
            AnswerServer(handle, ended, on_connect=self._connected_file.touch).serve(listening)
