"""Tests of the kinds of configuration values."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.config.values import (
    Kind,
    choice,
    number,
    rate,
    share,
    spark_master,
    speed,
    suggestion,
    text,
    time_span,
    whole,
)
from pairs.core.units import parse_duration_ms, show_duration


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("2h", 7_200_000),
        ("12m", 720_000),
        ("1h30m", 5_400_000),
        ("90s", 90_000),
        (90, 90_000),
        ("0.5s", 500),
        ("3ms", 3),
    ],
)
def test_durations_are_read_as_people_write_them(written: Any, milliseconds: int) -> None:
    """Units add up; a plain number is seconds."""
    assert parse_duration_ms(written) == milliseconds


@given(st.integers(1, 366 * 86_400_000))
def test_a_shown_duration_reads_back(milliseconds: int) -> None:
    """Every duration survives being written and read."""
    assert parse_duration_ms(show_duration(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        *((time_span(), raw) for raw in ("0", "-1", "-2h", "", "h", "2x", "1.5ms", "nan", "1e3", True, None, "400d")),
        *((whole(1), raw) for raw in (0, -1, 1.5, 1.0, "1.5", "x", "", True, None, "1e3", "٣x")),
        *((whole(0, 5), raw) for raw in (6, "6")),
        *((number("", lambda x: x > 0), raw) for raw in ("nan", "inf", 0, "-1", "x", True, None)),
        *(
            (rate(), raw)
            for raw in (0, -1, "0", "-5", "1/0", "x", True, None, "nan", "1e12", 1e300, 1e-9, "1e99999999", "1" * 50)
        ),
        *((share(1, 200), raw) for raw in ("75", 75, "0.9%", "201%", "-5%", "%", "1e2%", "75 %", "٣%x", None)),
        *((speed(), raw) for raw in (0, -1, "fast", None)),
        *((choice("a", "b"), raw) for raw in ("c", "", None, 1)),
        *((spark_master(), raw) for raw in ("", "nowhere", "local[0]", "local[x]", "local[2", "local[2]x", "://x", 3)),
        *((text("NAME"), raw) for raw in ("", " ", 3, None)),
    ],
)
def test_wrong_values_are_refused(kind: Kind, raw: Any) -> None:
    """Any other value raises ValueError, and no other error."""
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the configuration's business
        kind.parse(raw)


@pytest.mark.parametrize(
    ("raw", "value", "shown"),
    [("5000/60", Fraction(250, 3), "250/3"), (5000, Fraction(5000), 5000), (83.5, Fraction(167, 2), "167/2")],
)
def test_rates_stay_exact(raw: Any, value: Fraction, shown: object) -> None:
    """A rate may be a fraction, and is written back as a fraction."""
    assert rate().parse(raw) == value
    assert rate().show(value) == shown


@pytest.mark.parametrize(("raw", "value"), [("75%", Fraction(3, 4)), ("12.5%", Fraction(1, 8)), ("200%", Fraction(2))])
def test_shares_stay_exact(raw: str, value: Fraction) -> None:
    """A share is written in percent."""
    assert share(1, 200).parse(raw) == value


@pytest.mark.parametrize(
    "master",
    [
        "local",
        "local[2]",
        "local[*]",
        "local[*,4]",
        "local[2, 3]",
        "local-cluster[2,1,1024]",
        "yarn",
        "spark://a:1,b:2",
    ],
)
def test_masters_of_spark_are_accepted(master: str) -> None:
    """All that Spark itself understands."""
    assert spark_master().parse(master) == master


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("quik", "did you mean 'quick'?"),
        ("Standard", "did you mean 'standard'?"),
        ("nosuch", "give one of quick, sprint, standard"),
        ("", "give one of quick, sprint, standard"),
        ("spring-sale", "give one of quick, sprint, standard"),
    ],
)
def test_only_what_is_near_is_suggested(word: str, said: str) -> None:
    """Else all that there are."""
    assert suggestion(word, ["quick", "sprint", "standard"]) == said


def test_a_long_fraction_reads_back() -> None:
    """As it may be in dataset.json: a rate of forty digits times a number of markets."""
    value = rate().parse("0.000001" + 34 * "7") * 99
    assert rate().parse(rate().show(value)) == value
