"""Matches the answers of an engine with the expected answers by key, and evaluates each of them.

Where a key occurs more than once, its occurrences are matched in order. Doubles are equal within the stream's relative
tolerance, everything else exactly.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.model.streams import StreamSpec

KINDS = ("missing", "undue", "wrong")

Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """The counts of a stream: validator = correct + missing + wrong, sut = correct + wrong + undue."""

    validator: int = 0
    sut: int = 0
    correct: int = 0
    missing: int = 0
    undue: int = 0
    wrong: int = 0
    duplicates: int = 0  # undue answers with a key that occurred before

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def passed(self) -> bool:
        """Whether every answer is correct and none is missing."""
        return not (self.missing or self.undue or self.wrong)


@dataclass(frozen=True)
class Comparison:
    """The comparison of two sets of answers: the counts, and the rows of incorrect answers."""

    counts: Counts
    missing: Wholes  # rows of the validator's table
    undue: Wholes  # rows of the engine's table
    wrong: tuple[Wholes, Wholes]  # rows of both


class NameCodes:
    """Numbers names in the order of their first appearance; a name keeps its number."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._codes = {name: code for code, name in enumerate(known)}

    def code(self, names: pa.ChunkedArray) -> Wholes:
        """Return the numbers of names."""
        encoded = names.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        places = [self._codes.setdefault(name, len(self._codes)) for name in encoded.dictionary.to_pylist()]
        coded: Wholes = np.array(places, np.int64)[encoded.indices.to_numpy()]
        return coded


def compare(expected: pa.Table, answers: pa.Table, stream: StreamSpec) -> Comparison:
    """Match answers with expected answers by key, and compare the values of those that match."""
    names = NameCodes()
    sides = [{name: _comparable(side[name], names) for name in expected.column_names} for side in (expected, answers)]
    match = _match(*([side[key] for key in stream.key] for side in sides))
    values = [name for name in expected.column_names if name not in stream.key]
    right = _all_equal(sides, values, match.matched, stream.tolerance)
    wrong = match.matched[0][~right], match.matched[1][~right]
    counts = Counts(
        validator=len(expected),
        sut=len(answers),
        correct=int(right.sum()),
        missing=len(match.missing),
        undue=len(match.undue),
        wrong=len(wrong[0]),
        duplicates=match.duplicates,
    )
    return Comparison(counts, match.missing, match.undue, wrong)


def _comparable(column: pa.ChunkedArray, names: NameCodes) -> NDArray[Any]:
    return names.code(column) if column.type == pa.string() else column.to_numpy()


def _all_equal(
    sides: list[dict[str, NDArray[Any]]], names: list[str], matched: tuple[Wholes, Wholes], tolerance: float
) -> NDArray[np.bool_]:
    right = np.ones(len(matched[0]), bool)
    for name in names:
        expected, answered = (side[name][rows] for side, rows in zip(sides, matched, strict=True))
        right &= relative_error(expected, answered) <= tolerance if expected.dtype.kind == "f" else expected == answered
    return right


def relative_error(expected: NDArray[Any], answered: NDArray[Any]) -> NDArray[np.float64]:
    """Return the error of answers relative to the expected values; NaN for an answer that is not a number."""
    with np.errstate(all="ignore"):
        error: NDArray[np.float64] = np.abs(answered - expected) / np.abs(expected)
    return np.where(answered == expected, 0.0, error)


@dataclass(frozen=True)
class _Match:
    """Rows of both sides by whether they have a counterpart."""

    missing: Wholes
    undue: Wholes
    duplicates: int
    matched: tuple[Wholes, Wholes]


def _match(expected: list[Wholes], answered: list[Wholes]) -> _Match:
    """Match rows of equal keys: the first with the first, the second with the second, and so on."""
    rows = len(expected[0])
    keys = [np.concatenate(both) for both in zip(expected, answered, strict=True)]
    order = np.lexsort(keys)  # stable: of equal keys, the expected come first, and each side keeps its order
    new_key = np.zeros(len(order), bool)
    new_key[:1] = True
    for key in keys:
        new_key[1:] |= np.diff(key[order]) != 0
    is_answer = order >= rows
    group = np.cumsum(new_key) - 1
    groups = int(group[-1]) + 1 if len(group) else 0
    expected_in = np.bincount(group[~is_answer], minlength=groups)
    answers_in = np.bincount(group[is_answer], minlength=groups)
    position = np.arange(len(order)) - np.flatnonzero(new_key)[group]  # in its group
    occurrence = np.where(is_answer, position - expected_in[group], position)
    unmatched = occurrence >= np.minimum(expected_in, answers_in)[group]
    undue = is_answer & unmatched
    return _Match(
        missing=order[~is_answer & unmatched],
        undue=order[undue] - rows,
        duplicates=int((undue & (occurrence > 0)).sum()),
        matched=(order[~is_answer & ~unmatched], order[is_answer & ~unmatched] - rows),
    )


def side_by_side(
    kind: str, expected: pa.Table, answers: pa.Table, comparison: Comparison, stream: StreamSpec
) -> pa.Table:
    """Return the incorrect answers of a kind with the values of both sides next to each other."""
    rows = {"missing": (comparison.missing, None), "undue": (None, comparison.undue), "wrong": comparison.wrong}[kind]
    sides = {
        name: table.take(pa.array(places))
        for name, table, places in zip(("val", "sut"), (expected, answers), rows, strict=True)
        if places is not None
    }
    known = next(iter(sides.values()))
    columns = {key: known[key] for key in stream.key}
    for value in expected.schema:
        if value.name not in stream.key:
            both = [
                sides[side][value.name] if side in sides else pa.nulls(len(known), value.type)
                for side in ("val", "sut")
            ]
            columns |= {f"val_{value.name}": both[0], f"sut_{value.name}": both[1]}
            if value.type == pa.float64() and kind == "wrong":
                columns[f"error_{value.name}"] = pa.array(relative_error(*(side.to_numpy() for side in both)))
    return pa.table(columns)
