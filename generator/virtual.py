"""The tick format `virtual`: a file stores no ticks but a recipe; they are drawn whenever the file is read.

Importing this module adds the format to FORMATS.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pairs.config.values import Plain
from pairs.config.workload import Workload
from pairs.core.records import Record
from pairs.dataset.formats import FORMATS, VIRTUAL
from pairs.dataset.formats.base import FilePart, StoredRows, TickFormat, WriteTicks, numbered

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
    return Recipe(first_tick=first_tick, end_tick=end_tick, parameters=workload.as_plain()).to_json()


class Virtual(TickFormat):
    """Ticks that are drawn when they are read."""

    def source(self, part: FilePart) -> Iterator[StoredRows]:
        return numbered(_draw(part.path))

    @contextmanager
    def _opened(self, path: Path, recipe: str) -> Iterator[WriteTicks]:
        path.write_text(recipe, encoding="utf-8")
        yield lambda ticks: None


def _draw(path: Path) -> Iterator[pa.RecordBatch]:
    recipe = Recipe.read(path)
    source = tick_source(Workload.from_plain(recipe.parameters, str(path)))
    for ticks, _ in source.draw(recipe.first_tick, recipe.end_tick):
        yield from ticks.to_batches()


FORMATS[VIRTUAL] = Virtual()
