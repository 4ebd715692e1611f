"""Tests of the comparison: answers are matched by key, and any single change is found."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.model.streams import INDICATORS, ORDERS, STREAMS
from pairs.validator.compare import Comparison, Counts, NameCodes, compare, side_by_side
from pairs.validator.shards import EXPECTED

Row = dict[str, Any]


def table(stream: str, rows: list[Row]) -> pa.Table:
    """Return rows as a table of a stream."""
    return pa.Table.from_pylist(rows, EXPECTED[stream])


def compared(stream: str, expected: list[Row], answers: list[Row]) -> Comparison:
    """Compare rows."""
    return compare(table(stream, expected), table(stream, answers), STREAMS[stream])


@st.composite
def right_answers(draw: st.DrawFn) -> tuple[str, list[Row]]:
    """Draw a stream and answers to it with distinct keys, as a reference gives them."""
    stream = draw(st.sampled_from(sorted(EXPECTED)))
    key = st.tuples(
        st.sampled_from(["st_00001", "st_00002", "ü", ""]), st.integers(0, 50), st.sampled_from(["BUY", "SELL"])
    )
    unique = (lambda drawn: drawn) if stream == "orders" else (lambda drawn: drawn[:2])
    keys = draw(st.lists(key, min_size=1, max_size=30, unique_by=unique))
    price = st.integers(1, 10**9)
    ratio = st.floats(1e-6, 1e6)
    if stream == "indicators":
        names = ("ratio", "avgRatio", "upperBand", "lowerBand")
        return stream, [
            {"strategy": alias, "inputTickTS": ts} | {name: draw(ratio) for name in names} for alias, ts, _ in keys
        ]
    return stream, [
        {
            "strategy": alias,
            "inputTickTS": ts,
            "type": side,
            "symbol": "AAAAAA",
            "price": draw(price),
            "size": draw(price),
        }
        for alias, ts, side in keys
    ]


@given(right_answers(), st.randoms())
def test_right_answers_pass_in_any_order(given_: tuple[str, list[Row]], random: Any) -> None:
    """Answers are matched by key, so their order does not matter."""
    stream, rows = given_
    shuffled = random.sample(rows, len(rows))
    assert compared(stream, rows, shuffled).counts == Counts(len(rows), len(rows), len(rows))


@given(right_answers(), st.data())
def test_any_single_change_is_found(given_: tuple[str, list[Row]], data: st.DataObject) -> None:
    """An answer dropped, sent twice, altered or invented fails the stream, and changes the right count by one."""
    stream, rows = given_
    place = data.draw(st.integers(0, len(rows) - 1))
    total, row, rest = len(rows), rows[place], rows[:place] + rows[place + 1 :]
    assert compared(stream, rows, rest).counts == Counts(total, total - 1, total - 1, missing=1)
    twice = compared(stream, rows, [*rows, row]).counts
    assert twice == Counts(total, total + 1, total, undue=1, duplicates=1)
    altered = compared(stream, rows, [*rest, _altered(row, data)]).counts
    assert altered == Counts(total, total, total - 1, wrong=1)
    invented = compared(stream, rows, [*rows, row | {"inputTickTS": 51}]).counts
    assert invented == Counts(total, total + 1, total, undue=1)
    elsewhere = compared(stream, rows, [*rest, row | {"strategy": "st_00003"}]).counts
    assert elsewhere == Counts(total, total, total - 1, missing=1, undue=1)
    assert not any(counts.passed for counts in (twice, altered, invented, elsewhere))


def _altered(row: Row, data: st.DataObject) -> Row:
    """Return an answer with a value changed by the least amount that counts."""
    name = data.draw(st.sampled_from([name for name in row if name not in ("strategy", "inputTickTS", "type")]))
    value = row[name]
    if isinstance(value, str):
        return row | {name: value + "B"}
    return row | {name: value + 1 if isinstance(value, int) else value * (1 + 2e-9)}


@pytest.mark.parametrize(
    ("factor", "right"), [(1 + 9e-10, True), (1 - 9e-10, True), (1 + 1.1e-9, False), (1 - 1.1e-9, False)]
)
def test_doubles_have_a_relative_tolerance(factor: float, right: bool) -> None:
    """A double is right within a relative 1e-9, however large or small it is."""
    for size in (1e-200, -1.0, 1e200):
        row = {"strategy": "a", "inputTickTS": 1, "ratio": 1.0, "avgRatio": 1.0, "upperBand": 1.0, "lowerBand": size}
        assert compared("indicators", [row], [row | {"lowerBand": size * factor}]).counts.passed is right


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 0.0])
def test_nan_and_infinity_are_wrong(value: float) -> None:
    """Not a number, infinity and zero are never near an expected value."""
    row = {"strategy": "a", "inputTickTS": 1, "ratio": 1.0, "avgRatio": 1.0, "upperBand": 1.0, "lowerBand": 1.0}
    assert compared("indicators", [row], [row | {"ratio": value}]).counts.wrong == 1


def test_a_wrong_answer_sent_again_right_is_wrong_and_undue() -> None:
    """The first answer to a key counts."""
    row = {"strategy": "a", "inputTickTS": 1, "type": "BUY", "symbol": "X", "price": 10, "size": 10}
    counts = compared("orders", [row], [row | {"price": 11}, row]).counts
    assert counts == Counts(1, 2, 0, undue=1, wrong=1, duplicates=1)


@given(st.lists(st.integers(0, 5), max_size=20), st.lists(st.integers(0, 5), max_size=20))
def test_counts_add_up_whatever_is_sent(expected: list[int], answered: list[int]) -> None:
    """Every answer of either side is counted exactly once, also where keys repeat on both sides."""
    sides = [
        [
            {"strategy": "a", "inputTickTS": ts, "ratio": 1.0, "avgRatio": 1.0, "upperBand": 1.0, "lowerBand": 1.0}
            for ts in side
        ]
        for side in (expected, answered)
    ]
    counts = compared("indicators", *sides).counts
    pairs = sum(min(expected.count(ts), answered.count(ts)) for ts in range(6))
    surplus = sum(max(answered.count(ts) - max(expected.count(ts), 1), 0) for ts in range(6))
    assert (counts.correct, counts.missing, counts.undue) == (pairs, len(expected) - pairs, len(answered) - pairs)
    assert counts.validator == counts.correct + counts.missing + counts.wrong
    assert counts.sut == counts.correct + counts.wrong + counts.undue
    assert counts.duplicates == surplus


def test_incorrect_answers_side_by_side() -> None:
    """A wrong order shows the values of both sides, a missing order only those of the validator."""
    row = {"strategy": "a", "inputTickTS": 1, "type": "BUY", "symbol": "X", "price": 10, "size": 10}
    expected = table("orders", [row, row | {"inputTickTS": 2}])
    answers = table("orders", [row | {"price": 11}])
    found = compare(expected, answers, ORDERS)
    [wrong] = side_by_side("wrong", expected, answers, found, ORDERS).to_pylist()
    assert (wrong["val_price"], wrong["sut_price"], wrong["val_size"], wrong["sut_size"]) == (10, 11, 10, 10)
    [missing] = side_by_side("missing", expected, answers, found, ORDERS).to_pylist()
    assert (missing["inputTickTS"], missing["val_price"], missing["sut_price"]) == (2, 10, None)


def test_relative_errors_of_indicators() -> None:
    """A wrong indicator shows how far each of its values is off."""
    row = {"strategy": "a", "inputTickTS": 1, "ratio": 1.0, "avgRatio": 2.0, "upperBand": 1.0, "lowerBand": 1.0}
    expected, answers = table("indicators", [row]), table("indicators", [row | {"avgRatio": 2.5}])
    found = compare(expected, answers, INDICATORS)
    [wrong] = side_by_side("wrong", expected, answers, found, INDICATORS).to_pylist()
    assert (wrong["error_avgRatio"], wrong["error_ratio"]) == (0.25, 0.0)


def test_names_keep_their_numbers() -> None:
    """The same name has the same number in every table."""
    names = NameCodes(["a", "b"])
    assert names.code(pa.chunked_array([["b", "c"], ["a", "c"]])).tolist() == [1, 2, 0, 2]
    assert names.code(pa.chunked_array([], pa.string())).dtype == np.int64
