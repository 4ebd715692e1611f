"""Draws the ticks of a workload, and the Spark job that writes them as a dataset.

A task draws one file: the slices that its range of ticks touches. Every task gives the same rows whenever and wherever
it runs, so a task may be tried again, or twice at once.
"""

import csv
import io
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.arrivals import Timeline
from generator.files import TICK_FILES
from generator.market import Market
from generator.prices import Path as PricePath
from generator.prices import Prices
from generator.randomness import Purpose, whole_numbers
from pairs import __version__
from pairs.dataset import FORMAT_VERSION, Dataset
from pairs.digest import PartialDigest, digest_rows, hash_symbols
from pairs.errors import BadInputError, PairsError
from pairs.model import STOCK_TICK_CODED
from pairs.progress import Progress
from pairs.spark import TaskError, run_tasks
from pairs.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TICKS_PER_FILE = 4_000_000
_SMALLEST_SIZE, _LARGEST_SIZE, _SIZE_STEP = 100, 1_000, 10


class TickSource:
    """All ticks of a workload, drawn on demand, any range at a time."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.market = Market(workload)
        self.timeline = Timeline(workload)
        self.prices = Prices(self.market, self.timeline)
        self._names = pa.array(self.market.symbols)
        self._rounds = np.empty(0, np.int32)
        self._hashes = hash_symbols(self.market.symbols)

    def draw(self, first_tick: int, end_tick: int) -> Iterator[tuple[pa.Table, PartialDigest]]:
        """Yield ticks [first_tick, end_tick) in order, in pieces, each with its digest."""
        for path in self.prices.paths(self.timeline.slices_with(first_tick, end_tick)):
            begin = max(first_tick - path.piece.first_tick, 0)
            end = min(end_tick - path.piece.first_tick, path.piece.ticks)
            yield self._draw_slice(path, slice(begin, end))

    def _cycle(self, first: int, count: int) -> NDArray[np.int32]:
        """Return `count` places in the cycle of symbols, from the given one on."""
        if len(self._rounds) < first + count:
            rounds = -(-2 * count // self.workload.symbols) + 1
            self._rounds = np.tile(np.arange(self.workload.symbols, dtype=np.int32), rounds)
        return self._rounds[first : first + count]

    def _draw_slice(self, path: PricePath, wanted: slice) -> tuple[pa.Table, PartialDigest]:
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


@lru_cache(maxsize=1)
def tick_source(workload: Workload) -> TickSource:
    """Return the source of a workload; a worker that writes several files sets it up once."""
    return TickSource(workload)


@dataclass(frozen=True)
class FileTask:
    """One file to write: ticks [first_tick, end_tick) of a workload."""

    workload: Workload
    first_tick: int
    end_tick: int
    path: Path
    format: str

    @property
    def progress_file(self) -> Path:
        """Where the task says how many ticks it has written."""
        return self.path.with_name(f".{self.path.name}.progress")


@dataclass(frozen=True)
class WrittenFile:
    """What a task reports of the file it wrote."""

    name: str
    digest: PartialDigest
    bytes: int
    worker_peak_bytes: int


def write_file(task: FileTask) -> WrittenFile:
    """Draw and write one file; runs on an executor."""
    digest = PartialDigest()
    with TICK_FILES[task.format](task.path) as target:
        for ticks, part in tick_source(task.workload).draw(task.first_tick, task.end_tick):
            digest += part
            if target.write(ticks):
                task.progress_file.write_text(str(target.rows))
    task.progress_file.write_text(str(target.rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return WrittenFile(task.path.name, digest, task.path.stat().st_size, peak)


def cut_into_files(ticks: int, files: int | None) -> list[range]:
    """Cut the ticks into files of equal length."""
    count = files or -(-ticks // _TICKS_PER_FILE)
    if count > ticks:
        raise BadInputError(f"--files: {count:,} files for {ticks:,} ticks; give at most {ticks:,}")
    borders = [ticks * number // count for number in range(count + 1)]
    return [range(first, end) for first, end in pairwise(borders)]


def generate(
    spark: "SparkSession", source: TickSource, dataset: Dataset, profile: str, suffix: str, ranges: list[range]
) -> list[WrittenFile]:
    """Write all files of a dataset, the given ranges of ticks each, and the facts last."""
    tasks = [
        FileTask(source.workload, ticks.start, ticks.stop, dataset.tick_file(number, suffix), suffix)
        for number, ticks in enumerate(ranges)
    ]
    written = _run(spark, tasks, source.timeline.ticks)
    for task in tasks:
        task.progress_file.unlink(missing_ok=True)
    digest = sum((one.digest for one in written), PartialDigest())
    if digest.rows != source.timeline.ticks:
        raise PairsError(f"{digest.rows:,} ticks were written, not {source.timeline.ticks:,}; try again")
    dataset.correlations_file.write_text(correlations_csv(source.market), encoding="utf-8")
    dataset.write_facts(facts_of(source.workload, profile, suffix, digest, written))
    return written


def correlations_csv(market: Market) -> str:
    """Return the auxiliary file: the correlated pairs of each market."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["market", "symbol1", "symbol2"])
    for number, leg1, leg2 in market.pairs.tolist():
        rows.writerow([number + 1, market.symbols[leg1], market.symbols[leg2]])
    return text.getvalue()


def facts_of(
    workload: Workload, profile: str, suffix: str, digest: PartialDigest, written: list[WrittenFile]
) -> dict[str, Any]:
    """Return what dataset.json says. It holds no time and no place, so equal datasets have equal facts."""
    start, end = workload.measurement_interval
    return {
        "format_version": FORMAT_VERSION,
        "kit_version": __version__,
        "digest": digest.hexdigest(),
        "seed": workload.seed,
        "profile": profile,
        "standard": not workload.nonstandard,
        "nonstandard": workload.nonstandard,
        "parameters": workload.as_plain(),
        "counts": {
            "ticks": digest.rows,
            "markets": workload.markets,
            "symbols": workload.symbols,
            "correlations": workload.correlations,
            "users": workload.users,
            "strategies": workload.strategies,
        },
        "basis_rate_per_second": float(workload.basis_rate),
        "duration_ms": workload.duration,
        "measurement_interval_ms": [start, end],
        "format": suffix,
        "files": [{"name": one.name, "ticks": one.digest.rows, "bytes": one.bytes} for one in written],
    }


def _run(spark: "SparkSession", tasks: list[FileTask], ticks: int) -> list[WrittenFile]:
    """Run the tasks on Spark and show how far they are."""
    with Progress("generating", ticks, "ticks") as progress:
        try:
            return run_tasks(spark, write_file, tasks, lambda _: progress.set(_ticks_done(tasks)))
        except TaskError as error:
            raise PairsError(f"the dataset was not written: {error}") from None


def _ticks_done(tasks: list[FileTask]) -> int:
    done = 0
    for task in tasks:
        try:
            done += int(task.progress_file.read_text() or 0)
        except (OSError, ValueError):
            continue
    return done
