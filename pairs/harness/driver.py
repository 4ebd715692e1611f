"""A driver of a run, a process of its own: plays the ticks of a dataset into the tick log.

Paced, it is an open loop: each tick is due at start + tickTS / speed, that time is its TS, and it is sent then or as
soon after as the driver can, never waiting for the engine. How late it was is recorded. Unpaced (`max`), it writes as
fast as the engine takes the ticks, never more than a bounded number ahead of it: for correctness only.
"""

import argparse
import gc
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.dataset.reader import TickReader, whole_file
from pairs.model.tuples import SYMBOL_BYTES
from pairs.run_folder.folder import Run
from pairs.transport.ticklog import RECORD, Records, TickLogWriter

_MOST_AHEAD = 6_000_000  # ticks in the log that the engine has not taken, unpaced; 288 MB
_TICKS_AT_A_TIME = 50_000
_PIECES_AHEAD = 4
_PAUSE_S = 0.001
_BATCH_US = 2_000  # at most so much scheduled time is sent at once
SLOT_US = 10_000  # of scheduled time, for which the worst lateness is kept
_LATENESS_STEP_US = 10
_LATENESS_STEPS = 1_000_000  # up to ten seconds in steps; what is later counts as that


def records_of(batch: pa.RecordBatch) -> Records:
    """Turn ticks of a dataset into records of the log, without their wall time."""
    records = np.zeros(len(batch), RECORD)
    names = [name.encode() for name in batch["symbol"].dictionary.to_pylist()]
    records["symbol"] = np.array(names, f"S{SYMBOL_BYTES}")[batch["symbol"].indices.to_numpy()]
    for name in ("price", "size", "tickTS"):
        records[name] = batch[name].to_numpy()
    return records


def pieces_of(dataset: Dataset, driver: int = 0, drivers: int = 1) -> Iterator[Records]:
    """Yield the ticks of one of several drivers as records, some at a time: every `drivers`-th of the stream."""
    position = 0
    reader = TickReader(dataset.known_symbols())
    for file in dataset.tick_files():
        for batch in reader.read(whole_file(file)):
            for first in range(0, len(batch), _TICKS_AT_A_TIME):
                piece = batch.slice(first, _TICKS_AT_A_TIME)
                own = (driver - position) % drivers
                position += len(piece)
                yield records_of(piece)[own::drivers]


def read_ahead(pieces: Iterator[Records]) -> Iterator[Records]:
    """Read pieces in a thread of its own, so that sending never waits for the disk."""
    waiting: queue.Queue[Records | BaseException | None] = queue.Queue(_PIECES_AHEAD)

    def read() -> None:
        try:
            for piece in pieces:
                waiting.put(piece)
            waiting.put(None)
        except BaseException as error:  # noqa: BLE001 - carried to the sender
            waiting.put(error)

    threading.Thread(target=read, daemon=True).start()
    while (piece := waiting.get()) is not None:
        if isinstance(piece, BaseException):
            raise piece
        yield piece


@dataclass
class Lateness:
    """How late ticks were sent: a histogram of all, and the worst by second and by slot of scheduled time."""

    start_us: int
    steps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_LATENESS_STEPS + 1, np.int64))
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)
    slots: dict[int, int] = field(default_factory=dict)  # of scheduled time: the worst lateness of their ticks, us

    def note(self, sent_us: int, scheduled_us: NDArray[np.int64]) -> None:
        """Note that ticks were sent at a time."""
        late = sent_us - scheduled_us
        steps = np.clip(late // _LATENESS_STEP_US, 0, _LATENESS_STEPS)
        self.steps[: int(steps.max()) + 1] += np.bincount(steps)
        second = sent_us // 1_000_000
        ticks, worst = self.seconds.get(second, (0, 0))
        self.seconds[second] = (ticks + len(late), max(worst, int(late[0])))
        for scheduled in scheduled_us[:: max(len(late) - 1, 1)].tolist():  # of first and last: less than a slot apart
            slot = (scheduled - self.start_us) // SLOT_US
            self.slots[slot] = max(self.slots.get(slot, 0), sent_us - scheduled)

    def as_plain(self) -> dict[str, object]:
        """Return what is kept of it."""
        used = np.flatnonzero(self.steps)
        return {
            "ticks": int(self.steps.sum()),
            "step_us": _LATENESS_STEP_US,
            "histogram": [[int(step), int(self.steps[step])] for step in used],
            "seconds": [[second, *values] for second, values in sorted(self.seconds.items())],
        }

    def by_slot(self) -> pa.Table:
        """Return the worst lateness of every slot in which ticks were due."""
        slots = {"slot": pa.array(self.slots, pa.int32()), "late_us": pa.array(self.slots.values(), pa.int64())}
        return pa.table(slots)


def play_unpaced(pieces: Iterator[Records], log: TickLogWriter) -> None:
    """Write all ticks, as fast as the engine takes them."""
    for records in pieces:
        while log.written - log.done > _MOST_AHEAD:
            log.remove_done()
            time.sleep(_PAUSE_S)
        records["TS"] = now_us()
        log.append(records)


def now_us() -> int:
    """Return the wall time in microseconds."""
    return time.time_ns() // 1000


def play_paced(
    pieces: Iterator[Records],
    log: TickLogWriter,
    start_us: int,
    speed: float,
    clock: Callable[[], int] = now_us,
    sleep: Callable[[float], None] = time.sleep,
) -> Lateness:
    """Send every tick when it is due, whatever the engine does; return how late that was."""
    lateness = Lateness(start_us)
    for records in pieces:
        scheduled = start_us + np.rint(records["tickTS"] * (1000 / speed)).astype(np.int64)
        records["TS"] = scheduled
        place = 0
        while place < len(records):
            now = clock()
            end = int(np.searchsorted(scheduled, min(now, int(scheduled[place]) + _BATCH_US), side="right"))
            if end <= place:
                log.remove_done()
                sleep(_PAUSE_S)  # and no less: ticks that are due within a millisecond go together
                continue
            log.append(records[place:end])
            lateness.note(clock(), scheduled[place:end])
            place = end
    return lateness


def main() -> None:
    """Play a dataset into a log and end it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--driver", type=int, default=0, help="which of several drivers this is")
    parser.add_argument("--drivers", type=int, default=1)
    parser.add_argument("--speed", type=float, help="simulated seconds per wall second; default: unpaced")
    parser.add_argument("--start", type=int, help="when tickTS 0 is due, us of wall time")
    parser.add_argument("--run", type=Path, help="folder of the run, for how late ticks were sent")
    given = parser.parse_args()
    pieces = read_ahead(pieces_of(Dataset(given.dataset), given.driver, given.drivers))
    gc.disable()
    with TickLogWriter(given.log, given.driver) as log:
        if given.speed is None:
            play_unpaced(pieces, log)
        else:
            lateness = play_paced(pieces, log, given.start, given.speed)
            run = Run(given.run)
            run.write_parquet(run.lateness_file(given.driver), lateness.by_slot())
            run.write_json(run.driver_file(given.driver), lateness.as_plain(), indent=None)


if __name__ == "__main__":
    try:
        main()
    except BadInputError as error:
        print(f"pairs: {error}", file=sys.stderr, flush=True)
        os._exit(error.exit_code)  # Arrow's own threads may still read ahead, and abort an ordinary exit
