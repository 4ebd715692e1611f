"""Reads tick files of any format, any part, in pieces of bounded size, and refuses invalid rows."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from pairs.core.errors import BadInputError
from pairs.dataset.formats import format_of
from pairs.dataset.formats.base import FilePart
from pairs.dataset.tick_rules import TickRules, Violation, as_ticks, first_problem, invalid_rows
from pairs.model.tuples import STOCK_TICK_CODED

_UNREADABLE = (pa.ArrowException, KeyError, ValueError, OSError)  # raised by the libraries for a damaged file


def whole_file(path: Path) -> FilePart:
    """Return a file as one part."""
    return FilePart(path, format_of(path))


def parts_of(path: Path) -> list[FilePart]:
    """Cut a file into parts that tasks can share."""
    tick_format = format_of(path)
    with _refusing_unreadable(path):
        return tick_format.parts(path)


def has_ticks(path: Path) -> bool:
    """Return whether a readable file has any row."""
    part = whole_file(path)
    with _refusing_unreadable(path):
        return any(len(batch) for batch in part.format.source(part).batches())


class TickReader:
    """Reads consecutive parts of a stream of ticks, and checks every row against the rules."""

    def __init__(self, known: Collection[str] | None = None) -> None:
        self._rules = TickRules(known)

    def read(self, part: FilePart) -> Iterator[pa.RecordBatch]:
        """Yield the ticks of a part in order, with dictionary-encoded symbols; refuse the first invalid row."""
        for ticks, violations in self.scan(part):
            if violations:
                raise first_problem(violations).refusal(part.path)
            yield ticks

    def scan(self, part: FilePart) -> Iterator[tuple[pa.RecordBatch, list[Violation]]]:
        """Yield the ticks of a part with their violations; end where the file is not readable any more."""
        if part.first_row == 0:
            self._rules.begin_file()
        source = part.format.source(part)
        kept = 0
        rest: list[Violation] = []
        batches = source.batches()
        while True:
            try:
                raw = next(batches, None)
            except _UNREADABLE as error:
                rest = invalid_rows([source.row_of(kept)], [f"not readable from here on: {_reason(error)}"])
                break
            if raw is None:
                break
            ticks, violations = as_ticks(raw)
            violations += self._rules.check(ticks)
            placed = [found.at([source.row_of(kept + row) for row in found.rows]) for found in violations]
            kept += len(raw)
            yield ticks, placed + source.skipped_until(kept)
        if rest := source.skipped_until(None) + rest:
            yield pa.RecordBatch.from_pylist([], STOCK_TICK_CODED), rest


def read_ticks(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the ticks of a file in order; refuse the first invalid row."""
    return TickReader().read(whole_file(path))


@contextmanager
def _refusing_unreadable(path: Path) -> Iterator[None]:
    """Turn a library's error about a damaged file into one line."""
    try:
        yield
    except _UNREADABLE as error:
        raise BadInputError(f"{path}: not a readable tick file: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    return f"{' '.join(str(error).split())}; generate or import the dataset again"
