"""The tick log on disk: append-only, memory-mapped, cut into segments, readable from any position.

A tick is a record, found by its number in the stream. One driver writes them, or several in turns: with N of them,
driver k writes ticks k, k + N, k + 2 N and so on. Any number of processes read. The control file holds the layout, how
far each driver is, which of them have closed, and how many ticks the engine has consumed; segments that are consumed
can be removed, so that the log of a run of any length stays small. Generated programs import this module.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pairs.core.errors import BadInputError, PairsError
from pairs.transport.tick_records import RECORD, Records

_FORMAT = 2
_DEFAULT_SEGMENT_RECORDS = 1_000_000
MAX_DRIVERS = 16

# Places in the control file, an array of int64.
_VERSION, _SEGMENT_RECORDS, _DRIVERS, CONSUMED, NEXT = range(5)
CLOSED = NEXT + MAX_DRIVERS  # NEXT: the next tick of each driver; CLOSED: whether it has closed
_CONTROL_BYTES = 8 * (CLOSED + MAX_DRIVERS)


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
        with (path / "control").open("r+b") as control:
            self._control = np.frombuffer(mmap.mmap(control.fileno(), _CONTROL_BYTES), np.int64)
        if self._control[_VERSION] != _FORMAT:
            raise ValueError(f"its format is {self._control[_VERSION]} and not {_FORMAT}")
        self._segment_records, self._drivers = int(self._control[_SEGMENT_RECORDS]), int(self._control[_DRIVERS])

    @property
    def produced(self) -> int:
        """How many ticks there are, without a gap."""
        return int(self._control[NEXT : NEXT + self._drivers].min())

    @property
    def consumed(self) -> int:
        """How many ticks the engine will not ask for again."""
        return int(self._control[CONSUMED])

    @property
    def closed(self) -> bool:
        """Whether no more ticks will come."""
        return bool(self._control[CLOSED : CLOSED + self._drivers].all())

    def _segment_file(self, number: int) -> Path:
        return self.path / f"segment-{number:08d}"


class TickLogReader(TickLog):
    """Reads a tick log from any position."""

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(path)
        except (OSError, ValueError) as error:
            raise BadInputError(f"{path}: no tick log there: {error}; start the driver first") from None
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
            path = self._segment_file(number)
            try:
                with path.open("rb") as file:
                    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except OSError as error:
                raise PairsError(f"{path}: {error.strerror}; its ticks were marked as consumed") from None
            self._segments[number] = np.frombuffer(mapped, RECORD)
        return self._segments[number]
