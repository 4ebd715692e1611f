"""How far drivers and engine of a run over Kafka are: a memory-mapped file that the processes of its host share.

An array of int64: how many ticks the engine has consumed, how many it has read, and for each of up to 16 drivers how
many ticks it has sent, tickTS of the last, and whether it has closed. Generated programs import this module.
"""

import mmap
from pathlib import Path

import numpy as np

from pairs.transport.ticklog_file import MAX_DRIVERS

CONTROL_FILE = "control"
READY_FILE = "ready"  # beside it, from when on an engine waits for ticks
_BYTES = 8 * (2 + 3 * MAX_DRIVERS)


class Control:
    """The control file of a run."""

    def __init__(self, folder: Path) -> None:
        with (folder / CONTROL_FILE).open("r+b") as file:
            places = np.frombuffer(mmap.mmap(file.fileno(), _BYTES), np.int64)
        self._consumed, self._read = places[:1], places[1:2]
        self._sent, self._tick_ts, self._closed = places[2:].reshape(3, MAX_DRIVERS)

    @property
    def produced(self) -> int:
        """How many ticks were sent."""
        return int(self._sent.sum())

    @property
    def consumed(self) -> int:
        """How many ticks the engine will not ask for again; never more than there are, whatever it says."""
        return min(max(int(self._consumed[0]), 0), self.produced)

    @property
    def read_up_to(self) -> int:
        """How many ticks the engine has read; those that are not consumed it may read again."""
        return min(max(int(self._read[0]), self.consumed), self.produced)

    def is_closed(self, drivers: int) -> bool:
        """Return whether none of the drivers will send more ticks."""
        return bool(self._closed[:drivers].all())

    def tick_ts(self, drivers: int) -> int:
        """Return tickTS of the last tick that the slowest driver has sent; of those that have sent any."""
        return int(self._tick_ts[:drivers].min(where=self._sent[:drivers] > 0, initial=self._tick_ts.max()))

    def mark_sent(self, driver: int, ticks: int, tick_ts: int) -> None:
        self._sent[driver], self._tick_ts[driver] = ticks, tick_ts

    def mark_closed(self, driver: int) -> None:
        self._closed[driver] = 1

    def mark_consumed(self, ticks: int) -> None:
        """Say that so many ticks will not be asked for again."""
        self._consumed[0] = max(ticks, int(self._consumed[0]))

    def mark_read(self, ticks: int) -> None:
        """Say that so many ticks are read; some of them may be asked for again."""
        self._read[0] = ticks


def create_control(folder: Path) -> None:
    (folder / CONTROL_FILE).write_bytes(bytes(_BYTES))
