"""Draws and writes a tick file: a task of the Spark job, on an executor.

A task gives the same rows whenever and wherever it runs, so it may be retried, or run twice at once.
"""

from dataclasses import dataclass
from pathlib import Path

from pairs.config.workload import Workload
from pairs.core.memory import peak_bytes
from pairs.dataset.digest import PartialDigest
from pairs.dataset.formats.base import TickFormat
from pairs.dataset.manifest import TickFileEntry
from pairs.generator.virtual import recipe, tick_source


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

    name: str
    digest: PartialDigest
    bytes: int
    worker_peak_bytes: int

    @property
    def entry(self) -> TickFileEntry:
        """The file's entry in the manifest."""
        return TickFileEntry(name=self.name, ticks=self.digest.rows, bytes=self.bytes)


def write_file(task: FileTask) -> WrittenFile:
    """Draw and write a file; runs on an executor."""
    digest = PartialDigest()
    with task.format.writer(task.path, recipe(task.workload, task.first_tick, task.end_tick)) as target:
        for ticks, part in tick_source(task.workload).draw(task.first_tick, task.end_tick):
            digest += part
            if target.write(ticks):
                task.progress_file.write_text(str(target.rows))
    task.progress_file.write_text(str(target.rows))
    return WrittenFile(task.path.name, digest, task.path.stat().st_size, peak_bytes())
