"""The tick log: how ticks reach an engine. Append-only, memory-mapped, cut into segments, readable from any position.

A tick is a record of 48 bytes, found by its number in the stream. One driver writes it, or several in turns: with N of
them, driver k writes ticks k, k + N, k + 2 N and so on. Any number of processes read. The control file holds how far
each driver is, which of them have ended, and how many ticks the engine is done with; segments that it is done with can
be removed, so that the log of a run of any length stays small.
"""

import json
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, PairsError
from pairs.model.tuples import SYMBOL_BYTES

RECORD = np.dtype(
    [
        ("symbol", f"S{SYMBOL_BYTES}"),
        ("seq", "<i8"),
        ("price", "<i4"),
        ("size", "<i4"),
        ("tickTS", "<i8"),
        ("TS", "<i8"),
    ]
)
_SEGMENT_RECORDS = 1_000_000
MOST_DRIVERS = 16
_DONE = 0  # places in the control file: what the engine is done with; then the next tick of each driver; then who ended
_NEXT = 1
_ENDED = _NEXT + MOST_DRIVERS
_CONTROL_BYTES = 8 * (_ENDED + MOST_DRIVERS)

Records = NDArray[Any]


class _Log:
    """What writer and reader share: the paths and the control file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with (path / "control").open("r+b") as control:
            self._mapped = mmap.mmap(control.fileno(), _CONTROL_BYTES)
        self._control = np.frombuffer(self._mapped, np.int64)
        facts = json.loads((path / "log.json").read_text())
        self._segment_records, self._drivers = int(facts["segment_records"]), int(facts["drivers"])

    @property
    def written(self) -> int:
        """How many ticks there are, without a gap."""
        return int(self._control[_NEXT : _NEXT + self._drivers].min())

    @property
    def closed(self) -> bool:
        """Whether no more ticks will come."""
        return bool(self._control[_ENDED : _ENDED + self._drivers].all())

    @property
    def done(self) -> int:
        """How many ticks the engine will not ask for again."""
        return int(self._control[_DONE])

    def _segment_file(self, number: int) -> Path:
        return self.path / f"segment-{number:08d}"


def create_log(path: Path, drivers: int = 1, segment_records: int = _SEGMENT_RECORDS) -> None:
    """Create an empty log for so many drivers."""
    path.mkdir(parents=True)
    control = np.zeros(_CONTROL_BYTES // 8, np.int64)
    control[_NEXT : _NEXT + drivers] = np.arange(drivers)
    (path / "control").write_bytes(control.tobytes())
    facts = {
        "format_version": 1,
        "record_bytes": RECORD.itemsize,
        "segment_records": segment_records,
        "drivers": drivers,
    }
    (path / "log.json").write_text(json.dumps(facts))


class TickLogWriter(_Log):
    """Writes the ticks of one driver, as a context: ended with it, so that readers know that nothing follows."""

    def __init__(self, path: Path, driver: int = 0) -> None:
        super().__init__(path)
        self._driver = driver
        self._next = driver
        self._segment_number = -1
        self._segment = np.empty(0, RECORD)
        self._removed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def append(self, records: Records) -> None:
        """Add the next ticks of this driver. They are numbered here; readers see them when all of them are there."""
        step, first = self._drivers, self._next
        records["seq"] = np.arange(first, first + step * len(records), step)
        done = 0
        while done < len(records):
            number, place = divmod(first + step * done, self._segment_records)
            if number != self._segment_number:
                self._segment, self._segment_number = self._open_segment(number), number
            count = min(len(records) - done, -(-(self._segment_records - place) // step))
            self._segment[place : place + step * count : step] = records[done : done + count]
            done += count
        self._next = first + step * len(records)
        self._control[_NEXT + self._driver] = self._next

    def close(self) -> None:
        """Say that no more ticks will come from this driver."""
        self._control[_ENDED + self._driver] = 1

    def remove_done(self) -> None:
        """Remove the segments that the engine is done with."""
        while self._removed < self.done // self._segment_records:
            self._segment_file(self._removed).unlink(missing_ok=True)
            self._removed += 1

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


class TickLogReader(_Log):
    """Reads a tick log from any position."""

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(path)
        except (OSError, ValueError) as error:
            raise BadInputError(f"{path}: no tick log there: {error}; start the driver first") from None
        self._mapped_segments: dict[int, Records] = {}

    def read(self, first: int, end: int) -> Iterator[Records]:
        """Yield ticks [first, end) in order, without copying; every piece lies in one segment."""
        while first < end:
            number, place = divmod(first, self._segment_records)
            count = min(end - first, self._segment_records - place)
            yield self._segment(number)[place : place + count]
            first += count

    def mark_done(self, end: int) -> None:
        """Say that ticks before this position will not be asked for again."""
        self._control[_DONE] = max(end, self.done)

    def _segment(self, number: int) -> Records:
        if number not in self._mapped_segments:
            for old in [one for one in self._mapped_segments if one < number - 1]:
                with suppress(BufferError):
                    del self._mapped_segments[old]
            try:
                with self._segment_file(number).open("rb") as file:
                    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except OSError as error:
                raise PairsError(
                    f"{self._segment_file(number)}: {error.strerror}; its ticks were marked as done"
                ) from None
            self._mapped_segments[number] = np.frombuffer(mapped, RECORD)
        return self._mapped_segments[number]


def to_arrow(records: Records) -> pa.RecordBatch:
    """Turn records of the log into columns."""
    columns = {name: pa.array(np.ascontiguousarray(records[name])) for name in RECORD.names or () if name != "symbol"}
    symbol = _texts(records["symbol"])
    return pa.record_batch(
        [columns["seq"], symbol, *(columns[name] for name in ("price", "size", "tickTS", "TS"))],
        names=["seq", "symbol", "price", "size", "tickTS", "TS"],
    )


def _texts(symbols: Records) -> pa.Array:
    """Turn symbols, padded with zeros, into strings of their own lengths, all at once."""
    letters = np.ascontiguousarray(symbols).view(np.uint8).reshape(-1, SYMBOL_BYTES)
    length = len(symbols[0]) if len(symbols) else 0
    if length and letters[:, length - 1].all() and not letters[:, length : length + 1].any():
        offsets = np.arange(0, (len(symbols) + 1) * length, length, dtype=np.int32)
        data = np.ascontiguousarray(letters[:, :length])
    else:  # not all of the same length
        used = letters != 0
        offsets = np.append(0, np.cumsum(used.sum(axis=1))).astype(np.int32)
        data = letters[used]
    return pa.StringArray.from_buffers(len(symbols), pa.py_buffer(offsets), pa.py_buffer(data))
