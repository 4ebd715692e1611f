"""Tests of the content digest."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.digest import PartialDigest, digest_batch
from pairs.model import STOCK_TICK, STOCK_TICK_CODED

Rows = list[tuple[str, int, int, int]]


def digest(rows: Rows, first_row: int = 0) -> PartialDigest:
    """Digest rows given as tuples."""
    columns = [[row[place] for row in rows] for place in range(4)]
    plain = pa.record_batch(
        [pa.array(values, one.type) for values, one in zip(columns, STOCK_TICK, strict=True)], STOCK_TICK
    )
    return digest_batch(first_row, plain.cast(STOCK_TICK_CODED))


def some_rows(count: int) -> Rows:
    """Make rows that all differ."""
    random = np.random.default_rng(5)
    return [
        (f"SYM{number % 7}", int(price), int(size), int(time))
        for number, (price, size, time) in enumerate(random.integers(1, 10_000, (count, 3)))
    ]


@given(st.lists(st.integers(0, 40), max_size=5))
def test_the_digest_does_not_depend_on_where_rows_are_cut(cuts: list[int]) -> None:
    """Parts digested apart and added up equal the whole."""
    rows = some_rows(40)
    borders = [0, *sorted(cuts), 40]
    parts = [digest(rows[a:b], a) for a, b in pairwise(borders)]
    assert sum(parts, PartialDigest()) == digest(rows)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("row", [0, 17, 39])
def test_any_changed_value_changes_the_digest(row: int, column: int) -> None:
    """One value off by one, or another symbol, shows."""
    rows = some_rows(40)
    changed: list[Any] = list(rows[row])
    changed[column] = "OTHER" if column == 0 else changed[column] + 1
    assert digest([*rows[:row], tuple(changed), *rows[row + 1 :]]).hexdigest() != digest(rows).hexdigest()


def test_order_and_length_count() -> None:
    """Two rows swapped, a row more or less, an empty stream: all differ."""
    rows = some_rows(10)
    variants = [rows, [rows[1], rows[0], *rows[2:]], rows[:-1], [*rows, rows[-1]], []]
    assert len({digest(one).hexdigest() for one in variants}) == len(variants)


def test_the_digest_is_pinned() -> None:
    """The definition of the digest never changes silently."""
    assert digest(some_rows(3)).hexdigest() == "1a9d27d8140bc151de1a776b72d74f81a0c409233292fdca67cd180a122881fd"
