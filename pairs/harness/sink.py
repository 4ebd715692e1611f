"""The sink of a run, a process of its own: receives answers through the transport and records them as they arrive.

Its argument is the folder of the run. It writes the answers and sink.json, and ends when it is told to (SIGTERM).
"""

import signal
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, PairsError
from pairs.harness.answer_files import AnswerFiles
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from pairs.transport.base import Arrival
from pairs.transport.registry import load_transport

_RECORD_EVERY_S = 0.5
_RECENT_US = 5_000_000
_PERCENTILES = {"p50": 0.5, "p99": 0.99, "max": 1.0}


class RecentLatency:
    """The latencies of the last seconds."""

    def __init__(self) -> None:
        self._batches: deque[tuple[int, NDArray[np.int64]]] = deque()

    def note(self, arrival: Arrival) -> None:
        """Note the answers of a batch."""
        latencies = [arrival.arrived_us - rows["inputTS"].to_numpy() for rows in arrival.streams.values()]
        self._batches.append((arrival.arrived_us, np.concatenate(latencies)))
        while self._batches[0][0] < arrival.arrived_us - _RECENT_US:
            self._batches.popleft()

    def percentiles_us(self) -> dict[str, int]:
        """Return median, 99th percentile and maximum; nothing if there were no answers."""
        values = np.sort(np.concatenate([np.empty(0, np.int64), *(latencies for _, latencies in self._batches)]))
        if not len(values):
            return {}
        return {name: int(values[max(ceil(share * len(values)), 1) - 1]) for name, share in _PERCENTILES.items()}


class Sink:
    """Records what arrives; safe to call from several threads."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._files = AnswerFiles(run)
        self._latency = RecentLatency()
        self._recorded_at = 0.0

    def handle(self, arrival: Arrival) -> None:
        """Record a batch of answers."""
        with self._lock:
            if self._files.add(arrival):
                self._latency.note(arrival)
            if time.monotonic() - self._recorded_at > _RECORD_EVERY_S:
                self._write_record()

    def finalize(self) -> None:
        """Write the answers and the record in their final form."""
        with self._lock:
            self._write_record()
            self._files.finalize()

    def _write_record(self) -> None:
        self._recorded_at = time.monotonic()
        files = self._files
        record = SinkRecord(
            writers=files.writers,
            batches=files.batches,
            rows=files.rows,
            repeated_batches=files.repeated_batches,
            repeated_rows=files.repeated_rows,
            recent_latency_us=self._latency.percentiles_us(),
        )
        with suppress(BadInputError):  # on a full disk the answers count
            record.write(self._run.sink_file)


def main(folder: Path) -> None:
    """Receive answers until told to end."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor decides
    run = Run(folder)
    sink = Sink(run)
    load_transport(run.transport_folder).receive(sink.handle, ended)
    sink.finalize()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except PairsError as error:
        sys.exit(f"sink: {error}")
