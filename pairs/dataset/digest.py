"""The content digest of a tick stream: the same for the same rows in the same order, however they are cut into files.

Every row is hashed together with its position, and the hashes are added up, so that parts can be hashed anywhere and
summed. It detects accidental differences, not forgery.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_POSITION, _TRADE, _TIME = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7], np.uint64)
_FIRST_MIX, _SECOND_MIX = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)

_Column = NDArray[Any]


@dataclass(frozen=True)
class PartialDigest:
    """The digest of some rows of a stream; the sum of two is the digest of all their rows."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: "PartialDigest") -> "PartialDigest":
        return PartialDigest(self.rows + other.rows, (self.total + other.total) % 2**64)

    def hexdigest(self) -> str:
        return sha256(f"pairs-ticks-1:{self.rows}:{self.total}".encode()).hexdigest()


@lru_cache(maxsize=2)
def hash_symbols(symbols: tuple[str, ...]) -> NDArray[np.uint64]:
    """Hash each name of a dictionary of symbols; once, as consecutive batches share it."""
    digests = b"".join(blake2b(symbol.encode(), digest_size=8).digest() for symbol in symbols)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def digest_rows(
    first_row: int, symbol_hashes: NDArray[np.uint64], symbol: _Column, price: _Column, size: _Column, tick_ts: _Column
) -> PartialDigest:
    """Digest consecutive rows; `symbol` indexes `symbol_hashes`, `first_row` is the position of the first row."""
    rows = len(price)
    mixed = np.arange(first_row, first_row + rows, dtype=np.uint64)
    mixed *= _POSITION
    mixed += symbol_hashes[symbol]
    trade = size.astype(np.uint64)
    trade <<= np.uint64(32)
    trade += price.astype(np.uint64)
    trade *= _TRADE
    mixed += trade
    mixed += tick_ts.astype(np.int64, copy=False).view(np.uint64) * _TIME
    mixed ^= mixed >> np.uint64(30)  # from here on the finalizer of SplitMix64, which mixes the bits of each word
    mixed *= _FIRST_MIX
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND_MIX
    mixed ^= mixed >> np.uint64(31)
    return PartialDigest(rows, int(mixed.sum(dtype=np.uint64)))


def digest_batch(first_row: int, batch: pa.RecordBatch) -> PartialDigest:
    symbol, price, size, tick_ts = batch.columns
    hashes = hash_symbols(tuple(symbol.dictionary.to_pylist()))
    return digest_rows(first_row, hashes, *(column.to_numpy() for column in (symbol.indices, price, size, tick_ts)))
