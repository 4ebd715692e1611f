"""Reduces ticks to panes: per symbol and pane the sum, the count and the last of its prices. Runs on executors.

A pane is the time between two consecutive window ends of any period, so every window is a whole number of panes. (With
the greatest common divisor of the periods, 7, 11 and 13 s would make panes of 1 s.) A pane may come in pieces, as ticks
do: sums add up, and the first tick of the first piece counts.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.files import temporary_for
from pairs.core.memory import keep_freed_memory, peak_bytes
from pairs.dataset.digest import PartialDigest, digest_batch
from pairs.dataset.formats.base import FilePart
from pairs.dataset.reader import TickReader
from pairs.dataset.tick_rules import Problem, first_problem

PANES = pa.schema(
    {"symbol": pa.int32(), "start": pa.int64(), "total": pa.int64(), "ticks": pa.int64(), "last": pa.int64()}
)

# The first tick of any symbol in a pane; it closes the windows that end there.
TRIGGERS = pa.schema({"tickTS": pa.int64(), "symbol": pa.int32(), "price": pa.int64()})

_PANES_PER_BATCH = 500_000


@dataclass(frozen=True)
class Clock:
    """The window ends: all multiples of the periods until the market closes."""

    periods_ms: tuple[int, ...]
    market_close_ms: int

    def panes_of(self, tick_ts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the starts of the panes of consecutive ticks before the close, and the first tick of each pane."""
        first, last = int(tick_ts[0]), int(tick_ts[-1])
        if sum((last - first) // period for period in self.periods_ms) > len(tick_ts):
            return self._panes_by_tick(tick_ts)
        ends = [
            np.arange(first // period + 1, last // period + 1, dtype=np.int64) * period for period in self.periods_ms
        ]
        starts = np.unique(np.concatenate(ends))
        rows = np.searchsorted(tick_ts, starts)
        filled = np.diff(rows, append=len(tick_ts)) > 0
        before = max(first // period * period for period in self.periods_ms)
        return np.append(before, starts[filled]), np.append(0, rows[filled])

    def _panes_by_tick(self, tick_ts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Do the same where there are more window ends than ticks."""
        starts = np.zeros(len(tick_ts), np.int64)
        for period in self.periods_ms:
            np.maximum(starts, tick_ts // period * period, out=starts)
        rows = np.flatnonzero(np.diff(starts, prepend=-1))
        return starts[rows], rows


def reduce_piece(
    clock: Clock, symbols: int, symbol: NDArray[Any], price: NDArray[Any], tick_ts: NDArray[Any]
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Reduce consecutive ticks, at least one, to panes and triggers; symbols from `symbols` on are not watched."""
    open_rows = int(np.searchsorted(tick_ts, clock.market_close_ms))
    starts = rows = np.empty(0, np.int64)
    if open_rows:
        starts, rows = clock.panes_of(tick_ts[:open_rows])
    panes = _sum_up(symbols, starts, rows, symbol[:open_rows], price[:open_rows])
    first_rows = np.append(rows, open_rows) if open_rows < len(price) else rows  # the tick that closes the market
    firsts = [tick_ts[first_rows], np.minimum(symbol[first_rows], symbols), price[first_rows]]
    return panes, pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(firsts, TRIGGERS, strict=True)], TRIGGERS
    )


def _sum_up(
    symbols: int, starts: NDArray[np.int64], rows: NDArray[np.int64], symbol: NDArray[Any], price: NDArray[Any]
) -> pa.RecordBatch:
    """Sum up the prices of each symbol in each pane; `rows` are the first rows of the panes."""
    ticks_in_pane = np.diff(rows, append=len(price))
    cells = np.repeat(np.arange(len(starts)) * (symbols + 1), ticks_in_pane) + np.minimum(symbol, symbols)
    used = None
    if len(starts) * (symbols + 1) > 4 * len(price) + 1_000:  # far more cells than ticks: number only those with ticks
        used, cells = np.unique(cells, return_inverse=True)
    size = len(starts) * (symbols + 1) if used is None else len(used)
    ticks = np.bincount(cells, minlength=size)
    totals = np.bincount(cells, weights=price, minlength=size)  # exact: less than 2**53
    last = np.zeros(size, np.int64)
    last[cells] = price  # of repeated cells the last price stays
    filled = np.flatnonzero(ticks)
    pane, code = np.divmod(filled if used is None else used, symbols + 1)
    watched = code < symbols
    filled, pane, code = filled[watched], pane[watched], code[watched]
    columns = [code, starts[pane], totals[filled], ticks[filled], last[filled]]
    return pa.record_batch(
        [pa.array(column).cast(field.type) for column, field in zip(columns, PANES, strict=True)], PANES
    )


@dataclass(frozen=True)
class PartTask:
    """A part of the ticks to reduce, and the file for its panes."""

    part: FilePart
    clock: Clock
    symbols: tuple[str, ...]
    target: Path
    known: Collection[str] | None = None  # symbols; None if they are not known


@dataclass(frozen=True)
class ReducedPart:
    """The result of a task for its part."""

    digest: PartialDigest  # with positions in the file
    first_ts: int | None  # None for a part without ticks
    last_ts: int
    triggers: pa.Table
    panes: int
    worker_peak_bytes: int
    problem: Problem | None = None  # the first; later rows were not read


def reduce_part(task: PartTask) -> ReducedPart:
    """Read a part of the ticks, write its panes and return its triggers; runs on an executor."""
    keep_freed_memory()
    coder = _SymbolCoder(task.symbols)
    digest, first_ts, last_ts = PartialDigest(), None, 0
    triggers, problem = [], None
    with pane_file(task.target) as target:
        for batch, violations in TickReader(task.known).scan(task.part):
            price, tick_ts = batch["price"].to_numpy(), batch["tickTS"].to_numpy()
            if len(batch):
                first_ts = int(tick_ts[0]) if first_ts is None else first_ts
                last_ts = int(tick_ts[-1])
            if violations:
                problem = first_problem(violations)
                break
            if not len(batch):
                continue
            digest += digest_batch(task.part.first_row + digest.rows, batch)
            panes, firsts = reduce_piece(task.clock, len(task.symbols), coder.code(batch["symbol"]), price, tick_ts)
            target.add(panes)
            triggers.append(firsts)
    all_triggers = pa.Table.from_batches(triggers, TRIGGERS).combine_chunks()
    return ReducedPart(digest, first_ts, last_ts, all_triggers, target.rows, peak_bytes(), problem)


class _SymbolCoder:
    """Numbers the watched symbols by their position in a list; all others share the next number."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self._places = {symbol: place for place, symbol in enumerate(symbols)}
        self._dictionary: pa.Array | None = None
        self._codes = np.empty(0, np.int32)

    def code(self, symbol: pa.DictionaryArray) -> NDArray[np.int32]:
        if self._dictionary is None or not symbol.dictionary.equals(self._dictionary):
            self._dictionary = symbol.dictionary
            others = len(self._places)
            self._codes = np.array([self._places.get(name, others) for name in self._dictionary.to_pylist()], np.int32)
        codes: NDArray[np.int32] = self._codes[symbol.indices.to_numpy()]
        return codes


class PaneWriter:
    """Writes panes in batches that are each sorted by symbol, so that readers find theirs."""

    def __init__(self, target: pa.ipc.RecordBatchFileWriter) -> None:
        self.rows = 0
        self._target = target
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0

    def add(self, panes: pa.RecordBatch) -> None:
        """Add panes; they are kept until there are enough for a batch."""
        self._pending.append(panes)
        self._pending_rows += len(panes)
        if self._pending_rows >= _PANES_PER_BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the panes that were kept."""
        panes = pa.Table.from_batches(self._pending, PANES)
        order = np.argsort(panes["symbol"].to_numpy(), kind="stable")
        self._target.write_table(panes.take(pa.array(order)).combine_chunks())
        self.rows += self._pending_rows
        self._pending, self._pending_rows = [], 0


@contextmanager
def pane_file(path: Path) -> Iterator[PaneWriter]:
    """Write a file of panes, which appears when it is whole."""
    with temporary_for(path) as partial, pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, PANES) as target:
        writer = PaneWriter(target)
        yield writer
        writer.flush()


def read_panes(files: Iterable[Path], symbols: NDArray[np.int32]) -> pa.Table:
    """Read the panes of some symbols, sorted, from the files of all parts, in the order of the files."""
    found = [PANES.empty_table()]
    for file in files:
        source = pa.ipc.open_file(pa.memory_map(str(file)))
        batches = (source.get_batch(number) for number in range(source.num_record_batches))
        found += [pa.Table.from_batches([_of_symbols(batch, symbols)]) for batch in batches]
    return pa.concat_tables(found)


def _of_symbols(panes: pa.RecordBatch, symbols: NDArray[np.int32]) -> pa.RecordBatch:
    ordered = panes["symbol"].to_numpy()
    first, end = np.searchsorted(ordered, symbols), np.searchsorted(ordered, symbols, side="right")
    rows = np.repeat(end - np.cumsum(end - first), end - first) + np.arange((end - first).sum())
    return panes.take(pa.array(rows))
