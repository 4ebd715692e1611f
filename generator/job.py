"""The Spark job that writes a dataset: one task a file, and the manifest at the end.

A task gives the same rows whenever and wherever it runs, so it may be retried, or run twice at once.
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pairs.config.profile import Profile
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError, PairsError
from pairs.core.memory import peak_bytes
from pairs.core.progress import Progress
from pairs.core.spark import SparkSession, TaskError, run_tasks
from pairs.core.units import counted
from pairs.dataset.digest import PartialDigest
from pairs.dataset.folder import MOST_FILES, Correlation, Dataset
from pairs.dataset.formats import FORMATS
from pairs.dataset.formats.base import TickFormat
from pairs.dataset.manifest import TickFileEntry, describe_generated
from pairs.generator.ticks import TickSource
from pairs.generator.virtual import recipe, tick_source

_TICKS_PER_FILE = 4_000_000


@dataclass(frozen=True)
class FileTask:
    """A file to write: ticks [first_tick, end_tick) of a workload."""

    workload: Workload
    first_tick: int
    end_tick: int
    path: Path
    format: TickFormat

    @property
    def progress_file(self) -> Path:
        """The number of ticks written so far."""
        return self.path.with_name(f".{self.path.name}.progress")


@dataclass(frozen=True)
class WrittenFile:
    """The result of a task."""

    entry: TickFileEntry
    digest: PartialDigest
    worker_peak_bytes: int

    @classmethod
    def at(cls, path: Path, digest: PartialDigest) -> "WrittenFile":
        entry = TickFileEntry(name=path.name, ticks=digest.rows, bytes=path.stat().st_size)
        return cls(entry, digest, peak_bytes())


def cut_into_files(ticks: int, files: int | None) -> list[range]:
    count = files or min(-(-ticks // _TICKS_PER_FILE), MOST_FILES)
    if count > ticks:
        raise BadInputError(f"--files: {counted(count, 'file')} for {counted(ticks, 'tick')}; give at most {ticks:,}")
    borders = [ticks * number // count for number in range(count + 1)]
    return [range(first, end) for first, end in pairwise(borders)]


def write_file(task: FileTask) -> WrittenFile:
    """Draw and write a file; runs on an executor."""
    digest = PartialDigest()
    with task.format.writer(task.path, recipe(task.workload, task.first_tick, task.end_tick)) as target:
        for ticks, part in tick_source(task.workload).draw(task.first_tick, task.end_tick):
            digest += part
            if target.write(ticks):
                task.progress_file.write_text(str(target.rows))
    task.progress_file.write_text(str(target.rows))
    return WrittenFile.at(task.path, digest)


def generate(
    spark: SparkSession, source: TickSource, dataset: Dataset, profile: Profile, suffix: str, ranges: list[range]
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
        raise PairsError(f"wrote {counted(digest.rows, 'tick')}, not {source.timeline.ticks:,}; try again")
    symbols = source.market.symbols
    dataset.write_correlations(
        Correlation(market + 1, symbols[leg1], symbols[leg2]) for market, leg1, leg2 in source.market.pairs.tolist()
    )
    content = dataset.content(suffix, digest, [file.entry for file in written])
    describe_generated(profile, content).write(dataset.manifest_file)
    return written


def _run(spark: SparkSession, tasks: list[FileTask], ticks: int) -> list[WrittenFile]:
    with Progress("generating", ticks, "ticks") as progress:
        try:
            return run_tasks(spark, write_file, tasks, lambda _: _show(progress, tasks))
        except TaskError as error:
            raise PairsError(f"the dataset was not written: {error}; fix that and generate it again") from None


def _show(progress: Progress, tasks: list[FileTask]) -> None:
    if progress.shown:
        done = 0
        for task in tasks:
            with suppress(OSError, ValueError):
                done += int(task.progress_file.read_text() or 0)
        progress.set(done)
