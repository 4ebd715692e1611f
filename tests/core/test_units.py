"""Tests of counts in words."""

import pytest

from pairs.core.units import counted


@pytest.mark.parametrize(
    ("number", "noun", "written"),
    [
        (0, "run", "0 runs"),
        (1, "run", "1 run"),
        (2, "run", "2 runs"),
        (1, "strategy", "1 strategy"),
        (1_500, "strategy", "1,500 strategies"),
        (2, "day", "2 days"),
        (1, "invalid row", "1 invalid row"),
    ],
)
def test_a_noun_agrees_with_its_number(number: int, noun: str, written: str) -> None:
    """Singular after 1 alone."""
    assert counted(number, noun) == written
