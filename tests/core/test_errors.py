"""Tests of messages: whatever is in them, they are one line that can be read."""

from datetime import date
from typing import Any

import pytest

from pairs.core.errors import one_line, shown


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


def test_a_message_is_one_line_without_control_characters() -> None:
    """Names from data or disk may hold anything."""
    assert one_line("a\nb\t c\x1b[31m\u202e") == "a b c\\x1b[31m\\u202e"


def test_a_long_message_loses_its_middle() -> None:
    """The place at its beginning and the remedy at its end stay."""
    line = one_line(f"file.toml: {'x' * 100_000} is not valid; give a number")
    assert len(line) <= 2_000
    assert line.startswith("file.toml: xxx")
    assert " ... " in line
    assert line.endswith("xxx is not valid; give a number")
