"""The Spark job that writes a dataset: one task a file, and the manifest at the end."""

from itertools import pairwise
from typing import TYPE_CHECKING

from pairs.config.profile import Profile
from pairs.core.errors import BadInputError, PairsError
from pairs.core.progress import Progress
from pairs.core.spark import TaskError, run_tasks
from pairs.dataset.digest import PartialDigest
from pairs.dataset.folder import MOST_FILES, Correlation, Dataset
from pairs.dataset.formats import FORMATS
from pairs.dataset.manifest import describe_generated
from pairs.generator.files import FileTask, WrittenFile, write_file
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
    spark: "SparkSession", source: TickSource, dataset: Dataset, profile: Profile, suffix: str, ranges: list[range]
) -> list[WrittenFile]:
    """Write all files of a dataset, one for each range of ticks, and the manifest last."""
    tasks = [
        FileTask(source.workload, ticks.start, ticks.stop, dataset.tick_file(number, suffix), FORMATS[suffix])
        for number, ticks in enumerate(ranges)
    ]
    written = _run(spark, tasks, source.timeline.ticks)
    dataset.remove_leftovers()
    digest = sum((file.digest for file in written), PartialDigest())
    if digest.rows != source.timeline.ticks:
        raise PairsError(f"{digest.rows:,} ticks were written, not {source.timeline.ticks:,}; try again")
    symbols = source.market.symbols
    dataset.write_correlations(
        Correlation(market + 1, symbols[leg1], symbols[leg2]) for market, leg1, leg2 in source.market.pairs.tolist()
    )
    content = dataset.content(suffix, digest, [file.entry for file in written])
    describe_generated(profile, content).write(dataset.manifest_file)
    return written


def _run(spark: "SparkSession", tasks: list[FileTask], ticks: int) -> list[WrittenFile]:
    """Run the tasks on Spark and show their progress."""
    with Progress("generating", ticks, "ticks") as progress:
        try:
            return run_tasks(spark, write_file, tasks, lambda _: _show(progress, tasks))
        except TaskError as error:
            raise PairsError(f"the dataset was not written: {error}; fix that and generate it again") from None


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
