"""The driver of a run, a process of its own: plays the ticks of a dataset into the tick log.

Arguments: the dataset and the log. It writes as fast as the engine takes the ticks, never more than a bounded number
ahead of it: for correctness only.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from pairs.dataset import Dataset
from pairs.errors import BadInputError
from pairs.harness.ticklog import RECORD, SYMBOL_BYTES, Records, TickLogWriter
from pairs.tickfiles import read_ticks

_MOST_AHEAD = 6_000_000  # ticks in the log that the engine has not taken; 288 MB
_TICKS_AT_A_TIME = 50_000
_PAUSE_S = 0.001


def records_of(batch: pa.RecordBatch) -> Records:
    """Turn ticks of a dataset into records of the log, without their wall time."""
    records = np.zeros(len(batch), RECORD)
    names = [name.encode() for name in batch["symbol"].dictionary.to_pylist()]
    too_long = next((name for name in names if len(name) > SYMBOL_BYTES or b"\0" in name), None)
    if too_long is not None:
        raise BadInputError(f"symbol {too_long.decode()!r}: longer than {SYMBOL_BYTES} bytes, which the tick log holds")
    records["symbol"] = np.array(names, f"S{SYMBOL_BYTES}")[batch["symbol"].indices.to_numpy()]
    for name in ("price", "size", "tickTS"):
        records[name] = batch[name].to_numpy()
    return records


def pieces_of(dataset: Dataset) -> Iterator[Records]:
    """Yield the ticks of a dataset as records, some at a time."""
    for file in dataset.tick_files():
        for batch in read_ticks(file):
            for first in range(0, len(batch), _TICKS_AT_A_TIME):
                yield records_of(batch.slice(first, _TICKS_AT_A_TIME))


def play_unpaced(dataset: Dataset, log: TickLogWriter) -> None:
    """Write all ticks, as fast as the engine takes them."""
    for records in pieces_of(dataset):
        while log.written - log.done > _MOST_AHEAD:
            log.remove_done()
            time.sleep(_PAUSE_S)
        records["TS"] = time.time_ns() // 1000
        log.append(records)


def main(dataset: Path, log: Path) -> None:
    """Play a dataset into a new log and close it."""
    with TickLogWriter(log) as target:
        play_unpaced(Dataset(dataset), target)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except BadInputError as error:
        sys.exit(f"pairs: {error}")
