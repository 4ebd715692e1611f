"""Keeps how many ticks were produced and consumed, second by second, and tells when an engine cannot go on."""

import time
from bisect import bisect_right
from collections.abc import Callable

import pyarrow as pa

from pairs.transport.base import Positions

THROUGHPUT = pa.schema(
    {
        "time": pa.int64(),  # us of wall time
        "produced": pa.int64(),  # ticks that the drivers have sent so far
        "consumed": pa.int64(),  # ticks that the engine has read so far
    }
)

_EVERY_S = 1.0


class Throughput:
    """How far drivers and engine were."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._noted_at = float("-inf")
        self._progress: list[tuple[float, int]] = []  # when the engine first read ticks and when it last read new ones
        self._position = 0  # of the engine; after a crash it goes back, and that is progress, too
        self._waiting_since: float | None = None  # since when the engine has had ticks to consume and consumed none
        self._rows: list[dict[str, int]] = []

    def note(self, positions: Positions, force: bool = False) -> None:
        """Note how far all are; a row is kept every second, or if forced."""
        now = self._clock()
        if positions.read and (not self._progress or positions.read > self._progress[-1][1]):
            self._progress[1:] = [(now, positions.read)]
        if positions.read != self._position:
            self._position, self._waiting_since = positions.read, None
        if positions.backlog <= 0:
            self._waiting_since = None
        elif self._waiting_since is None:
            self._waiting_since = now
        if force or now - self._noted_at >= _EVERY_S:
            self._noted_at = now
            now_us = time.time_ns() // 1000
            self._rows.append({"time": now_us, "produced": positions.produced, "consumed": positions.read})

    @property
    def engine_told(self) -> bool:
        """Whether the engine ever said what it had consumed."""
        return bool(self._progress)

    def engine_restarted(self) -> None:
        """Begin anew to wait for the engine: it has to start before it can consume anything."""
        if self._waiting_since is not None:
            self._waiting_since = self._clock()

    def ticks_per_second(self) -> float | None:
        """Return the throughput of the engine between its first and its last progress."""
        if len(self._progress) < 2:
            return None
        (first, consumed_first), (last, consumed_last) = self._progress
        return (consumed_last - consumed_first) / (last - first)

    def stalled_s(self) -> float:
        """Return for how long the engine has consumed nothing although there were ticks."""
        return 0.0 if self._waiting_since is None else self._clock() - self._waiting_since

    def behind_s(self) -> float:
        """Return how long ago the ticks were produced that the engine would have to consume next, to a second."""
        consumed = self._rows[-1]["consumed"] if self._rows else 0
        first_waiting = bisect_right(self._rows, consumed, key=lambda row: row["produced"])
        if first_waiting == len(self._rows):
            return 0.0
        return (self._rows[-1]["time"] - self._rows[first_waiting]["time"]) / 1e6

    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self._rows, THROUGHPUT)
