"""The answers of a run on disk: Arrow streams that are readable at any time, and Parquet files in the end."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pairs.core.errors import BadInputError, PairsError
from pairs.core.files import atomic_write
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.transport.base import Arrival

_ROWS_OF_A_GROUP = 250_000
_MAX_BATCHES = 1_000


class AnswerFiles:
    """Records every batch of every writer once, and counts those that came again."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files = {stream: pa.OSFile(str(_raw_file(run, stream)), "wb") for stream in STREAMS}
        self._streams = {
            name: pa.ipc.new_stream(self._files[name], stream.recorded_schema) for name, stream in STREAMS.items()
        }
        self._last_batch: dict[int, int] = {}  # of each writer
        self.rows = dict.fromkeys(STREAMS, 0)
        self.batches = 0
        self.repeated_rows = dict.fromkeys(STREAMS, 0)
        self.repeated_batches = 0

    @property
    def writers(self) -> int:
        """How many writers have sent answers."""
        return len(self._last_batch)

    def add(self, arrival: Arrival) -> bool:
        """Add a batch; return whether it was not there yet."""
        if arrival.batch <= self._last_batch.get(arrival.writer, -1):
            self.repeated_batches += 1
            for stream, rows in arrival.streams.items():
                self.repeated_rows[stream] += len(rows)
            return False
        for stream, rows in arrival.streams.items():
            self._add(stream, rows, arrival.arrived_us)
        self._last_batch[arrival.writer] = arrival.batch
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
        raw = _raw_file(run, name)
        if raw.exists():
            with (
                atomic_write(run.answers_file(name)) as partial,
                pq.ParquetWriter(partial, stream.recorded_schema) as target,
            ):
                for group in _groups(raw):
                    target.write_table(group)
            raw.unlink()


def _raw_file(run: Run, stream: str) -> Path:
    return run.path / f"{stream}.arrows"


def _groups(raw: Path) -> Iterator[pa.Table]:
    """Yield the batches of a stream, some together, up to its end or to where it is cut off."""
    group: list[pa.RecordBatch] = []
    rows = 0
    with pa.OSFile(str(raw)) as source, suppress(pa.ArrowException, OSError):
        for batch in pa.ipc.open_stream(source):
            group.append(batch)
            rows += len(batch)
            if rows >= _ROWS_OF_A_GROUP:
                yield pa.Table.from_batches(group)
                group, rows = [], 0
            elif len(group) >= _MAX_BATCHES:  # each takes some kilobytes, however small it is
                group = pa.Table.from_batches(group).combine_chunks().to_batches()
    if group:
        yield pa.Table.from_batches(group)
