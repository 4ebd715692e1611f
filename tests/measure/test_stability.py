"""Trends are seen where there are any."""

import numpy as np
import pytest

from pairs.measure.latency import quarters
from pairs.measure.recordings import Timed
from pairs.measure.stability import trend
from tests.measure.latencies import BEGIN, END, drawn_latencies, timed


@pytest.mark.parametrize("slope", [0.6, 1.0, 5.0])
def test_growing_latency_is_seen(slope: float) -> None:
    """Growth by more than half of the median cannot be missed."""
    found = trend(drawn_latencies(slope), BEGIN, END)
    assert found is not None
    assert found.growing
    assert found.growth > 0.25


def test_falling_latency_is_seen() -> None:
    """So is an engine that still warms up."""
    found = trend(drawn_latencies(-0.6), BEGIN, END)
    assert found is not None
    assert found.falling


def test_steady_latency_raises_no_alarm() -> None:
    """No alarm in 200 steady runs, of which each would give an alarm with a probability well below 1 in 1,000."""
    assert not any(
        found.growing or found.falling
        for seed in range(200)
        if (found := trend(drawn_latencies(0.0, seed), BEGIN, END)) is not None
    )


def test_a_trend_by_chance_is_as_rare_as_it_should_be() -> None:
    """Of 400 steady runs at most 14 look as if latency moved: at 1 in 100, more has a probability below 1 in 10^4."""
    found = [trend(drawn_latencies(0.0, seed, 2_000), BEGIN, END) for seed in range(400)]
    assert sum(moved is not None and moved.certain for moved in found) <= 14


def test_the_slope_of_a_straight_line() -> None:
    """Growth is what the medians gain over the interval, as a share of the overall median."""
    times = np.linspace(BEGIN, END, 4_000, endpoint=False)
    found = trend(timed(times, 1 + (times - BEGIN) / (END - BEGIN)), BEGIN, END)
    assert found is not None
    assert found.growth == pytest.approx(1 / 1.5, rel=0.01)


def test_latency_that_never_changes_has_no_trend() -> None:
    """Equal medians are neither growing nor falling."""
    found = trend(timed(np.linspace(BEGIN, END, 400, endpoint=False), np.full(400, 0.1)), BEGIN, END)
    assert found is not None
    assert not found.certain


def test_a_burst_is_no_trend() -> None:
    """Load that rises and falls within the interval, as it does by design, does not look like growth."""
    answers = drawn_latencies(0.0)
    hump = 1 + np.sin((answers.tick_ts - BEGIN) / (END - BEGIN) * np.pi)
    found = trend(timed(answers.tick_ts, answers.latency_s * hump), BEGIN, END)
    assert found is not None
    assert not found.growing
    assert not found.falling


def test_a_few_terrible_slots_are_no_trend() -> None:
    """An outage at the end of the interval is for the quarters to tell."""
    answers = drawn_latencies(0.0)
    found = trend(with_outage(answers), BEGIN, END)
    assert found is not None
    assert not found.growing


def with_outage(answers: Timed) -> Timed:
    """Return the same answers with an outage at the end."""
    return timed(answers.tick_ts, np.where(answers.tick_ts > END - 100, 50, 1) * answers.latency_s)


def test_too_few_orders_give_no_trend() -> None:
    """Nothing is claimed that cannot be seen."""
    assert trend(timed(np.full(3, BEGIN), np.array([0.1, 0.2, 0.3])), BEGIN, END) is None
    assert trend(timed(np.empty(0), np.empty(0)), BEGIN, END) is None


def test_quarters() -> None:
    """Each quarter has its own median and percentile; an empty quarter has none."""
    answers = timed(np.array([BEGIN, BEGIN + 1, END - 1]), np.array([0.1, 0.3, 0.5]))
    first, second, third, fourth = quarters(answers, BEGIN, END)
    assert (first.count, first.p50, first.p99) == (2, 0.1, 0.3)
    assert (second.count, second.p50, third.p99) == (0, None, None)
    assert (fourth.count, fourth.p99) == (1, 0.5)
