"""Checks the files of a dataset before any tick is read: none missing, none duplicated, none unreadable."""

import filecmp
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

from pairs.core.errors import BadInputError
from pairs.dataset.reader import has_ticks, parts_of

_NUMBERED = re.compile(r"(|.*\D)(\d{1,5})(\.\w+)")  # longer numbers are dates, where days may be missing


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
    """Yield the names that are missing where names count up."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    for before, after in pairwise(matches):
        if before and after and (before[1], before[3]) == (after[1], after[3]):
            for number in range(int(before[2]) + 1, int(after[2])):
                yield f"{before[1]}{number:0{len(before[2])}d}{before[3]}"


def _duplicates(files: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield files with the same content as an earlier file; only files of equal size are opened."""
    by_size: dict[int, list[Path]] = {}
    for file in files:
        alike = by_size.setdefault(file.stat().st_size, [])
        same = next((other for other in alike if filecmp.cmp(file, other, shallow=False) and has_ticks(file)), None)
        if same is None:
            alike.append(file)
        else:
            yield file, same


def _unreadable(files: list[Path]) -> Iterator[str]:
    """Yield messages about files without a readable header or footer."""
    for file in files:
        try:
            parts_of(file)
        except BadInputError as error:
            yield str(error)
