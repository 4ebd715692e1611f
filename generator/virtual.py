"""The tick format `virtual`: a file stores no ticks but a recipe; they are drawn whenever the file is read.

Importing this module registers the format.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pairs.config.values import Plain
from pairs.config.workload import Workload
from pairs.core.records import Record
from pairs.dataset.formats import VIRTUAL, register
from pairs.dataset.formats.base import FilePart, PartSource, TickFileWriter, TickFormat

if TYPE_CHECKING:
    from pairs.generator.ticks import TickSource


@lru_cache(maxsize=1)
def tick_source(workload: Workload) -> "TickSource":
    """Return the source of a workload; a worker that draws several files sets it up once."""
    from pairs.generator.ticks import TickSource  # loads scipy, which readers of stored ticks do not need

    return TickSource(workload)


class Recipe(Record):
    """The content of a virtual file: ticks [first_tick, end_tick) of a workload."""

    FORMAT = 1
    REMEDY = "generate the dataset again"

    first_tick: int
    end_tick: int
    parameters: dict[str, Plain]


def recipe(workload: Workload, first_tick: int, end_tick: int) -> str:
    """Return the content of a virtual file."""
    return Recipe(first_tick=first_tick, end_tick=end_tick, parameters=workload.as_plain()).to_json()


class VirtualSource(PartSource):
    """Draws the ticks of a file."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Draw all ticks."""
        recipe = Recipe.read(self._part.path)
        source = tick_source(Workload.from_plain(recipe.parameters, str(self._part.path)))
        for ticks, _ in source.draw(recipe.first_tick, recipe.end_tick):
            yield from ticks.to_batches()


class VirtualWriter(TickFileWriter):
    """Writes the recipe instead of ticks."""

    def __init__(self, path: Path, recipe: str) -> None:
        super().__init__()
        path.write_text(recipe, encoding="utf-8")

    def _write(self, ticks: pa.Table) -> None:
        pass

    def close(self) -> None:
        """Do nothing: the recipe is written already."""


class Virtual(TickFormat):
    """Ticks that are drawn when they are read."""

    suffix = VIRTUAL

    def source(self, part: FilePart) -> PartSource:
        """Open a file for drawing its ticks."""
        return VirtualSource(part)

    def _open_writer(self, path: Path, recipe: str) -> TickFileWriter:
        return VirtualWriter(path, recipe)


register(Virtual())
