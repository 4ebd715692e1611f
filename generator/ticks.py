"""Draws the ticks of a workload, any range of them at a time."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.config.workload import Workload
from pairs.core.memory import keep_freed_memory
from pairs.dataset.digest import PartialDigest, digest_rows, hash_symbols
from pairs.generator.arrivals import Timeline
from pairs.generator.market import Market
from pairs.generator.prices import Prices, SlicePath
from pairs.generator.randomness import Purpose, whole_numbers
from pairs.model.tuples import STOCK_TICK_CODED

_SMALLEST_SIZE, _LARGEST_SIZE, _SIZE_STEP = 100, 1_000, 10


class TickSource:
    """All ticks of a workload, drawn on demand, any range at a time."""

    def __init__(self, workload: Workload) -> None:
        keep_freed_memory()
        self.workload = workload
        self.market = Market(workload)
        self.timeline = Timeline(workload)
        self.prices = Prices(self.market, self.timeline)
        self._names = pa.array(self.market.symbols)
        self._rounds = np.empty(0, np.int32)
        self._hashes = hash_symbols(tuple(self.market.symbols))

    def draw(self, first_tick: int, end_tick: int) -> Iterator[tuple[pa.Table, PartialDigest]]:
        """Yield ticks [first_tick, end_tick) in order, in pieces, each with its digest."""
        for path in self.prices.paths(self.timeline.slices_with(first_tick, end_tick)):
            begin = max(first_tick - path.piece.first_tick, 0)
            end = min(end_tick - path.piece.first_tick, path.piece.ticks)
            yield self._draw_slice(path, slice(begin, end))

    def _cycle(self, first: int, count: int) -> NDArray[np.int32]:
        """Return `count` positions in the cycle of symbols, from `first` on."""
        if len(self._rounds) < first + count:
            rounds = -(-2 * count // self.workload.symbols) + 1
            self._rounds = np.tile(np.arange(self.workload.symbols, dtype=np.int32), rounds)
        return self._rounds[first : first + count]

    def _draw_slice(self, path: SlicePath, wanted: slice) -> tuple[pa.Table, PartialDigest]:
        piece, workload = path.piece, self.workload
        times = self.timeline.tick_times(piece)
        prices = self.prices.cents(path, times)[wanted]
        choices = (_LARGEST_SIZE - _SMALLEST_SIZE) // _SIZE_STEP + 1
        drawn = whole_numbers(workload.seed, Purpose.SIZE, piece.index, piece.ticks, choices)[wanted]
        sizes = _SMALLEST_SIZE + _SIZE_STEP * drawn
        first = piece.first_tick + wanted.start
        symbols = self._cycle(first % workload.symbols, len(prices))
        digest = digest_rows(first, self._hashes, symbols, prices, sizes, times[wanted])
        named = pa.DictionaryArray.from_arrays(symbols, self._names)
        return pa.table([named, prices, sizes, times[wanted]], schema=STOCK_TICK_CODED), digest
