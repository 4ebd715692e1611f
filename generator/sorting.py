"""Sorts any number of trades on Spark: writes sorted runs, cuts through all of them at exact ranks, merges each cut.

Equal times keep the order of files and rows. Runs are memory-mapped, so a merge reads only its slices.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.files import temporary_for
from pairs.core.memory import keep_freed_memory
from pairs.generator.trades import TRADES, TradeColumns, TradePart, read_trades

_ROWS_PER_RUN = 1_000_000


@dataclass(frozen=True)
class RunsTask:
    """A part of the trades to sort; its runs are written to a folder and named after the part's number."""

    part: TradePart
    columns: TradeColumns
    folder: Path
    number: int


@dataclass(frozen=True)
class SortedRun:
    """A file of trades, sorted by time."""

    path: Path
    rows: int
    trades_by_symbol: dict[str, int] = field(compare=False)

    @property
    def times_ns(self) -> NDArray[np.int64]:
        times: NDArray[np.int64] = _mapped(self.path)["time_ns"].chunk(0).to_numpy()
        return times


@dataclass(frozen=True)
class Slice:
    """Consecutive trades of a run."""

    path: Path
    begin: int
    end: int


def write_runs(task: RunsTask) -> list[SortedRun]:
    """Sort a part of the trades, a bounded number of rows at a time; runs on an executor."""
    keep_freed_memory()
    return [
        _write_run(task.folder / f"run-{task.number:06d}-{place:06d}.arrow", _sorted(unsorted))
        for place, unsorted in enumerate(_unsorted_runs(read_trades(task.part, task.columns)))
    ]


def _unsorted_runs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(map(len, pending)) >= _ROWS_PER_RUN:
            yield pa.Table.from_batches(pending)
            pending = []
    if any(map(len, pending)):
        yield pa.Table.from_batches(pending)


def _sorted(trades: pa.Table) -> pa.Table:
    """Sort by time, stably, into one chunk with one dictionary of symbols."""
    unsorted = trades.unify_dictionaries().combine_chunks()
    order = np.argsort(unsorted["time_ns"].to_numpy(), kind="stable")  # faster than Arrow's sort_by
    return unsorted.take(pa.array(order)).combine_chunks()


def _write_run(path: Path, trades: pa.Table) -> SortedRun:
    """Write a run under a name of its own: Spark may retry a task, or execute it twice at the same time."""
    with temporary_for(path) as partial, pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, TRADES) as target:
        target.write_table(trades)
    counts = {count["values"]: count["counts"] for count in trades["symbol"].value_counts().to_pylist()}
    return SortedRun(path, len(trades), counts)


def _mapped(path: Path) -> pa.Table:
    """Return the trades of a run; pages are read when they are touched."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def cut(runs: list[SortedRun], files: int) -> list[list[Slice]]:
    """Cut the sorted order of all trades into files of equal length; return the slices of each file."""
    total = sum(run.rows for run in runs)
    times = [run.times_ns for run in runs]
    borders = [rows_before(times, total * number // files) for number in range(files + 1)]
    return [
        [Slice(run.path, begin, end) for run, begin, end in zip(runs, first, last, strict=True) if begin < end]
        for first, last in pairwise(borders)
    ]


def rows_before(runs: list[NDArray[np.int64]], rank: int) -> list[int]:
    """Return how many rows of each run are among the first `rank` of all; of equal times, earlier runs come first."""

    def rows(time_ns: int, side: Literal["left", "right"]) -> NDArray[np.int64]:
        return np.array([run.searchsorted(time_ns, side) for run in runs])

    times_ns = range(min(int(run[0]) for run in runs), max(int(run[-1]) for run in runs))
    time_ns = times_ns.start + bisect_left(times_ns, rank, key=lambda time_ns: rows(time_ns, "right").sum())
    before = rows(time_ns, "left")
    ties = rows(time_ns, "right") - before
    ties_before_run = np.cumsum(ties) - ties
    return list((before + np.clip(rank - before.sum() - ties_before_run, 0, ties)).tolist())


def merged(slices: Sequence[Slice]) -> pa.Table:
    """Return the trades of some slices, given in the order of their runs, sorted by time."""
    return _sorted(pa.concat_tables(_mapped(part.path).slice(part.begin, part.end - part.begin) for part in slices))
