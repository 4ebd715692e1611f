"""The rules that the files of a dataset must keep together, before any tick is read: none missing, none there twice."""

import filecmp
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

from pairs.core.errors import BadInputError
from pairs.dataset.reader import has_ticks, parts_of

_NUMBERED = re.compile(r"(|.*\D)(\d{1,5})(\.\w+)")  # longer numbers are dates, in which days may be missing


def folder_problems(files: list[Path], described: Collection[str] | None) -> list[str]:
    """Say which files are missing, too many, there twice, or no tick files; `described` are those of dataset.json."""
    folder = files[0].parent
    names = [file.name for file in files]
    if described is None:
        said = [f"{folder}: {name} is missing between its neighbours; add it" for name in _missing_between(names)]
    else:
        missing = [name for name in described if name not in set(names)]
        more = [name for name in names if name not in described]
        said = [f"{folder}: {name} is missing, dataset.json names it; generate or import it again" for name in missing]
        said += [f"{folder}: {name} is not in dataset.json; remove it" for name in more]
    said += [f"{file}: the same content as {other.name}; remove one of them" for file, other in _twice(files)]
    return said + list(_unreadable(files))


def _missing_between(names: list[str]) -> Iterator[str]:
    """Yield the names that are missing where names count up."""
    found = [_NUMBERED.fullmatch(name) for name in names]
    for before, after in pairwise(found):
        if before and after and (before[1], before[3]) == (after[1], after[3]):
            for number in range(int(before[2]) + 1, int(after[2])):
                yield f"{before[1]}{number:0{len(before[2])}d}{before[3]}"


def _twice(files: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield files that hold the same, byte for byte, as an earlier one; those of other sizes are not opened."""
    by_size: dict[int, list[Path]] = {}
    for file in files:
        alike = by_size.setdefault(file.stat().st_size, [])
        same = next((other for other in alike if filecmp.cmp(file, other, shallow=False) and has_ticks(file)), None)
        if same is None:
            alike.append(file)
        else:
            yield file, same


def _unreadable(files: list[Path]) -> Iterator[str]:
    """Say which files have not even a beginning, or a footer, of ticks."""
    for file in files:
        try:
            parts_of(file)
        except BadInputError as error:
            yield str(error)
