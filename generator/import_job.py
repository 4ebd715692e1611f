"""The Spark job that makes a dataset of real trades: sorted, in whole cents and milliseconds from zero, with a bell."""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, PairsError
from pairs.core.memory import keep_freed_memory
from pairs.core.progress import Progress, waiting
from pairs.core.spark import Result, SparkSession, Task, TaskError, run_tasks
from pairs.core.units import show_duration
from pairs.dataset.digest import PartialDigest, digest_batch
from pairs.dataset.folder import MOST_FILES, Correlation, Dataset
from pairs.dataset.formats.parquet import Parquet
from pairs.dataset.manifest import describe_imported
from pairs.generator.job import WrittenFile, cut_into_files
from pairs.generator.pairing import BARS, PairsWanted, candidates, most_correlated, top_pairs
from pairs.generator.sorting import RunsTask, Slice, SortedRun, cut, merged, write_runs
from pairs.generator.trades import TradeColumns, parts_of_trades
from pairs.model.tuples import STOCK_TICK_CODED

_TICKS_PER_FILE = 2_000_000
_TICKS_PER_BATCH = 262_144
_MAX_DURATION_MS = 366 * 86_400_000
_NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class MergeTask:
    """A tick file to write: slices of sorted runs, and their place in the stream and in the day."""

    slices: list[Slice]
    path: Path
    first_tick: int
    origin_ns: int
    duration_ms: int
    has_bell: bool
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class MergedFile:
    """What a task reports of the file it wrote; also the last price of each candidate in each bar."""

    written: WrittenFile
    last_symbol: str
    cells: NDArray[np.int64]  # position of the candidate times BARS plus bar
    prices: NDArray[np.int64]


def import_trades(
    spark: SparkSession, files: Sequence[Path], columns: TradeColumns, wanted: PairsWanted, dataset: Dataset
) -> list[float]:
    """Write a dataset of the trades in some files; return the correlations of its pairs, unless they were listed."""
    parts = [part for file in files for part in parts_of_trades(file.absolute(), columns)]
    scratch = dataset.path / ".runs"
    scratch.mkdir()
    runs_tasks = [RunsTask(part, columns, scratch, number) for number, part in enumerate(parts)]
    runs = [run for runs in _run(spark, "reading trades", write_runs, runs_tasks, "parts") for run in runs]
    if not runs:
        raise BadInputError(f"{files[0]}: no trade in it; give a file with trades")
    trades = sum((Counter(run.trades_by_symbol) for run in runs), Counter[str]())
    for symbol in chain.from_iterable(wanted.listed):
        if symbol not in trades:
            raise BadInputError(f"--pairs: symbol {symbol!r} has no trade; name symbols of the files")
    symbols = () if wanted.listed else tuple(candidates(trades))
    tasks = _merge_tasks(runs, dataset, symbols)
    merged_files = _run(spark, "sorting trades", merge_file, tasks, "files")
    shutil.rmtree(scratch)
    dataset.remove_leftovers()
    found = [] if wanted.listed else most_correlated(_all_closes(merged_files, len(symbols)))
    pairs = list(wanted.listed) or top_pairs(found, symbols, wanted.top)
    dataset.write_correlations(Correlation(1, *pair) for pair in pairs)
    trades[merged_files[-1].last_symbol] += 1  # the bell
    written = [file.written for file in merged_files]
    digest = sum((file.digest for file in written), PartialDigest())
    content = dataset.content("parquet", digest, [file.entry for file in written])
    manifest = describe_imported(tasks[0].duration_ms, len(pairs), tasks[0].origin_ns, trades, content)
    manifest.write(dataset.manifest_file)
    return [pair.correlation for pair in found[: len(pairs)]]


def _run(
    spark: SparkSession, step: str, function: Callable[[Task], Result], tasks: list[Task], unit: str
) -> list[Result]:
    with Progress(step, len(tasks), unit) as progress:
        try:
            return run_tasks(spark, function, tasks, progress.set)
        except TaskError as error:
            raise PairsError(f"{step} failed: {error}; fix that and import again") from None


@waiting("planning the sort")
def _merge_tasks(runs: list[SortedRun], dataset: Dataset, symbols: tuple[str, ...]) -> list[MergeTask]:
    origin_ns = min(int(run.times_ns[0]) for run in runs)
    last_ms = (max(int(run.times_ns[-1]) for run in runs) - origin_ns) // _NS_PER_MS
    duration_ms = (last_ms // 1_000 + 1) * 1_000
    if duration_ms > _MAX_DURATION_MS:
        raise BadInputError(
            f"--time-column: the trades span {show_duration(duration_ms)}, more than "
            f"{show_duration(_MAX_DURATION_MS)}; import fewer days, or check --time-unit"
        )
    total = sum(run.rows for run in runs)
    ranges = cut_into_files(total, min(-(-total // _TICKS_PER_FILE), MOST_FILES))
    tasks = []
    for number, slices in enumerate(cut(runs, len(ranges))):
        path, is_last = dataset.tick_file(number, "parquet"), number == len(ranges) - 1
        tasks.append(MergeTask(slices, path, ranges[number].start, origin_ns, duration_ms, is_last, symbols))
    return tasks


def merge_file(task: MergeTask) -> MergedFile:
    """Merge the slices of a file and write it; runs on an executor."""
    keep_freed_memory()
    trades = merged(task.slices)
    tick_ts = (trades["time_ns"].to_numpy() - task.origin_ns) // _NS_PER_MS
    columns = [*(trades[name].combine_chunks() for name in ("symbol", "price", "size")), pa.array(tick_ts)]
    ticks = pa.table(columns, schema=STOCK_TICK_CODED)
    cells, prices = _closes(ticks, task)
    if task.has_bell:
        last = ticks.slice(len(ticks) - 1)
        bell = last.set_column(3, STOCK_TICK_CODED.field("tickTS"), pa.array([task.duration_ms]))
        ticks = pa.concat_tables([ticks, bell])
    digest = PartialDigest()
    with Parquet().writer(task.path) as target:
        for batch in ticks.to_batches(max_chunksize=_TICKS_PER_BATCH):
            digest += digest_batch(task.first_tick + digest.rows, batch)
            target.write(pa.Table.from_batches([batch]))
    return MergedFile(WrittenFile.at(task.path, digest), ticks["symbol"][-1].as_py(), cells, prices)


def _closes(ticks: pa.Table, task: MergeTask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the last price of each candidate in each bar in which it trades."""
    symbol = ticks["symbol"].combine_chunks()
    places = {name: place for place, name in enumerate(task.candidates)}
    place_of_code = np.array([places.get(name, -1) for name in symbol.dictionary.to_pylist()], np.int64)
    candidate = place_of_code[symbol.indices.to_numpy()]
    bars = ticks["tickTS"].to_numpy() * BARS // task.duration_ms
    rows = np.flatnonzero(candidate >= 0)
    closes = np.zeros(len(task.candidates) * BARS, np.int64)
    closes[candidate[rows] * BARS + bars[rows]] = ticks["price"].to_numpy()[rows]  # the last price of a cell remains
    cells = np.flatnonzero(closes)
    return cells, closes[cells]


def _all_closes(files: list[MergedFile], count: int) -> NDArray[np.int64]:
    """Combine the last prices of all files; in a bar that spans two files, the later file has the last price."""
    closes = np.zeros(count * BARS, np.int64)
    for file in files:
        closes[file.cells] = file.prices
    return closes.reshape(count, BARS)
