"""The other end of `SocketSink`: receives batches of answers on a socket, from several writers at once."""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.model.streams import STREAMS
from pairs.transport.answers import HEADER, MAGIC, RECEIPT, receive_exactly
from pairs.transport.base import Arrival

_POLL_S = 0.1
_MAX_DESCRIPTION_BYTES = 1 << 16
_MAX_BODY_BYTES = 1 << 30


class _InvalidError(Exception):
    """A writer sent something that is not a batch of answers."""


class AnswerServer:
    """Hands every batch that arrives to `handle`, and then sends its receipt; a thread for each connection."""

    def __init__(
        self, handle: Callable[[Arrival], None], ended: threading.Event, on_connect: Callable[[], None]
    ) -> None:
        self._handle = handle
        self._ended = ended
        self._on_connect = on_connect
        self._failures: list[PairsError] = []

    def serve(self, listening: socket.socket) -> None:
        """Serve until `ended` is set; a killed engine breaks off its connections, and connects anew once restarted."""
        listening.settimeout(_POLL_S)
        connections: list[tuple[socket.socket, threading.Thread]] = []
        while not self._ended.is_set():
            with suppress(TimeoutError):
                connection, _ = listening.accept()
                self._on_connect()
                thread = threading.Thread(target=self._serve_connection, args=(connection,), daemon=True)
                thread.start()
                connections = [known for known in connections if known[1].is_alive()] + [(connection, thread)]
        for connection, thread in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # what has arrived is still read
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _serve_connection(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while (arrival := _receive_batch(connection)) is not None:
                    self._handle(arrival)
                    connection.sendall(RECEIPT.pack(arrival.batch))
        except ConnectionError:
            print("sink: the engine broke off its connection", file=sys.stderr, flush=True)
        except (_InvalidError, OSError, ValueError, pa.ArrowException) as error:
            print(f"sink: closed a connection that sent invalid data: {error}", file=sys.stderr, flush=True)
        except PairsError as error:  # not the engine's fault: nothing more can be recorded
            self._failures.append(error)
            self._ended.set()


def _receive_batch(connection: socket.socket) -> Arrival | None:
    """Receive a batch; none if the writer has closed the connection."""
    header = receive_exactly(connection, HEADER.size)
    if header is None:
        return None
    magic, writer, batch, length = HEADER.unpack(header)
    if magic != MAGIC or writer < 0 or batch < 0 or not 0 <= length <= _MAX_DESCRIPTION_BYTES:
        raise _InvalidError("not a batch of answers")
    sizes = json.loads(_receive(connection, length))
    if not isinstance(sizes, dict) or not all(
        stream in STREAMS and type(size) is int and 0 <= size <= _MAX_BODY_BYTES for stream, size in sizes.items()
    ):
        raise _InvalidError("a batch of unknown streams or impossible sizes")
    bodies = {stream: _receive(connection, size) for stream, size in sizes.items()}
    arrived_us = time.time_ns() // 1000
    streams = {
        stream: pa.ipc.open_stream(body).read_all().cast(STREAMS[stream].schema) for stream, body in bodies.items()
    }
    return Arrival(writer, batch, streams, arrived_us)


def _receive(connection: socket.socket, length: int) -> bytes:
    received = receive_exactly(connection, length)
    if received is None:
        raise _InvalidError("a batch that is cut off")
    return received
