"""A driver of a run, a process of its own: plays the ticks of a dataset into the transport.

Paced, it is an open loop: each tick is due at start + tickTS / speed, that time is its TS, and it is sent then or as
soon after as the driver can, never waiting for the engine; how long after is recorded. Unpaced (`max`), it writes as
fast as the engine consumes the ticks, never more than a bounded number ahead of it: for correctness only.
"""

import argparse
import gc
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.errors import PairsError
from pairs.dataset.folder import Dataset
from pairs.dataset.reader import TickReader, whole_file
from pairs.generator import virtual  # noqa: F401 - registers the format
from pairs.model.arrivals import due_us
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SLOT_US, AcknowledgedRecord, SendDelayRecord
from pairs.transport.base import TickWriter
from pairs.transport.registry import load_transport
from pairs.transport.tick_records import Records, to_records

_MAX_BACKLOG = 6_000_000  # ticks that the engine has not read, unpaced
_TICKS_AT_A_TIME = 50_000
_PIECES_AHEAD = 4
_PAUSE_S = 0.001
_LEAST_PAUSE_S = 0.0001  # so that the driver never keeps a core busy with looking for ticks
_BATCH_US = 2_000  # at most so much scheduled time is sent at once
_STEP_US = 10  # of the histogram of send delays
_STEPS = 1_000_000  # up to ten seconds in steps; what is later counts as that


def read_pieces(dataset: Dataset, share: Callable[[Records], Records] = lambda records: records) -> Iterator[Records]:
    """Yield the ticks of a driver, some at a time; `share` returns those of the stream that are its own."""
    reader = TickReader(dataset.known_symbols())
    for file in dataset.tick_files():
        for batch in reader.read(whole_file(file)):
            for first in range(0, len(batch), _TICKS_AT_A_TIME):
                yield share(to_records(batch.slice(first, _TICKS_AT_A_TIME)))


def read_ahead(pieces: Iterator[Records]) -> Iterator[Records]:
    """Read pieces in a thread of its own, so that sending never waits for the disk."""
    with ThreadPoolExecutor(1) as reader:
        waiting = deque(reader.submit(next, pieces, None) for _ in range(_PIECES_AHEAD))
        while (piece := waiting.popleft().result()) is not None:
            waiting.append(reader.submit(next, pieces, None))
            yield piece


def now_us() -> int:
    return time.time_ns() // 1000


class SendDelay:
    """Send delays: a histogram of all, and the worst by second of wall time and by slot of scheduled time.

    Also counts the ticks that were due and those that were sent in the measurement interval, us of wall time.
    """

    def __init__(self, start_us: int, interval_us: tuple[int, int] = (0, 0)) -> None:
        self._start_us, self._interval_us = start_us, interval_us
        self.due_in_interval = self.sent_in_interval = 0
        self.steps = np.zeros(_STEPS + 1, np.int64)
        self.seconds: dict[int, tuple[int, int]] = {}
        self.slots: dict[int, int] = {}

    def note(self, sent_us: int, due_us: NDArray[np.int64]) -> None:
        """Note that ticks were sent at a time; they were due in this order, and span less than a slot."""
        begin, end = self._interval_us
        self.due_in_interval += int(np.diff(np.searchsorted(due_us, (begin, end)))[0])
        self.sent_in_interval += len(due_us) if begin <= sent_us < end else 0
        delay = sent_us - due_us
        steps = np.clip(delay // _STEP_US, 0, _STEPS)
        self.steps[: int(steps.max()) + 1] += np.bincount(steps)
        second = sent_us // 1_000_000
        ticks, worst = self.seconds.get(second, (0, 0))
        self.seconds[second] = (ticks + len(delay), max(worst, int(delay[0])))
        for due in due_us[:: max(len(delay) - 1, 1)].tolist():  # first and last
            slot = (due - self._start_us) // SLOT_US
            self.slots[slot] = max(self.slots.get(slot, 0), sent_us - due)

    def record(self, acknowledged_us: Sequence[int] = ()) -> SendDelayRecord:
        """Return what is kept of the delays, and of the time until the transport acknowledged what was sent."""
        return SendDelayRecord(
            ticks=int(self.steps.sum()),
            due_in_interval=self.due_in_interval,
            sent_in_interval=self.sent_in_interval,
            step_us=_STEP_US,
            histogram=[(int(step), int(self.steps[step])) for step in np.flatnonzero(self.steps)],
            seconds=[(second, *values) for second, values in sorted(self.seconds.items())],
            acknowledged=_acknowledged(acknowledged_us),
        )

    def by_slot(self) -> pa.Table:
        """Return the worst delay of every slot in which ticks were due."""
        worst = self.slots.values()
        return pa.table({"slot": pa.array(self.slots, pa.int32()), "delay_us": pa.array(worst, pa.int64())})


def _acknowledged(sample_us: Sequence[int]) -> AcknowledgedRecord | None:
    if not sample_us:
        return None
    p50, p99, worst = np.percentile(sample_us, (50, 99, 100), method="inverted_cdf").tolist()
    return AcknowledgedRecord(sample=len(sample_us), p50_us=p50, p99_us=p99, max_us=worst)


def play_unpaced(pieces: Iterator[Records], writer: TickWriter) -> None:
    for records in pieces:
        while writer.positions.backlog > _MAX_BACKLOG:
            writer.trim()
            time.sleep(_PAUSE_S)
        records["TS"] = now_us()
        writer.append(records)


def play_paced(
    pieces: Iterator[Records],
    writer: TickWriter,
    start_us: int,
    speed: float,
    interval_ms: tuple[int, int] = (0, 0),
    clock: Callable[[], int] = now_us,
    sleep: Callable[[float], None] = time.sleep,
) -> SendDelay:
    """Send every tick when it is due, whatever the engine does; return how long after that it was sent."""
    begin, end = due_us(start_us, np.array(interval_ms), speed).tolist()
    delay = SendDelay(start_us, (begin, end))
    for records in pieces:
        due = due_us(start_us, records["tickTS"], speed)
        records["TS"] = due
        place = 0
        while place < len(records):
            now, most = clock(), int(due[place]) + _BATCH_US
            end = int(np.searchsorted(due, min(now, most), side="right"))
            if end > place:
                writer.append(records[place:end])
                delay.note(clock(), due[place:end])
                place = end
            if now <= most:  # all that was due is sent; what is due within a millisecond goes together
                writer.trim()
                sleep(max(_PAUSE_S - (clock() - now) / 1e6, _LEAST_PAUSE_S))
    return delay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--driver", type=int, default=0, help="which of several drivers this is")
    parser.add_argument("--speed", type=float, help="simulated seconds per wall second; default: unpaced")
    parser.add_argument("--start", type=int, help="when tickTS 0 is due, us of wall time")
    parser.add_argument("--interval", type=int, nargs=2, default=(0, 0), help="measurement interval, simulated ms")
    given = parser.parse_args()
    run = Run(given.run)
    transport = load_transport(run.transport_folder)
    gc.disable()
    delay = None
    with transport.writer(given.driver) as writer:
        pieces = read_ahead(read_pieces(Dataset(given.dataset), writer.share))
        if given.speed is None:
            play_unpaced(pieces, writer)
        else:
            delay = play_paced(pieces, writer, given.start, given.speed, tuple(given.interval))
    if delay is not None:
        run.write_parquet(run.send_delay_file(given.driver), delay.by_slot())
        delay.record(writer.acknowledged_us).write(run.driver_file(given.driver), indent=None)


if __name__ == "__main__":
    try:
        main()
    except PairsError as error:
        print(f"pairs: {error}", file=sys.stderr, flush=True)
        os._exit(error.exit_code)  # Arrow's own threads may still read ahead, and abort an ordinary exit
