"""Estimates of how long runs take."""

import pytest

from pairs.measure.run_time import run_seconds, show_minutes


def test_a_run_takes_its_wall_time_and_what_is_around_it() -> None:
    """Two simulated hours at speed 20 are six minutes, and half a minute more."""
    assert run_seconds(7_200_000, 20.0) == 390


@pytest.mark.parametrize(
    ("seconds", "shown"), [(12.2, "13 s"), (90, "90 s"), (91, "2 min"), (390, "7 min"), (5_460, "1 h 31 min")]
)
def test_rough_times(seconds: float, shown: str) -> None:
    """Rounded up, in a unit that suits."""
    assert show_minutes(seconds) == shown
