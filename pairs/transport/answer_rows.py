"""Answers as rows of 64 bytes: what a fast program in any language can send to the sink, without Arrow.

A connection begins with all names, of strategies and of symbols, and goes on with rows that refer to them by their
places. Rows of a strategy are numbered from 0 up, across connections and restarts: what comes again is recognised. A
number below 0 says that a row is not numbered. docs/targets.md has the format byte by byte.
"""

import struct
import threading
import time
from collections.abc import Iterator
from io import BufferedReader

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.model.streams import INDICATORS, ORDERS

MAGIC = b"PAIRS\x00\x00\x03"
HEADER = struct.Struct("<8sii")  # magic, number of names, bytes of all names
_LENGTH = struct.Struct("<H")  # of a name, before it
_MOST_NAMES = 10_000_000
_MOST_NAME_BYTES = 1 << 28
_READ_BYTES = 1 << 18
_INDICATOR, _BUY, _SELL = range(3)
_TYPES = pa.array(["", "BUY", "SELL"])

_FIELDS = {  # where each begins; an order has its symbol, price and size where an indicator has its doubles
    "kind": ("<i4", 0),
    "strategy": ("<i4", 4),
    "number": ("<i8", 8),
    "inputTickTS": ("<i8", 16),
    "inputTS": ("<i8", 24),
    "ratio": ("<f8", 32),
    "avgRatio": ("<f8", 40),
    "upperBand": ("<f8", 48),
    "lowerBand": ("<f8", 56),
    "symbol": ("<i8", 32),
    "price": ("<i8", 40),
    "size": ("<i8", 48),
}
_FORMATS, _OFFSETS = zip(*_FIELDS.values(), strict=True)
ROW = np.dtype({"names": list(_FIELDS), "formats": list(_FORMATS), "offsets": list(_OFFSETS), "itemsize": 64})

Rows = NDArray[np.void]
Streams = dict[str, pa.Table]


def are_rows(first_bytes: bytes) -> bool:
    """Tell by the first bytes of a connection whether it sends rows."""
    return first_bytes[: len(MAGIC)] == MAGIC


class Numbering:
    """The last number of each strategy, whatever connection it came by; safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        self._last = np.empty(0, np.int64)

    def places(self, names: list[str]) -> NDArray[np.int64]:
        """Return where the last numbers of these strategies are kept."""
        with self._lock:
            found = [self._places.setdefault(name, len(self._places)) for name in names]
            self._last = np.append(self._last, np.full(len(self._places) - len(self._last), -1, np.int64))
        return np.array(found, np.int64)

    def are_new(self, places: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which rows have not come before, and remember them."""
        with self._lock:
            order = np.argsort(places, kind="stable")
            place, number = places[order], numbers[order]
            begins = np.diff(place, prepend=-1) != 0
            before = np.where(begins, self._last[place], np.roll(number, 1))
            if (number > before).all():  # as it nearly always is
                ends = np.append(begins[1:], True) if len(begins) else begins
                self._last[place[ends]] = number[ends]
                return np.ones(len(places), np.bool_)
            return np.fromiter(map(self._is_new, places.tolist(), numbers.tolist()), np.bool_, len(places))

    def _is_new(self, place: int, number: int) -> bool:
        if number < 0:
            return True
        is_new = number > self._last[place]
        self._last[place] = max(number, self._last[place])
        return bool(is_new)


class RowConnection:
    """The receiving end of a connection: its names, and what its rows say."""

    def __init__(self, source: BufferedReader, numbering: Numbering) -> None:
        self._source, self._numbering = source, numbering
        names = _read_names(source)
        self._names, self._places = pa.array(names, pa.string()), numbering.places(names)

    def chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield whole rows as they arrive, and when, us of wall time."""
        rest = b""
        while chunk := self._source.read1(_READ_BYTES):
            arrived_us = time.time_ns() // 1000
            whole = (len(rest) + len(chunk)) // ROW.itemsize * ROW.itemsize
            together = rest + chunk if rest else chunk
            rest = together[whole:]
            if whole:
                yield together[:whole], arrived_us
        if rest:
            raise ConnectionError("the last row is cut off")

    def read(self, chunk: bytes) -> tuple[Streams, dict[str, int]]:
        """Return the answers in some rows that have not come before, and how many have, by stream."""
        rows = np.frombuffer(chunk, ROW)
        self._check(rows)
        new = self._numbering.are_new(self._places[rows["strategy"]], rows["number"])
        indicators = rows["kind"] == _INDICATOR
        repeated = {INDICATORS.name: int((indicators & ~new).sum()), ORDERS.name: int((~indicators & ~new).sum())}
        streams = {
            INDICATORS.name: self._indicators(rows[indicators & new]),
            ORDERS.name: self._orders(rows[~indicators & new]),
        }
        return {name: table for name, table in streams.items() if len(table)}, repeated

    def _check(self, rows: Rows) -> None:
        kinds, names = rows["kind"], len(self._names)
        if ((kinds < _INDICATOR) | (kinds > _SELL)).any():
            raise ValueError("a row that is neither an indicator nor an order")
        symbols = rows["symbol"][kinds != _INDICATOR]
        for places in (rows["strategy"], symbols):
            if ((places < 0) | (places >= names)).any():
                raise ValueError("a row with a name that was not given")

    def _indicators(self, rows: Rows) -> pa.Table:
        columns = {"strategy": self._names.take(pa.array(rows["strategy"]))}
        return _table(INDICATORS.schema, columns, rows)

    def _orders(self, rows: Rows) -> pa.Table:
        columns = {
            "strategy": self._names.take(pa.array(rows["strategy"])),
            "type": _TYPES.take(pa.array(rows["kind"])),
            "symbol": self._names.take(pa.array(np.ascontiguousarray(rows["symbol"]))),
        }
        return _table(ORDERS.schema, columns, rows)


def _table(schema: pa.Schema, columns: dict[str, pa.Array], rows: Rows) -> pa.Table:
    numbers = {name: pa.array(np.ascontiguousarray(rows[name])) for name in schema.names if name not in columns}
    return pa.table([(columns | numbers)[name] for name in schema.names], schema=schema)


def _read_names(source: BufferedReader) -> list[str]:
    _, count, size = HEADER.unpack(_exactly(source, HEADER.size))
    if not (0 <= count <= _MOST_NAMES and 0 <= size <= _MOST_NAME_BYTES):
        raise ValueError("impossibly many names")
    content, place, names = _exactly(source, size), 0, []
    for _ in range(count):
        if place + _LENGTH.size > size:
            raise ValueError("fewer names than announced")
        begin = place + _LENGTH.size
        place = begin + _LENGTH.unpack_from(content, place)[0]
        if place > size:
            raise ValueError("a name that is cut off")
        names.append(content[begin:place].decode())
    return names


def _exactly(source: BufferedReader, size: int) -> bytes:
    content = source.read(size)
    if len(content) < size:
        raise ValueError("names that are cut off")
    return content
