"""Ticks in blocks of records, as they are in a tick log: Spark need not take every tick apart on its way."""

import numpy as np
import pyarrow as pa

RECORD = np.dtype(
    [("symbol", "S16"), ("seq", "<i8"), ("price", "<i4"), ("size", "<i4"), ("tickTS", "<i8"), ("TS", "<i8")]
)
SHARD_SCHEMA = "shard INT, source INT, seq LONG, last LONG, count LONG, ticks BINARY"
SCHEMA = "source INT, seq LONG, last LONG, count LONG, ticks BINARY"
COLUMNS = ["source", "seq", "last", "count", "ticks"]


def pack(batches):
    """Put the ticks of each batch, rows that came by one partition, into one block."""
    for batch in batches:
        if batch.num_rows:
            records = np.zeros(batch.num_rows, RECORD)
            records["symbol"] = np.array(batch["symbol"].cast(pa.binary()).to_pylist(), "S16")
            for name in ("seq", "price", "size", "tickTS", "TS"):
                records[name] = batch[name].to_numpy()
            first, last = (int(records["seq"][place]) for place in (0, -1))
            source = pa.array([batch["source"][0].as_py()], pa.int32())
            row = [pa.array([value]) for value in (first, last, len(records), records.tobytes())]
            yield pa.record_batch([source, *row], COLUMNS)


def for_shards(batch, keys, needed):
    """Yield each block of a batch for every shard, by its key, with the ticks that the shard needs.

    `needed` returns for each shard which of some ticks that are.
    """
    sources = batch["source"].to_pylist() if "source" in batch.schema.names else [0] * batch.num_rows
    for source, block in zip(sources, batch["ticks"], strict=True):
        ticks = np.frombuffer(block.as_buffer(), RECORD)
        numbers = source, int(ticks["seq"][0]), int(ticks["seq"][-1]), len(ticks)
        columns = [keys, *([number] * len(keys) for number in numbers), [ticks[own].tobytes() for own in needed(ticks)]]
        kinds = pa.int32(), pa.int32(), pa.int64(), pa.int64(), pa.int64(), pa.binary()
        arrays = [pa.array(*column) for column in zip(columns, kinds, strict=True)]
        yield pa.record_batch(arrays, ["shard", *COLUMNS])
