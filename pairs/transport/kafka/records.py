"""Ticks and answers as records of Kafka: text, a record a tick and a record an answer.

Free text, a symbol or the name of a strategy, is the key or comes last in a value, so that no name needs quoting.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pairs.model.streams import STREAMS
from pairs.transport.answer_lines import InvalidLineError, answers_table
from pairs.transport.tick_records import RECORD, Records

TICK_COLUMNS = ("seq", "price", "size", "tickTS", "TS")  # of the value; the key is the symbol
ANSWER_COLUMNS = {  # of the value; the key is the strategy
    "indicators": ("ratio", "avgRatio", "upperBand", "lowerBand", "inputTickTS", "inputTS"),
    "orders": ("type", "price", "size", "inputTickTS", "inputTS", "symbol"),
}
_SEED, _M, _R, _MASK = 0x9747B28C, 0x5BD1E995, 24, 0xFFFFFFFF


def tick_values(ticks: Records) -> Iterator[bytes]:
    """Yield the value of every tick."""
    columns = (ticks[name].tolist() for name in TICK_COLUMNS)
    return (b"%d,%d,%d,%d,%d" % row for row in zip(*columns, strict=True))


def read_ticks(keys: Sequence[bytes], values: Sequence[bytes]) -> Records:
    ticks = np.zeros(len(keys), RECORD)
    ticks["symbol"] = keys
    rows = np.fromiter((int(number) for value in values for number in value.split(b",")), np.int64)
    for name, column in zip(TICK_COLUMNS, rows.reshape(-1, len(TICK_COLUMNS)).T, strict=True):
        ticks[name] = column
    return ticks


def answer_values(stream: str, answers: pa.Table) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and value of every answer; doubles are written so that they read back the same."""
    columns = (answers[name].to_pylist() for name in ANSWER_COLUMNS[stream])
    for strategy, *row in zip(answers["strategy"].to_pylist(), *columns, strict=True):
        yield strategy.encode(), ",".join(map(_show, row)).encode()


def _show(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def read_answers(stream: str, records: Iterable[tuple[bytes | None, bytes | None]]) -> pa.Table:
    """Read answers by key and value, all at once; the error names a record only if there is no other."""
    names = ("strategy", *ANSWER_COLUMNS[stream])
    order = [names.index(name) for name in STREAMS[stream].schema.names]
    rows = []
    for key, value in records:
        try:
            row = [(key or b"").decode(), *(value or b"").decode().split(",", len(names) - 2)]
        except UnicodeDecodeError:
            raise InvalidLineError("is not UTF-8", stream) from None
        if len(row) != len(names):
            raise InvalidLineError(f"has {len(row) - 1} values, not {len(names) - 1} for {','.join(names[1:])}", stream)
        rows.append([row[place] for place in order])
    return answers_table(stream, rows)


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition of a key as Kafka's Java client chooses it: by murmur2."""
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def _murmur2(key: bytes) -> int:
    found = (_SEED ^ len(key)) & _MASK
    whole = len(key) // 4 * 4
    for place in range(0, whole, 4):
        word = int.from_bytes(key[place : place + 4], "little") * _M & _MASK
        word = (word ^ word >> _R) * _M & _MASK
        found = (found * _M & _MASK) ^ word
    if rest := key[whole:]:
        found = (found ^ int.from_bytes(rest, "little")) * _M & _MASK
    found = (found ^ found >> 13) * _M & _MASK
    return found ^ found >> 15
