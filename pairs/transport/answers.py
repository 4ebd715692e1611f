"""How answers leave an engine: to the sink of a run over a socket, or to a folder. Imported by generated programs.

Every batch of answers has a number, and sending a batch again is harmless: whoever takes it drops what it has. A batch
is a table with the columns of both streams; an indicator is a row without `type`.
"""

import json
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairs.core.errors import BadInputError, PairsError
from pairs.model.streams import STREAMS

MAGIC = b"PAIRS\x00\x00\x01"
HEADER = struct.Struct("<8sqi")  # magic, number of the batch, length of the description that follows
RECEIPT = struct.Struct("<q")  # the number of the batch that was taken


class AnswerSink(Protocol):
    """Where answers go."""

    def send(self, batch: int, answers: pa.Table) -> None:
        """Hand over a batch; returns when it has been taken."""


def open_sink(address: str) -> AnswerSink:
    """Open the sink at host:port, or a folder to write to."""
    host, _, port = address.rpartition(":")
    return SocketSink(host, int(port)) if host and port.isdigit() else FolderSink(Path(address))


def parted(answers: pa.Table) -> dict[str, pa.Table]:
    """Part a table of answers into its two streams, with the columns of each."""
    parts = {}
    for stream in sorted(STREAMS.values(), key=lambda stream: stream.marker is None):  # those that are marked first
        marked = None if stream.marker is None else pc.is_valid(answers[stream.marker])
        rows = answers if marked is None else answers.filter(marked)
        answers = answers if marked is None else answers.filter(pc.invert(marked))
        parts[stream.name] = rows.select(stream.schema.names).cast(stream.schema)
    return {name: parts[name] for name in STREAMS}


class SocketSink:
    """The sink of a run, on a socket."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._socket = socket.create_connection((host, port))
        except OSError as error:
            raise BadInputError(f"{host}:{port}: no sink there: {error.strerror}; start it first") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, batch: int, answers: pa.Table) -> None:
        """Send a batch and wait for the receipt."""
        self._socket.sendall(packed(batch, parted(answers)))
        receipt = received(self._socket, RECEIPT.size)
        if receipt is None or RECEIPT.unpack(receipt) != (batch,):
            raise PairsError(f"the sink did not take batch {batch}; see its log")


class FolderSink:
    """A folder with a file for each batch and stream, replaced if the batch comes again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        for stream in STREAMS:
            (path / stream).mkdir(parents=True, exist_ok=True)

    def send(self, batch: int, answers: pa.Table) -> None:
        """Write a batch; a file takes its name when it is whole."""
        for stream, rows in parted(answers).items():
            target = self._path / stream / f"batch-{batch:010d}.parquet"
            partial = target.with_name(f".{target.name}")
            pq.write_table(rows, partial)
            partial.replace(target)


def packed(batch: int, streams: Mapping[str, pa.Table]) -> bytes:
    """Pack a batch as one message: header, description, and each stream as Arrow."""
    bodies: dict[str, Any] = {}
    for stream, rows in streams.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as target:
            target.write_table(rows)
        bodies[stream] = sink.getvalue()
    described = json.dumps({stream: body.size for stream, body in bodies.items()}).encode()
    return b"".join([HEADER.pack(MAGIC, batch, len(described)), described, *bodies.values()])


def received(connection: socket.socket, length: int) -> bytes | None:
    """Receive so many bytes, or None if the other side closes before."""
    taken = bytearray()
    while len(taken) < length:
        more = connection.recv(min(length - len(taken), 1 << 20))
        if not more:
            return None
        taken += more
    return bytes(taken)
