"""Ticks as records of 48 bytes: what drivers hand to a transport, and what the tick log holds.

Generated programs import this module: of the kit it needs only the tuples.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
COLUMNS = ("seq", "symbol", "price", "size", "tickTS", "TS")

Records = NDArray[Any]


def to_records(ticks: pa.RecordBatch) -> Records:
    """Turn ticks of a dataset, whose symbols are a dictionary, into records; seq and TS are set when they are sent."""
    records = np.zeros(len(ticks), RECORD)
    names = [name.encode() for name in ticks["symbol"].dictionary.to_pylist()]
    records["symbol"] = np.array(names, f"S{SYMBOL_BYTES}")[ticks["symbol"].indices.to_numpy()]
    for name in ("price", "size", "tickTS"):
        records[name] = ticks[name].to_numpy()
    return records


def to_arrow(records: Records) -> pa.RecordBatch:
    columns = {name: pa.array(np.ascontiguousarray(records[name])) for name in COLUMNS if name != "symbol"}
    columns["symbol"] = _strings(records["symbol"])
    return pa.record_batch([columns[name] for name in COLUMNS], names=list(COLUMNS))


def _strings(symbols: Records) -> pa.Array:
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
