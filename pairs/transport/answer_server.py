"""The other end of `SocketSink`: receives batches of answers on a socket, from several writers at once."""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.model.streams import STREAMS
from pairs.transport.answers import HEADER, MAGIC, RECEIPT
from pairs.transport.base import Arrival

_POLL_S = 0.1
_MAX_DESCRIPTION_BYTES = 1 << 16
_MAX_BODY_BYTES = 1 << 30


@dataclass
class AnswerServer:
    """Hands every batch that arrives to `handle`, and then sends its receipt; a thread for each connection."""

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
