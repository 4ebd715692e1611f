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
        return not (self.missing or self.undue or self.wrong)


@dataclass(frozen=True)
class Comparison:
    """The comparison of two sets of answers: the counts, and by kind the rows of incorrect answers in both tables."""

    counts: Counts
    incorrect: dict[str, tuple[pa.Array, pa.Array]]  # nulls for the side that has no such answer


class NameCodes:
    """Numbers names in the order of their first appearance; a name keeps its number."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._codes = {name: code for code, name in enumerate(known)}

    def code(self, names: pa.Array | pa.ChunkedArray) -> Wholes:
        encoded = names.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        places = [self._codes.setdefault(name, len(self._codes)) for name in encoded.dictionary.to_pylist()]
        coded: Wholes = np.array(places, np.int64)[encoded.indices.to_numpy()]
        return coded


def compare(expected: pa.Table, answers: pa.Table, stream: StreamSpec) -> Comparison:
    """Match answers with expected answers by key, and compare the values of those that match."""
    names = NameCodes()
    sides = [{name: _comparable(side[name], names) for name in expected.column_names} for side in (expected, answers)]
    matched, missing, undue, duplicates = _match(*([side[key] for key in stream.key] for side in sides))
    right = np.ones(len(matched[0]), bool)
    for name in expected.column_names:
        if name not in stream.key:
            right &= _equal(sides[0][name][matched[0]], sides[1][name][matched[1]], stream.tolerance)
    wrong = pa.array(matched[0][~right]), pa.array(matched[1][~right])
    counts = Counts(
        validator=len(expected),
        sut=len(answers),
        correct=int(right.sum()),
        missing=len(missing),
        undue=len(undue),
        wrong=len(wrong[0]),
        duplicates=duplicates,
    )
    nothing = [pa.nulls(len(rows), pa.int64()) for rows in (missing, undue)]
    incorrect = {"missing": (pa.array(missing), nothing[0]), "undue": (nothing[1], pa.array(undue)), "wrong": wrong}
    return Comparison(counts, incorrect)


def _comparable(column: pa.ChunkedArray, names: NameCodes) -> NDArray[Any]:
    return names.code(column) if column.type == pa.string() else column.to_numpy()


def _equal(expected: NDArray[Any], answered: NDArray[Any], tolerance: float) -> NDArray[np.bool_]:
    return relative_error(expected, answered) <= tolerance if expected.dtype.kind == "f" else expected == answered


def relative_error(expected: NDArray[Any], answered: NDArray[Any]) -> NDArray[np.float64]:
    """Return the error of answers relative to the expected values; NaN for an answer that is not a number."""
    with np.errstate(all="ignore"):
        error: NDArray[np.float64] = np.abs(answered - expected) / np.abs(expected)
    return np.where(answered == expected, 0.0, error)


def _match(expected: list[Wholes], answered: list[Wholes]) -> tuple[tuple[Wholes, Wholes], Wholes, Wholes, int]:
    """Match rows of equal keys: the first with the first, the second with the second, and so on.

    Return the rows that match, of both sides, then the missing, the undue, and how many of the undue are duplicates.
    """
    rows = len(expected[0])
    keys = [np.concatenate(both) for both in zip(expected, answered, strict=True)]
    order = np.lexsort(keys)  # stable: of equal keys, the expected come first, and each side keeps its order
    new_key = np.zeros(len(order), bool)
    new_key[:1] = True
    for key in keys:
        new_key[1:] |= np.diff(key[order]) != 0
    is_answer = order >= rows
    group = np.cumsum(new_key) - 1
    groups = int(new_key.sum())
    expected_in = np.bincount(group[~is_answer], minlength=groups)
    answers_in = np.bincount(group[is_answer], minlength=groups)
    position = np.arange(len(order)) - np.flatnonzero(new_key)[group]  # in its group
    occurrence = np.where(is_answer, position - expected_in[group], position)
    unmatched = occurrence >= np.minimum(expected_in, answers_in)[group]
    undue = is_answer & unmatched
    matched = order[~is_answer & ~unmatched], order[is_answer & ~unmatched] - rows
    return matched, order[~is_answer & unmatched], order[undue] - rows, int((undue & (occurrence > 0)).sum())


def side_by_side(
    kind: str, expected: pa.Table, answers: pa.Table, comparison: Comparison, stream: StreamSpec
) -> pa.Table:
    """Return the incorrect answers of a kind with the values of both sides next to each other."""
    expected_rows, answer_rows = comparison.incorrect[kind]
    val, sut = expected.take(expected_rows), answers.take(answer_rows)
    columns = {key: (sut if kind == "undue" else val)[key] for key in stream.key}
    for name, column_type in zip(expected.schema.names, expected.schema.types, strict=True):
        if name not in stream.key:
            columns |= {f"val_{name}": val[name], f"sut_{name}": sut[name]}
            if column_type == pa.float64() and kind == "wrong":
                columns[f"error_{name}"] = pa.array(relative_error(val[name].to_numpy(), sut[name].to_numpy()))
    return pa.table(columns)
