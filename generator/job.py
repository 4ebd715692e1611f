"""The Spark job that writes a dataset: cuts the ticks into files, a task each, and describes what came of it."""

import csv
import io
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pairs import __version__
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError, PairsError
from pairs.core.progress import Progress
from pairs.core.spark import TaskError, run_tasks
from pairs.dataset.digest import PartialDigest
from pairs.dataset.folder import FORMAT_VERSION, MOST_FILES, Dataset
from pairs.generator.files import FileTask, WrittenFile, write_file
from pairs.generator.market import Market
from pairs.generator.ticks import TickSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TICKS_PER_FILE = 4_000_000


def cut_into_files(ticks: int, files: int | None) -> list[range]:
    """Cut the ticks into files of equal length."""
    count = files or min(-(-ticks // _TICKS_PER_FILE), MOST_FILES)
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
    dataset.remove_leftovers()
    digest = sum((one.digest for one in written), PartialDigest())
    if digest.rows != source.timeline.ticks:
        raise PairsError(f"{digest.rows:,} ticks were written, not {source.timeline.ticks:,}; try again")
    dataset.correlations_file.write_text(correlations_csv(source.market), encoding="utf-8")
    dataset.write_facts(facts_of(source.workload, profile, suffix, digest, dataset.correlations_digest(), written))
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
    workload: Workload,
    profile: str,
    suffix: str,
    digest: PartialDigest,
    correlations_digest: str,
    written: list[WrittenFile],
) -> dict[str, Any]:
    """Return what dataset.json says. It holds no time and no place, so equal datasets have equal facts."""
    start, end = workload.measurement_interval
    return {
        "format_version": FORMAT_VERSION,
        "kit_version": __version__,
        "digest": digest.hexdigest(),
        "correlations_digest": correlations_digest,
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
            return run_tasks(spark, write_file, tasks, lambda _: _show(progress, tasks))
        except TaskError as error:
            raise PairsError(f"the dataset was not written: {error}; mend that and generate it again") from None


def _show(progress: Progress, tasks: list[FileTask]) -> None:
    if progress.shown:
        progress.set(_ticks_done(tasks))


def _ticks_done(tasks: list[FileTask]) -> int:
    done = 0
    for task in tasks:
        try:
            done += int(task.progress_file.read_text() or 0)
        except (OSError, ValueError):
            continue
    return done
