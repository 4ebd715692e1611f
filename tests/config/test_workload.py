"""Tests of the scaling rules."""

import pytest

from pairs.config.workload import complete

TABLE = {  # scale factor: markets, symbols, correlations, users, strategies, basis rate
    1: (1, 100, 25, 5, 25, 5_000),
    8: (1, 100, 25, 40, 200, 5_000),
    10: (1, 100, 25, 50, 250, 5_000),
    11: (2, 200, 50, 55, 275, 10_000),
    15: (2, 200, 50, 75, 375, 10_000),
    100: (10, 1_000, 250, 500, 2_500, 50_000),
}


@pytest.mark.parametrize("scale_factor", TABLE)
def test_the_published_scaling_table_holds(scale_factor: int) -> None:
    """Markets, symbols, correlations, users, strategies and rate follow from the scale factor."""
    made = complete({"scale_factor": scale_factor})
    counts = (made.markets, made.symbols, made.correlations, made.users, made.strategies, int(made.basis_rate))
    assert counts == TABLE[scale_factor]
    assert made.nonstandard == []


def test_the_measurement_interval_is_the_middle_half() -> None:
    """Two hours are measured from 30 to 90 minutes; what is not a whole ms is rounded up, so that D/4 <= tickTS."""
    assert complete({}).measurement_interval == (1_800_000, 5_400_000)
    assert complete({"duration": 10}).measurement_interval == (3, 8)


@pytest.mark.parametrize(
    ("values", "named"),
    [({"symbols": 50}, ["symbols", "correlations"]), ({"duration": 60_000}, ["duration"]), ({"seed": 9}, [])],
)
def test_what_is_not_standard_is_named(values: dict[str, int], named: list[str]) -> None:
    """Every setting that differs from the standard is listed; the seed is free."""
    assert complete(values).nonstandard == named
