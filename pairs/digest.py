"""The content digest of a tick stream: the same for the same rows in the same order, however they are cut into files.

Every row is hashed together with its position, and the hashes are added up, so that parts can be hashed anywhere and
summed. It guards against differences by accident, not against forgery.
"""

from dataclasses import dataclass
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_LANES = (
    (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 30, 27),
    (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 33, 29),
)
_POSITION, _PRICE, _SIZE, _TIME = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7)


@dataclass(frozen=True)
class PartialDigest:
    """What is known of a stream after some of its rows; adding two of them gives that of all their rows."""

    rows: int = 0
    sums: tuple[int, int] = (0, 0)

    def __add__(self, other: "PartialDigest") -> "PartialDigest":
        low, high = ((one + two) % 2**64 for one, two in zip(self.sums, other.sums, strict=True))
        return PartialDigest(self.rows + other.rows, (low, high))

    def hexdigest(self) -> str:
        """Return the digest of the rows added so far, as 64 hexadecimal digits."""
        return sha256(f"pairs-ticks-1:{self.rows}:{self.sums[0]}:{self.sums[1]}".encode()).hexdigest()


def hash_symbols(symbols: list[str]) -> NDArray[np.uint64]:
    """Hash each name of a dictionary of symbols once."""
    digests = b"".join(blake2b(symbol.encode(), digest_size=8).digest() for symbol in symbols)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def digest_rows(
    first_row: int,
    symbol_hashes: NDArray[np.uint64],
    symbol: NDArray[Any],
    price: NDArray[Any],
    size: NDArray[Any],
    tick_ts: NDArray[Any],
) -> PartialDigest:
    """Digest consecutive rows; `symbol` holds places in `symbol_hashes`, `first_row` the first one's position."""
    rows = len(price)
    mixed = np.arange(first_row, first_row + rows, dtype=np.uint64)
    mixed *= np.uint64(_POSITION)
    mixed += symbol_hashes[symbol]
    for column, factor in ((price, _PRICE), (size, _SIZE), (tick_ts, _TIME)):
        mixed += column.astype(np.uint64) * np.uint64(factor)
    low, high = (int(_mix(mixed, *lane).sum(dtype=np.uint64)) for lane in _LANES)
    return PartialDigest(rows, (low, high))


def _mix(values: NDArray[np.uint64], first: int, second: int, shift: int, last_shift: int) -> NDArray[np.uint64]:
    """Scramble 64-bit words so that every bit of the input moves half the bits of the output."""
    mixed = values ^ (values >> np.uint64(shift))
    mixed *= np.uint64(first)
    mixed ^= mixed >> np.uint64(last_shift)
    mixed *= np.uint64(second)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def digest_batch(first_row: int, batch: pa.RecordBatch) -> PartialDigest:
    """Digest a batch of ticks whose symbols are numbers into a dictionary."""
    symbol, price, size, tick_ts = batch.columns
    hashes = hash_symbols(symbol.dictionary.to_pylist())
    return digest_rows(first_row, hashes, *(one.to_numpy() for one in (symbol.indices, price, size, tick_ts)))
