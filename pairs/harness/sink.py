"""The sink of a run, a process of its own: receives answers through the transport and records them as they arrive.

Its argument is the folder of the run. It writes sink.json and the answers: Arrow streams that are readable at any time,
and Parquet files in the end, when it is told to end (SIGTERM).
"""

import gc
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, PairsError
from pairs.core.files import atomic_write
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.run_folder.records import InvalidRow, SinkRecord
from pairs.transport.base import Arrival, Refusal
from pairs.transport.registry import load_transport

_RECORD_EVERY_S = 0.5
_RECENT_US = 5_000_000
_PERCENTILES = {"p50": 50, "p99": 99, "max": 100}
_ROWS_OF_A_GROUP = 250_000
_MAX_BATCHES = 1_000
_KEPT_INVALID = 100


class AnswerFiles:
    """Records every batch of every writer once, and counts those that came again."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files = {stream: pa.OSFile(str(_raw_file(run, stream)), "wb") for stream in STREAMS}
        self._streams = {
            name: pa.ipc.new_stream(self._files[name], stream.recorded_schema) for name, stream in STREAMS.items()
        }
        self.last_batch: dict[int, int] = {}  # of each writer
        self.rows = dict.fromkeys(STREAMS, 0)
        self.batches = 0
        self.repeated_rows = dict.fromkeys(STREAMS, 0)
        self.repeated_batches = 0

    def add(self, arrival: Arrival) -> bool:
        """Add a batch; return whether it was not there yet."""
        if arrival.batch <= self.last_batch.get(arrival.writer, -1):
            self.repeated_batches += 1
            for stream, rows in arrival.streams.items():
                self.repeated_rows[stream] += len(rows)
            return False
        for stream, rows in arrival.streams.items():
            self._add(stream, rows, arrival.arrived_us)
        for stream, count in arrival.repeated.items():
            self.repeated_rows[stream] += count
        self.last_batch[arrival.writer] = arrival.batch
        self.batches += 1
        return True

    def _add(self, stream: str, rows: pa.Table, sink_ts: int) -> None:
        if len(rows):
            stamped = rows.append_column("sinkTS", pa.repeat(pa.scalar(sink_ts, pa.int64()), len(rows)))
            try:
                self._streams[stream].write_table(stamped.cast(STREAMS[stream].recorded_schema).combine_chunks())
                self._files[stream].flush()
            except OSError as error:  # never the engine's fault
                raise PairsError(f"{_raw_file(self._run, stream)}: cannot be written: {error}") from None
            self.rows[stream] += len(rows)

    def finalize(self) -> None:
        """Close the files and turn them into Parquet; on a full disk the supervisor does, once it has made room."""
        with suppress(OSError, BadInputError):
            for stream in STREAMS:
                self._streams[stream].close()
                self._files[stream].close()
            finalize_answers(self._run)


def finalize_answers(run: Run) -> None:
    """Turn recorded answers into Parquet files, also if the sink died: all that was written whole."""
    for name, stream in STREAMS.items():
        raw, file = _raw_file(run, name), run.answers_file(name)
        if raw.exists():
            with atomic_write(file) as partial, pq.ParquetWriter(partial, stream.recorded_schema) as target:
                for group in _groups(raw, stream.recorded_schema):
                    target.write_table(group)
            raw.unlink()


def _raw_file(run: Run, stream: str) -> Path:
    return run.path / f"{stream}.arrows"


def _groups(raw: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the batches of a stream, some together, up to its end or to where it is cut off or damaged."""
    group: list[pa.RecordBatch] = []
    rows = 0
    with pa.OSFile(str(raw)) as source, suppress(pa.ArrowException, OSError):
        for batch in pa.ipc.open_stream(source):
            pa.Table.from_batches([batch], schema).validate(full=True)
            group.append(batch)
            rows += len(batch)
            if rows >= _ROWS_OF_A_GROUP:
                yield pa.Table.from_batches(group)
                group, rows = [], 0
            elif len(group) >= _MAX_BATCHES:  # each takes some kilobytes, however small it is
                group = pa.Table.from_batches(group).combine_chunks().to_batches()
    if group:
        yield pa.Table.from_batches(group)


class Sink:
    """Records what arrives, and the latencies of the last seconds; safe to call from several threads."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._files = AnswerFiles(run)
        self._latencies: deque[tuple[int, NDArray[np.int64]]] = deque()  # of each batch, with its time of arrival
        self._recorded_at = 0.0
        self._refused = 0
        self._invalid: dict[str, tuple[InvalidRow, ...]] = {}

    def handle(self, arrival: Arrival) -> None:
        with self._lock:
            if self._files.add(arrival):
                self._note_latency(arrival)
            if time.monotonic() - self._recorded_at > _RECORD_EVERY_S:
                self._write_record()

    def refuse(self, refusal: Refusal) -> None:
        """Count a connection that sent invalid data; keep what it was, if it was sent as an answer."""
        with self._lock:
            self._refused += 1
            if refusal.stream is not None and refusal.row is not None:
                kept = self._invalid.get(refusal.stream, ())
                self._invalid[refusal.stream] = (*kept, refusal.row)[:_KEPT_INVALID]
            self._write_record()

    def finalize(self) -> None:
        with self._lock:
            self._write_record()
            self._files.finalize()

    def _note_latency(self, arrival: Arrival) -> None:
        latencies = [arrival.arrived_us - rows["inputTS"].to_numpy() for rows in arrival.streams.values()]
        self._latencies.append((arrival.arrived_us, np.concatenate([np.empty(0, np.int64), *latencies])))
        while self._latencies[0][0] < arrival.arrived_us - _RECENT_US:
            self._latencies.popleft()

    def _recent_latency_us(self) -> dict[str, int]:
        """Return median, 99th percentile and maximum; nothing if there were no answers."""
        values = np.concatenate([np.empty(0, np.int64), *(latencies for _, latencies in self._latencies)])
        if not len(values):
            return {}
        found = np.percentile(values, list(_PERCENTILES.values()), method="inverted_cdf")
        return dict(zip(_PERCENTILES, found.tolist(), strict=True))

    def _write_record(self) -> None:
        self._recorded_at = time.monotonic()
        files = self._files
        record = SinkRecord(
            writers=len(files.last_batch),
            batches=files.batches,
            rows=files.rows,
            repeated_batches=files.repeated_batches,
            repeated_rows=files.repeated_rows,
            recent_latency_us=self._recent_latency_us(),
            refused_connections=self._refused,
            invalid_rows=self._invalid,
        )
        with suppress(BadInputError):  # on a full disk the answers count
            record.write(self._run.sink_file)


def main(folder: Path) -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor decides
    run = Run(folder)
    sink, transport = Sink(run), load_transport(run.transport_folder)
    gc.freeze()  # collections need not look at what lives as long as the process: that takes 50 ms and more
    transport.receive(sink.handle, ended, sink.refuse)
    sink.finalize()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except PairsError as error:
        sys.exit(f"sink: {error}")
