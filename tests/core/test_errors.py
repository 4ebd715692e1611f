"""Tests of how errors show values."""

from datetime import date
from typing import Any

import pytest

from pairs.core.errors import shown


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("kill@0", "'kill@0'"),
        (5, "5"),
        (0.5, "0.5"),
        (True, "true"),
        (None, "null"),
        (["a", 1, False], "['a', 1, false]"),
        ({"a": 1}, "a table"),
        (date(2026, 1, 2), "2026-01-02"),
        ("x" * 200, "'" + "x" * 79 + "..."),
    ],
)
def test_values_are_shown_as_users_write_them(value: Any, written: str) -> None:
    """In TOML or on a command line, never as Python objects, and never endlessly."""
    assert shown(value) == written
