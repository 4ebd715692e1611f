"""The tick log on disk: append-only, memory-mapped, cut into segments, readable from any position.

A tick is a record, found by its number in the stream. One driver writes them, or several in turns: with N of them,
driver k writes ticks k, k + N, k + 2 N and so on. Any number of processes read. The control file holds the layout, how
far each driver is, which of them have closed, how many ticks the engine has consumed and how many it has read; segments
that are consumed can be removed, so that the log of a run of any length stays small.

Generated programs import this module.
"""

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pairs.core.errors import BadInputError, PairsError
from pairs.transport.tick_records import RECORD, Records

_FORMAT = 3
_DEFAULT_SEGMENT_RECORDS = 1_000_000
_MOST_SEGMENT_RECORDS = 10_000_000  # half a gigabyte
MAX_DRIVERS = 16

# Places in the control file, an array of int64.
_VERSION, _SEGMENT_RECORDS, _DRIVERS, CONSUMED, NEXT = range(5)
CLOSED = NEXT + MAX_DRIVERS  # NEXT: the next tick of each driver; CLOSED: whether it has closed
READ = CLOSED + MAX_DRIVERS
_CONTROL_BYTES = 8 * (READ + 1)


def create_log(path: Path, drivers: int = 1, segment_records: int = _DEFAULT_SEGMENT_RECORDS) -> None:
    path.mkdir(parents=True)
    control = np.zeros(_CONTROL_BYTES // 8, np.int64)
    control[[_VERSION, _SEGMENT_RECORDS, _DRIVERS]] = _FORMAT, segment_records, drivers
    control[NEXT : NEXT + drivers] = np.arange(drivers)
    (path / "control").write_bytes(control.tobytes())


class TickLog:
    """What writer and reader share: the paths and the control file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._open_control()
        except (OSError, ValueError) as error:
            raise BadInputError(f"{path}: no tick log there: {error}; start the driver first") from None

    def _open_control(self) -> None:
        with (self.path / "control").open("r+b") as control:
            self._control = np.frombuffer(mmap.mmap(control.fileno(), _CONTROL_BYTES), np.int64)
        if self._control[_VERSION] != _FORMAT:
            raise ValueError(f"its format is {self._control[_VERSION]} and not {_FORMAT}")
        self._segment_records, self._drivers = int(self._control[_SEGMENT_RECORDS]), int(self._control[_DRIVERS])
        valid = 1 <= self._segment_records <= _MOST_SEGMENT_RECORDS and 1 <= self._drivers <= MAX_DRIVERS
        if not valid or self.produced < 0:
            raise ValueError("its control file is damaged")

    @property
    def produced(self) -> int:
        """How many ticks there are, without a gap."""
        return int(self._control[NEXT : NEXT + self._drivers].min())

    @property
    def consumed(self) -> int:
        """How many ticks the engine will not ask for again; never more than there are, whatever it says."""
        return min(max(int(self._control[CONSUMED]), 0), self.produced)

    @property
    def read_up_to(self) -> int:
        """How many ticks the engine has read; those that are not consumed it may read again."""
        return min(max(int(self._control[READ]), self.consumed), self.produced)

    @property
    def closed(self) -> bool:
        """Whether no more ticks will come."""
        return bool(self._control[CLOSED : CLOSED + self._drivers].all())

    def _segment_file(self, number: int) -> Path:
        return self.path / f"segment-{number:08d}"

    def _map_segment(self, number: int, access: int) -> Records:
        path, size = self._segment_file(number), self._segment_records * RECORD.itemsize
        with path.open("rb" if access == mmap.ACCESS_READ else "r+b") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise PairsError(f"{path}: has {found:,} bytes, not {size:,}, and is damaged; start the run again")
            return np.frombuffer(mmap.mmap(file.fileno(), size, access=access), RECORD)


class TickLogReader(TickLog):
    """Reads a tick log from any position."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._segments: dict[int, Records] = {}

    def read(self, first: int, end: int) -> Iterator[Records]:
        """Yield ticks [first, end) in order, without copying; every piece lies in one segment."""
        while first < end:
            number, place = divmod(first, self._segment_records)
            count = min(end - first, self._segment_records - place)
            yield self._segment(number)[place : place + count]
            first += count

    def mark_consumed(self, end: int) -> None:
        """Say that ticks before this position will not be asked for again."""
        self._control[CONSUMED] = max(end, self.consumed)

    def _segment(self, number: int) -> Records:
        if number not in self._segments:
            self._segments = {old: records for old, records in self._segments.items() if old >= number - 1}
            try:
                self._segments[number] = self._map_segment(number, mmap.ACCESS_READ)
            except OSError as error:
                path = self._segment_file(number)
                raise PairsError(f"{path}: {error.strerror}; its ticks were marked as consumed") from None
        return self._segments[number]
