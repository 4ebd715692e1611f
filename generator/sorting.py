"""Sorts trades of any number on Spark: runs that are each sorted, exact cuts through all of them, a merge of each cut.

Ties keep the order of the files and rows that they came in. Runs are memory-mapped, so a merge reads its slices only.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.memory import keep_freed_memory
from pairs.generator.trades import TRADES, TradeColumns, TradePart, read_trades

_ROWS_OF_A_RUN = 1_000_000


@dataclass(frozen=True)
class RunsTask:
    """A part of the trades to sort; its runs go to files of a folder, named after the part's number."""

    part: TradePart
    columns: TradeColumns
    folder: Path
    number: int


@dataclass(frozen=True)
class SortedRun:
    """A file of trades in the order of time."""

    path: Path
    rows: int
    trades_by_symbol: dict[str, int] = field(compare=False)

    @property
    def times_ns(self) -> NDArray[np.int64]:
        """The times alone."""
        times: NDArray[np.int64] = _mapped(self.path)["time_ns"].chunk(0).to_numpy()
        return times


def write_runs(task: RunsTask) -> list[SortedRun]:
    """Sort a part of the trades, as many rows at a time as fit easily; runs on an executor."""
    keep_freed_memory()
    return [
        _write_run(task.folder / f"run-{task.number:06d}-{place:06d}.arrow", trades)
        for place, trades in enumerate(_pieces(read_trades(task.part, task.columns)))
    ]


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(map(len, pending)) >= _ROWS_OF_A_RUN:
            yield _joined([pa.Table.from_batches([one]) for one in pending])
            pending = []
    if sum(map(len, pending)):
        yield _joined([pa.Table.from_batches([one]) for one in pending])


def _joined(tables: list[pa.Table]) -> pa.Table:
    """Join tables in their order and sort them by time, stably, with one dictionary of symbols."""
    joined = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    order = np.argsort(joined["time_ns"].to_numpy(), kind="stable")
    return joined.take(pa.array(order)).combine_chunks()


def _write_run(path: Path, trades: pa.Table) -> SortedRun:
    """Write a run under a name of its own; a task may be tried again, or run twice at once."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, TRADES) as target:
        target.write_table(trades)
    partial.rename(path)
    counts = Counter({one["values"]: one["counts"] for one in trades["symbol"].value_counts().to_pylist()})
    return SortedRun(path, len(trades), dict(counts))


def _mapped(path: Path) -> pa.Table:
    """Return the trades of a run, read when they are touched."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


@dataclass(frozen=True)
class Slice:
    """Some consecutive trades of a run."""

    path: Path
    begin: int
    end: int


def cut(runs: list[SortedRun], files: int) -> list[list[Slice]]:
    """Cut all trades, as they are in order, into files of equal length: for each the slices that make it up."""
    total = sum(run.rows for run in runs)
    times = [run.times_ns for run in runs]
    borders = [rows_before(times, total * number // files) for number in range(files + 1)]
    return [
        [Slice(run.path, begin, end) for run, begin, end in zip(runs, first, last, strict=True) if begin < end]
        for first, last in pairwise(borders)
    ]


def rows_before(runs: list[NDArray[np.int64]], rank: int) -> list[int]:
    """Return how many rows of each run are among the first `rank` of all; of equal times, earlier runs come first."""
    if rank <= 0:
        return [0] * len(runs)
    low, high = min(int(run[0]) for run in runs), max(int(run[-1]) for run in runs)
    while low < high:  # the first time by which there are so many
        middle = (low + high) // 2
        if sum(int(np.searchsorted(run, middle, side="right")) for run in runs) >= rank:
            high = middle
        else:
            low = middle + 1
    before = [int(np.searchsorted(run, low)) for run in runs]
    ties = [int(np.searchsorted(run, low, side="right")) for run in runs]
    left = rank - sum(before)
    for place, end in enumerate(ties):
        taken = min(end - before[place], left)
        before[place] += taken
        left -= taken
    return before


def merged(slices: tuple[Slice, ...]) -> pa.Table:
    """Return the trades of some slices, given in the order of their runs, in the order of time."""
    return _joined([_mapped(one.path).slice(one.begin, one.end - one.begin) for one in slices])
