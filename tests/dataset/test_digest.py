"""Tests of the content digest."""

from hashlib import blake2b, sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.dataset.digest import PartialDigest, digest_batch
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED

Rows = list[tuple[str, int, int, int]]


def digest(rows: Rows, first_row: int = 0) -> PartialDigest:
    """Digest rows given as tuples."""
    columns = [[row[place] for row in rows] for place in range(4)]
    plain = pa.record_batch(
        [pa.array(values, field.type) for values, field in zip(columns, STOCK_TICK, strict=True)], STOCK_TICK
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
    """A value off by one, or another symbol, changes the digest."""
    rows = some_rows(40)
    changed: list[Any] = list(rows[row])
    changed[column] = "OTHER" if column == 0 else changed[column] + 1
    assert digest([*rows[:row], tuple(changed), *rows[row + 1 :]]).hexdigest() != digest(rows).hexdigest()


def test_order_and_length_count() -> None:
    """Two rows swapped, a row more or less, an empty stream: all differ."""
    rows = some_rows(10)
    variants = [rows, [rows[1], rows[0], *rows[2:]], rows[:-1], [*rows, rows[-1]], []]
    assert len({digest(rows).hexdigest() for rows in variants}) == len(variants)


def documented_digest(rows: Rows) -> str:
    """Compute the digest row by row, as docs/digests.md describes it."""
    total, modulus = 0, 2**64
    for number, (symbol, price, size, tick_ts) in enumerate(rows):
        word = number * 0x9E3779B97F4A7C15 + int.from_bytes(blake2b(symbol.encode(), digest_size=8).digest(), "little")
        word += (size * 2**32 + price) * 0xD1B54A32D192ED03 + tick_ts * 0x8CB92BA72F3D8DD7
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            word = word % modulus
            word = (word ^ (word >> shift)) * factor
        total += word
    return sha256(f"pairs-ticks-1:{len(rows)}:{total % modulus}".encode()).hexdigest()


@pytest.mark.parametrize("count", [0, 1, 40])
def test_the_digest_is_the_documented_one(count: int) -> None:
    """Anyone can compute the digest from its description."""
    assert digest(some_rows(count)).hexdigest() == documented_digest(some_rows(count))
