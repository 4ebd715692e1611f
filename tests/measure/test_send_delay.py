"""Send delays of drivers: percentiles of a histogram, and the worst of all drivers in each slot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.measure.recorded_files import DriverDelays
from pairs.measure.reduce import percentile
from pairs.measure.send_delay import delay_of_slots, percentiles, summarize, worst_over_time


def driver(histogram: dict[int, int], slots: dict[int, int] | None = None) -> DriverDelays:
    """Return the delays of a driver, from steps of 10 us with their counts."""
    steps, counts = (np.array(list(values), np.int64) for values in (histogram.keys(), histogram.values()))
    first = np.array([5], np.int64)
    return DriverDelays(
        0,
        0,
        first,
        first,
        np.array([0.5]),
        (steps + 1) / 1e5,
        counts,
        None if slots is None else (np.array(list(slots), np.int64), np.array(list(slots.values()), np.int64)),
    )


histograms = st.dictionaries(st.integers(0, 50), st.integers(1, 40), min_size=1, max_size=12)


@given(st.lists(histograms, min_size=1, max_size=3), st.sampled_from([0.5, 0.99, 0.999, 1.0]))
def test_percentiles_of_a_histogram(found: list[dict[int, int]], share: float) -> None:
    """The same as of every single tick, of all drivers together."""
    every = np.repeat(
        [(step + 1) / 1e5 for histogram in found for step in histogram],
        [count for histogram in found for count in histogram.values()],
    )
    ticks, [value] = percentiles([driver(histogram) for histogram in found], [share])
    assert (ticks, value) == (len(every), percentile(every, share))


def test_a_driver_that_sent_nothing() -> None:
    """No tick, no delay."""
    found = summarize([driver({})])
    assert (found.ticks, found.p50_s, found.p99_s, found.max_s, found.acknowledged_p99_s) == (0, 0.0, 0.0, 0.0, None)


def test_the_worst_delay_of_each_slot() -> None:
    """That of the latest driver; unknown if a driver did not record it."""
    first, second = driver({1: 1}, {0: 10, 2: 30}), driver({1: 1}, {-1: 50, 2: 20, 3: 5})
    found = delay_of_slots([first, second])
    assert found is not None
    assert found.tolist() == [50, 0, 30, 5]
    assert delay_of_slots([first, driver({1: 1})]) is None
    assert delay_of_slots([]) is None


def test_the_worst_delay_over_time() -> None:
    """By slot where that was recorded, else by second."""
    seconds, worst_s = worst_over_time(driver({1: 1}, {0: 10, 2: 30}), 1_000_000)
    assert (seconds.tolist(), worst_s.tolist()) == ([0.0, 0.02], pytest.approx([1e-5, 3e-5]))
    seconds, worst_s = worst_over_time(driver({1: 1}), 1_000_000)
    assert (seconds.tolist(), worst_s.tolist()) == ([4.0], [0.5])
