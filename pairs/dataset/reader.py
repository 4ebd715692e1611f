"""Reads tick files of any format, any part, in pieces of bounded size, and refuses invalid rows.

Before any tick is read, the files of a folder can be checked: none missing, none duplicated, none unreadable.
"""

import filecmp
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from pairs.core.errors import BadInputError
from pairs.dataset.formats import FORMATS
from pairs.dataset.formats.base import FilePart
from pairs.dataset.tick_rules import TickRules, Violation, as_ticks, first_problem, invalid_rows
from pairs.model.tuples import STOCK_TICK_CODED

_NUMBERED = re.compile(r"(|.*\D)(\d{1,5})(\.\w+)")  # longer numbers are dates, where days may be missing
_UNREADABLE = (pa.ArrowException, KeyError, ValueError, OSError)  # raised by the libraries for a damaged file


def whole_file(path: Path) -> FilePart:
    tick_format = FORMATS.get(path.suffix.lower().lstrip("."))
    if tick_format is None:
        raise BadInputError(f"{path}: not a tick file; give one of {', '.join(FORMATS)}")
    return FilePart(path, tick_format)


def parts_of(path: Path) -> list[FilePart]:
    tick_format = whole_file(path).format
    with _refusing_unreadable(path):
        return tick_format.parts(path)


@contextmanager
def _refusing_unreadable(path: Path) -> Iterator[None]:
    """Turn a library's error about a damaged file into one line."""
    try:
        yield
    except _UNREADABLE as error:
        raise BadInputError(f"{path}: not a readable tick file: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    return f"{' '.join(str(error).split())}; generate or import the dataset again"


class TickReader:
    """Reads consecutive parts of a stream of ticks, and checks every row against the rules."""

    def __init__(self, known: Collection[str] | None = None) -> None:
        self._rules = TickRules(known)

    def read(self, part: FilePart) -> Iterator[pa.RecordBatch]:
        """Yield the ticks of a part in order, with dictionary-encoded symbols; refuse the first invalid row."""
        for ticks, violations in self.scan(part):
            if violations:
                raise BadInputError(first_problem(violations).message(part.path))
            yield ticks

    def scan(self, part: FilePart) -> Iterator[tuple[pa.RecordBatch, list[Violation]]]:
        """Yield the ticks of a part with their violations; end where the file is not readable any more."""
        if part.first_row == 0:
            self._rules.begins_file = True
        source = part.format.source(part)
        end = part.first_row
        while True:
            try:
                stored = next(source, None)
                if stored is None:
                    return
                ticks, violations = as_ticks(stored.batch)
                violations += self._rules.check(ticks)  # a name that is not UTF-8 shows only when it is looked at
            except _UNREADABLE as error:
                problem = invalid_rows({end: f"not readable from here on: {_reason(error)}"})
                yield pa.RecordBatch.from_pylist([], STOCK_TICK_CODED), problem
                return
            placed = [replace(found, rows=tuple(stored.rows[row] for row in found.rows)) for found in violations]
            yield ticks, placed + invalid_rows({skipped.row: skipped.problem for skipped in stored.skipped})
            end = stored.end


def read_ticks(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the ticks of a file in order; refuse the first invalid row."""
    return TickReader().read(whole_file(path))


def folder_problems(files: list[Path], described: Collection[str] | None) -> list[str]:
    """Return messages about missing, unexpected, duplicated and unreadable files; `described` is from dataset.json."""
    folder = files[0].parent
    names = [file.name for file in files]
    if described is None:
        found = [f"{folder}: {name} is missing between its neighbours; add it" for name in _missing_between(names)]
    else:
        missing = [name for name in described if name not in set(names)]
        more = [name for name in names if name not in described]
        found = [f"{folder}: {name} is missing, dataset.json names it; generate or import it again" for name in missing]
        found += [f"{folder}: {name} is not in dataset.json; remove it" for name in more]
    found += [f"{file}: the same content as {other.name}; remove one of them" for file, other in _duplicates(files)]
    return found + list(_unreadable(files))


def _missing_between(names: list[str]) -> Iterator[str]:
    for before, after in pairwise(map(_NUMBERED.fullmatch, names)):
        if before and after and (before[1], before[3]) == (after[1], after[3]):
            for number in range(int(before[2]) + 1, int(after[2])):
                yield f"{before[1]}{number:0{len(before[2])}d}{before[3]}"


def _duplicates(files: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield files with the same content as an earlier file; only files of equal size are opened."""
    by_size: dict[int, list[Path]] = {}
    for file in files:
        alike = by_size.setdefault(file.stat().st_size, [])
        same = next((other for other in alike if filecmp.cmp(file, other, shallow=False) and _has_ticks(file)), None)
        if same is None:
            alike.append(file)
        else:
            yield file, same


def _has_ticks(path: Path) -> bool:
    part = whole_file(path)
    with _refusing_unreadable(path):
        return any(len(stored.batch) for stored in part.format.source(part))


def _unreadable(files: list[Path]) -> Iterator[str]:
    for file in files:
        try:
            parts_of(file)
        except BadInputError as error:
            yield str(error)
