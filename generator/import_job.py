"""The Spark job that makes a dataset of real trades: sorted, in whole cents and milliseconds from zero, with a bell."""

import csv
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, PairsError
from pairs.core.memory import keep_freed_memory, peak_bytes
from pairs.core.progress import Progress
from pairs.core.spark import TaskError, run_tasks
from pairs.core.units import show_duration
from pairs.dataset.digest import PartialDigest, digest_batch
from pairs.dataset.folder import MOST_FILES, Correlation, Dataset
from pairs.dataset.formats.parquet import ParquetWriter
from pairs.dataset.manifest import describe_imported
from pairs.generator.files import WrittenFile
from pairs.generator.job import cut_into_files
from pairs.generator.pairing import BARS, FEWEST_BARS, FoundPair, candidates, most_correlated
from pairs.generator.sorting import RunsTask, Slice, SortedRun, cut, merged, write_runs
from pairs.generator.trades import TradeColumns, parts_of_trades
from pairs.model.tuples import STOCK_TICK_CODED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TICKS_PER_FILE = 2_000_000
_TICKS_AT_A_TIME = 262_144
_LONGEST_MS = 366 * 86_400_000
_NS_PER_MS = 1_000_000
_MOST_PAIRS = 25  # if nobody says how many: those of a standard market


@dataclass(frozen=True)
class PairsWanted:
    """Which pairs strategies shall watch: those of a list, or the most correlated ones."""

    listed: tuple[tuple[str, str], ...] = ()
    top: int | None = None


@dataclass(frozen=True)
class MergeTask:
    """One tick file to write: slices of sorted runs, and where they are in the stream and in the day."""

    slices: tuple[Slice, ...]
    path: Path
    first_tick: int
    origin_ns: int
    duration_ms: int
    has_bell: bool
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class MergedFile:
    """What a task reports of the file it wrote: also the last price of each candidate in each bar."""

    written: WrittenFile
    last_symbol: str
    cells: NDArray[np.int64]  # numbers of candidate times BARS plus bar
    prices: NDArray[np.int64]


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    ticks: int
    symbols: int
    duration_ms: int
    pairs: list[tuple[str, str]]
    correlations: list[float]  # of the pairs, where they were looked for


def import_trades(
    spark: "SparkSession", files: Sequence[Path], columns: TradeColumns, wanted: PairsWanted, dataset: Dataset
) -> Imported:
    """Write a dataset of the trades in some files."""
    parts = [part for file in files for part in parts_of_trades(file.absolute(), columns)]
    scratch = dataset.path / ".runs"
    scratch.mkdir()
    runs = _sorted_runs(spark, [RunsTask(part, columns, scratch, number) for number, part in enumerate(parts)])
    if not runs:
        raise BadInputError(f"{files[0]}: no trade in it; give a file with trades")
    trades = sum((Counter(run.trades_by_symbol) for run in runs), Counter[str]())
    _refuse_unknown(wanted, trades)
    looked_at = tuple(candidates(trades)) if not wanted.listed else ()
    tasks = _merge_tasks(runs, dataset, looked_at)
    merged_files = _merge(spark, tasks)
    shutil.rmtree(scratch)
    dataset.remove_leftovers()
    found = [] if wanted.listed else most_correlated(_closes(merged_files, len(looked_at)))
    pairs = list(wanted.listed) or _named(found, looked_at, wanted.top)
    dataset.write_correlations(Correlation(1, *pair) for pair in pairs)
    trades[merged_files[-1].last_symbol] += 1  # the bell
    written = [file.written for file in merged_files]
    digest = sum((file.digest for file in written), PartialDigest())
    content = dataset.content("parquet", digest, [file.entry for file in written])
    describe_imported(tasks[0].duration_ms, len(pairs), tasks[0].origin_ns, trades, content).write(
        dataset.manifest_file
    )
    shown = [one.correlation for one in found[: len(pairs)]]
    return Imported(sum(trades.values()), len(trades), tasks[0].duration_ms, pairs, shown)


def _sorted_runs(spark: "SparkSession", tasks: list[RunsTask]) -> list[SortedRun]:
    with Progress("reading trades", len(tasks), "parts") as progress:
        try:
            return [run for runs in run_tasks(spark, write_runs, tasks, progress.set) for run in runs]
        except TaskError as error:
            raise PairsError(f"the trades were not read: {error}; fix that and import them again") from None


def _merge(spark: "SparkSession", tasks: list[MergeTask]) -> list[MergedFile]:
    with Progress("sorting trades", len(tasks), "files") as progress:
        try:
            return run_tasks(spark, merge_file, tasks, progress.set)
        except TaskError as error:
            raise PairsError(f"the trades were not sorted: {error}; fix that and import them again") from None


def _refuse_unknown(wanted: PairsWanted, trades: Counter[str]) -> None:
    for symbol in (symbol for pair in wanted.listed for symbol in pair):
        if symbol not in trades:
            raise BadInputError(f"--pairs: symbol {symbol!r} has no trade; name symbols of the files")


def _merge_tasks(runs: list[SortedRun], dataset: Dataset, looked_at: tuple[str, ...]) -> list[MergeTask]:
    """Cut all trades into files of equal length, a task each."""
    origin_ns = min(int(run.times_ns[0]) for run in runs)
    last_ms = (max(int(run.times_ns[-1]) for run in runs) - origin_ns) // _NS_PER_MS
    duration_ms = (last_ms // 1_000 + 1) * 1_000
    if duration_ms > _LONGEST_MS:
        raise BadInputError(
            f"--time-column: the trades span {show_duration(duration_ms)}, more than {show_duration(_LONGEST_MS)}; "
            "import fewer days, or check --time-unit"
        )
    total = sum(run.rows for run in runs)
    ranges = cut_into_files(total, min(-(-total // _TICKS_PER_FILE), MOST_FILES))
    return [
        MergeTask(
            tuple(slices),
            dataset.tick_file(number, "parquet"),
            ranges[number].start,
            origin_ns,
            duration_ms,
            number == len(ranges) - 1,
            looked_at,
        )
        for number, slices in enumerate(cut(runs, len(ranges)))
    ]


def merge_file(task: MergeTask) -> MergedFile:
    """Merge the slices of a file and write it; runs on an executor."""
    keep_freed_memory()
    trades = merged(task.slices)
    tick_ts = (trades["time_ns"].to_numpy() - task.origin_ns) // _NS_PER_MS
    columns = [*(trades[name].combine_chunks() for name in ("symbol", "price", "size")), pa.array(tick_ts)]
    ticks = pa.table(columns, schema=STOCK_TICK_CODED)
    cells, prices = _closes_of(ticks, task)
    if task.has_bell:
        last = ticks.slice(len(ticks) - 1)
        rung = last.set_column(3, STOCK_TICK_CODED.field("tickTS"), pa.array([task.duration_ms]))
        ticks = pa.concat_tables([ticks, rung])
    digest = PartialDigest()
    with ParquetWriter(task.path) as target:
        for batch in ticks.to_batches(max_chunksize=_TICKS_AT_A_TIME):
            digest += digest_batch(task.first_tick + digest.rows, batch)
            target.write(pa.Table.from_batches([batch]))
    written = WrittenFile(task.path.name, digest, task.path.stat().st_size, peak_bytes())
    return MergedFile(written, ticks["symbol"][-1].as_py(), cells, prices)


def _closes_of(ticks: pa.Table, task: MergeTask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the last price of each candidate in each bar in which it trades."""
    symbol = ticks["symbol"].combine_chunks()
    places = {name: place for place, name in enumerate(task.candidates)}
    coded = np.array([places.get(name, -1) for name in symbol.dictionary.to_pylist()], np.int64)
    candidate = coded[symbol.indices.to_numpy()]
    bars = ticks["tickTS"].to_numpy() * BARS // task.duration_ms
    rows = np.flatnonzero(candidate >= 0)
    closes = np.zeros(len(task.candidates) * BARS, np.int64)
    closes[candidate[rows] * BARS + bars[rows]] = ticks["price"].to_numpy()[rows]  # of equal cells the last one stays
    cells = np.flatnonzero(closes)
    return cells, closes[cells]


def _closes(files: list[MergedFile], count: int) -> NDArray[np.int64]:
    """Put together the last prices of all bars; where a bar goes on in the next file, that one knows better."""
    closes = np.zeros(count * BARS, np.int64)
    for one in files:
        closes[one.cells] = one.prices
    return closes.reshape(count, BARS)


def _named(found: list[FoundPair], symbols: Sequence[str], top: int | None) -> list[tuple[str, str]]:
    """Return the symbols of the pairs, in the order of their names, as many as wanted."""
    if not found or (top is not None and len(found) < top):
        raise BadInputError(
            f"--top-pairs: {top or 1:,} wanted, and there are {len(found):,} pairs of symbols that trade in at least "
            f"{FEWEST_BARS} of {BARS} parts of the day; give a lower number, or the pairs with --pairs"
        )
    named = [sorted((symbols[one.first], symbols[one.second])) for one in found[: top or _MOST_PAIRS]]
    return [(first, second) for first, second in named]


def read_pairs(file: Path) -> tuple[tuple[str, str], ...]:
    """Read a list of pairs: CSV with the columns symbol1 and symbol2."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as source:
            rows = list(csv.DictReader(source))
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInputError(f"{file}: cannot be read: {reason}; give CSV with symbol1,symbol2") from None
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for number, row in enumerate(rows, 1):
        first, second = row.get("symbol1"), row.get("symbol2")
        if not first or not second:
            raise BadInputError(f"{file}: row {number}: no symbol1 or no symbol2; give CSV with symbol1,symbol2")
        if first == second or frozenset((first, second)) in pairs:
            wrong = "the same symbol twice" if first == second else "this pair is there already"
            raise BadInputError(f"{file}: row {number}: {first!r}, {second!r}: {wrong}; remove the row")
        pairs[frozenset((first, second))] = (first, second)
    if not pairs:
        raise BadInputError(f"{file}: no pair in it; give CSV with symbol1,symbol2")
    return tuple(pairs.values())
