"""The sink of a run, a process of its own: takes answers from the engine, stamps them on arrival, writes as it goes.

Arguments: the folder of the run, a file to write the port to, and a file for how it is going. It listens on loopback
only, drops batches it has already taken, keeps the answers as Arrow streams that are readable at any time, and turns
them into Parquet when it is told to end (SIGTERM).
"""

import json
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, PairsError
from pairs.core.files import atomic_write
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.transport.answers import HEADER, MAGIC, RECEIPT, received

_LONGEST_DESCRIPTION = 1 << 16
_LONGEST_BODY = 1 << 30
_ROWS_OF_A_GROUP = 250_000
_MOST_BATCHES = 1_000
_STATUS_EVERY_S = 0.5
_LATELY_US = 5_000_000


class AnswerFiles:
    """The answers of a run being recorded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sinks = {stream: pa.OSFile(str(_raw(folder, stream)), "wb") for stream in STREAMS}
        self._writers = {
            name: pa.ipc.new_stream(self._sinks[name], stream.recorded_schema) for name, stream in STREAMS.items()
        }
        self.rows = dict.fromkeys(STREAMS, 0)
        self._last_batch = -1

    def add(self, batch: int, streams: Mapping[str, pa.Table], sink_ts: int) -> bool:
        """Add the answers of a batch that arrived at a time; return whether they were not there yet."""
        if batch <= self._last_batch:
            return False
        for stream, rows in streams.items():
            self._add(stream, rows, sink_ts)
        self._last_batch = batch
        return True

    def _add(self, stream: str, rows: pa.Table, sink_ts: int) -> None:
        if len(rows):
            stamped = rows.append_column("sinkTS", pa.repeat(pa.scalar(sink_ts, pa.int64()), len(rows)))
            checked = stamped.cast(STREAMS[stream].recorded_schema)
            try:
                self._writers[stream].write_table(checked.combine_chunks())
                self._sinks[stream].flush()
            except OSError as error:  # never the engine's fault
                raise PairsError(f"{_raw(self._folder, stream)}: cannot be written: {error}") from None
            self.rows[stream] += len(rows)

    def finish(self) -> None:
        """Turn what was recorded into Parquet files; if the disk is full, the run will, once it has made room."""
        with suppress(OSError, BadInputError):
            for stream in STREAMS:
                self._writers[stream].close()
                self._sinks[stream].close()
            settle(Run(self._folder))


def settle(run: Run) -> None:
    """Turn the answers that a sink recorded into Parquet files, also if it died: all that was written whole."""
    for name, stream in STREAMS.items():
        raw = _raw(run.path, name)
        if raw.exists():
            with (
                atomic_write(run.answers_file(name)) as partial,
                pq.ParquetWriter(partial, stream.recorded_schema) as target,
            ):
                for group in _groups(raw):
                    target.write_table(group)
            raw.unlink()


def _raw(folder: Path, stream: str) -> Path:
    return folder / f"{stream}.arrows"


def _groups(raw: Path) -> Iterator[pa.Table]:
    """Yield the batches of a stream, some together, up to its end or to where it breaks off."""
    group: list[pa.RecordBatch] = []
    rows = 0
    with pa.OSFile(str(raw)) as source, suppress(pa.ArrowException, OSError):
        for batch in pa.ipc.open_stream(source):
            group.append(batch)
            rows += len(batch)
            if rows >= _ROWS_OF_A_GROUP:
                yield pa.Table.from_batches(group)
                group, rows = [], 0
            elif len(group) >= _MOST_BATCHES:  # each takes some kilobytes, however small it is
                group = pa.Table.from_batches(group).combine_chunks().to_batches()
    if group:
        yield pa.Table.from_batches(group)


class Status:
    """How it is going, in a file for others: whether an engine is there, its answers, their latencies lately."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written_at = 0.0
        self._recent: deque[tuple[int, NDArray[np.int64]]] = deque()

    def note(self, rows: dict[str, int], sink_ts: int, latencies_us: NDArray[np.int64]) -> None:
        """Note a batch of answers; the file is written twice a second at most."""
        self._recent.append((sink_ts, latencies_us))
        while self._recent[0][0] < sink_ts - _LATELY_US:
            self._recent.popleft()
        if time.monotonic() - self._written_at > _STATUS_EVERY_S:
            with suppress(OSError):  # by now it is only for show
                self.write(rows)

    def write(self, rows: dict[str, int]) -> None:
        """Write the file."""
        self._written_at = time.monotonic()
        lately = np.sort(np.concatenate([np.empty(0, np.int64), *(one for _, one in self._recent)]))
        shown = {}
        if len(lately):
            ranks = {"p50": 0.5, "p99": 0.99, "max": 1.0}
            shown = {name: int(lately[max(ceil(share * len(lately)), 1) - 1]) for name, share in ranks.items()}
        partial = self._path.with_name(f".{self._path.name}")
        partial.write_text(json.dumps({"rows": rows, "latency_us": shown}))
        partial.rename(self._path)


class _EndError(Exception):
    """The sink is told to end."""


class _NonsenseError(Exception):
    """The engine sent something that is no batch of answers."""


def serve(listening: socket.socket, files: AnswerFiles, status: Status) -> None:
    """Take batches from one engine after the other; a restarted engine connects anew, a killed one breaks off."""
    while True:
        connection, _ = listening.accept()
        status.write(files.rows)
        try:
            with connection:
                _take_batches(connection, files, status)
        except ConnectionError:
            print("sink: the engine broke off its connection", file=sys.stderr)
        except (_NonsenseError, OSError, ValueError, pa.ArrowException) as error:
            print(f"sink: closed the connection of an engine that sent nonsense: {error}", file=sys.stderr)


def _take_batches(connection: socket.socket, files: AnswerFiles, status: Status) -> None:
    """Take the batches of one connection."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while (message := _message(connection)) is not None:
        batch, streams, sink_ts = message
        if files.add(batch, streams, sink_ts):
            sent = np.concatenate([rows["inputTS"].to_numpy() for rows in streams.values()])
            status.note(files.rows, sink_ts, sink_ts - sent)
        connection.sendall(RECEIPT.pack(batch))


def _message(connection: socket.socket) -> tuple[int, dict[str, pa.Table], int] | None:
    """Receive a batch, and when it was there; None if the engine has gone."""
    header = received(connection, HEADER.size)
    if header is None:
        return None
    magic, batch, length = HEADER.unpack(header)
    if magic != MAGIC or not 0 <= length <= _LONGEST_DESCRIPTION:
        raise _NonsenseError("not a batch of answers")
    described = received(connection, length)
    if described is None:
        raise _NonsenseError("a batch that breaks off")
    sizes = json.loads(described)
    bodies: dict[str, bytes] = {}
    for stream, size in sizes.items():
        body = received(connection, size) if stream in STREAMS and 0 <= size <= _LONGEST_BODY else None
        if body is None:
            raise _NonsenseError("a batch that breaks off")
        bodies[stream] = body
    sink_ts = time.time_ns() // 1000
    return batch, {stream: pa.ipc.open_stream(body).read_all() for stream, body in bodies.items()}, sink_ts


def main(folder: Path, port_file: Path, status_file: Path) -> None:
    """Serve until told to end."""

    def end(*_: object) -> None:
        raise _EndError

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides
    files = AnswerFiles(folder)
    with socket.create_server(("127.0.0.1", 0)) as listening, suppress(_EndError):
        partial = port_file.with_name(f".{port_file.name}")
        partial.write_text(str(listening.getsockname()[1]))
        partial.rename(port_file)
        serve(listening, files, Status(status_file))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    files.finish()


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:]))
    except PairsError as error:
        sys.exit(f"sink: {error}")
