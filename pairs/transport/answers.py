"""How answers leave an engine: to the sink of a run over a socket, or to a folder. Imported by generated programs.

An engine answers from one writer, or from several at once. Each writer numbers its batches from 0 up, and sending a
batch again is harmless: the sink drops what it has. A batch is a table with the columns of both streams; an indicator
is a row without `type`.
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
from pairs.core.files import atomic_write
from pairs.model.streams import STREAMS

MAGIC = b"PAIRS\x00\x00\x02"
HEADER = struct.Struct("<8siqi")  # magic, writer, number of the batch, length of the description that follows
RECEIPT = struct.Struct("<q")  # the number of the batch that was recorded


class AnswerSink(Protocol):
    """Where a writer sends answers."""

    def send(self, batch: int, answers: pa.Table) -> None:
        """Send a batch."""

    def close(self) -> None:
        """Return when all that was sent is recorded, or kept for the one who records it."""


def split_streams(answers: pa.Table) -> dict[str, pa.Table]:
    """Split a table of answers into its streams, with the columns of each."""
    streams = {}
    for stream in sorted(STREAMS.values(), key=lambda stream: stream.marker is None):  # those with a marker first
        marked = None if stream.marker is None else pc.is_valid(answers[stream.marker])
        rows = answers if marked is None else answers.filter(marked)
        answers = answers if marked is None else answers.filter(pc.invert(marked))
        streams[stream.name] = rows.select(stream.schema.names).cast(stream.schema)
    return {name: streams[name] for name in STREAMS}


class SocketSink:
    """The sink of a run, on a socket."""

    def __init__(self, host: str, port: int, writer: int = 0) -> None:
        self._writer = writer
        try:
            self._socket = socket.create_connection((host, port))
        except OSError as error:
            raise BadInputError(f"{host}:{port}: no sink there: {error.strerror}; start it first") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._receipts = self._socket.makefile("rb")

    def send(self, batch: int, answers: pa.Table) -> None:
        self._socket.sendall(encode_batch(self._writer, batch, split_streams(answers)))
        if self._receipts.read(RECEIPT.size) != RECEIPT.pack(batch):
            raise PairsError(f"the sink did not record batch {batch} of writer {self._writer}; see its log")

    def close(self) -> None:
        self._receipts.close()
        self._socket.close()


class FolderSink:
    """A folder with a file for each batch and stream, replaced if the batch comes again."""

    def __init__(self, path: Path, writer: int = 0) -> None:
        self._path, self._writer = path, writer
        for stream in STREAMS:
            (path / stream).mkdir(parents=True, exist_ok=True)

    def send(self, batch: int, answers: pa.Table) -> None:
        for stream, rows in split_streams(answers).items():
            file = self._path / stream / f"batch-{self._writer:04d}-{batch:010d}.parquet"
            with atomic_write(file) as partial:
                pq.write_table(rows, partial)

    def close(self) -> None:
        """Nothing is left to do."""


def encode_batch(writer: int, batch: int, streams: Mapping[str, pa.Table]) -> bytes:
    """Encode a batch as one message: header, description, and each stream as Arrow."""
    bodies: dict[str, Any] = {}
    for stream, rows in streams.items():
        buffer = pa.BufferOutputStream()
        with pa.ipc.new_stream(buffer, rows.schema) as target:
            target.write_table(rows)
        bodies[stream] = buffer.getvalue()
    description = json.dumps({stream: body.size for stream, body in bodies.items()}).encode()
    return b"".join([HEADER.pack(MAGIC, writer, batch, len(description)), description, *bodies.values()])
