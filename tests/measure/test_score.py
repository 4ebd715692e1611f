"""The score reproduces the published ones, and does not count where it must not."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.config.workload import complete
from pairs.measure.score import Measured, Score, adaptivity, load, percentile, recovery_class, recovery_times_s, score

# Scale factor, 99th percentile in ms, p_score: the published results of two engines.
PUBLISHED = [
    (1, 63, 47.62),
    (2, 175, 34.29),
    (3, 203, 44.33),
    (4, 351, 34.19),
    (5, 91_862, 0.16),
    (1, 22, 136.36),
    (2, 24, 250.00),
]
GOOD = Measured(passed=True, ticks=100, ticks_sent=100, lateness_p99_s=0.001, latencies_s=np.full(50, 0.2))


def standard_load(scale_factor: int) -> float:
    """Return the load of a standard workload; half the symbols are watched, so a tick concerns 2 S / N strategies."""
    workload = complete({"scale_factor": scale_factor})
    return load(float(workload.basis_rate), workload.strategies, 2 * workload.strategies / workload.symbols)


@pytest.mark.parametrize(("scale_factor", "expected"), [(1, 3), (2, 6), (4, 12), (10, 30), (11, 44), (100, 1_200)])
def test_the_load_of_scale_factors(scale_factor: int, expected: float) -> None:
    """The load of the standard scale factors is that of the specification."""
    assert standard_load(scale_factor) == pytest.approx(expected)


@given(st.integers(1, 3_000))
def test_the_load_has_a_closed_form(scale_factor: int) -> None:
    """The published formula, which knows only the scale factor, gives the same."""
    markets = math.ceil(scale_factor / 10)
    closed = scale_factor * markets + 2 * (10 * (markets - 1) + (scale_factor - 1) % 10 + 1)
    assert standard_load(scale_factor) == pytest.approx(closed)


@pytest.mark.parametrize(("scale_factor", "p99_ms", "expected"), PUBLISHED)
def test_published_scores(scale_factor: int, p99_ms: int, expected: float) -> None:
    """The scores of the engines X and Y follow from their latencies."""
    measured = replace(GOOD, latencies_s=np.full(10, p99_ms / 1000))
    assert round(score(standard_load(scale_factor), measured).p_score or 0, 2) == expected


@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=300), st.sampled_from([0.5, 0.95, 0.99, 0.999, 1.0]))
def test_percentiles_are_nearest_rank(values: list[float], share: float) -> None:
    """The value at rank ceil(share n), counted from 1."""
    assert percentile(np.array(values), share) == sorted(values)[math.ceil(share * len(values)) - 1]


def test_a_good_run_counts() -> None:
    """Load over latency, no reason against it."""
    assert score(3.0, GOOD) == Score(3.0, 0.2, 15.0, ())
    assert score(3.0, GOOD).valid


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"passed": False}, "validation FAILED"),
        ({"ticks_sent": 99}, "99 of 100 ticks were sent"),
        ({"lateness_p99_s": 0.0201}, "the driver was 20.1 ms late at the 99th percentile, 20.0 ms are allowed"),
        ({"lateness_p99_s": None}, "the driver did not record how late it was"),
        ({"latencies_s": np.empty(0)}, "no order was triggered in the measurement interval"),
        ({"latencies_s": np.full(3, -0.1)}, "latencies are not above zero, so the clocks cannot be trusted"),
        ({"paced": False}, "the run was unpaced"),
        ({"failures": ("the engine ended with exit code 1",)}, "the engine ended with exit code 1"),
    ],
)
def test_what_makes_a_score_void(change: dict[str, object], reason: str) -> None:
    """Each of them alone, with its reason."""
    found = score(3.0, replace(GOOD, **change))  # type: ignore[arg-type]
    assert found.reasons == (reason,)
    assert not found.valid


def test_a_driver_may_be_late_by_a_tenth_or_by_ten_milliseconds() -> None:
    """Whichever is more."""
    fast = replace(GOOD, latencies_s=np.full(5, 0.02))
    assert score(3.0, replace(fast, lateness_p99_s=0.010)).valid
    assert not score(3.0, replace(fast, lateness_p99_s=0.0101)).valid
    assert score(3.0, replace(GOOD, lateness_p99_s=0.02)).valid


def test_all_reasons_are_given() -> None:
    """A run that fails in two ways says both."""
    assert len(score(3.0, replace(GOOD, passed=False, ticks_sent=1)).reasons) == 2


def test_recovery_is_when_the_backlog_is_gone() -> None:
    """Killed at 20.5 s, back at 30 s, it has caught up when no more than a second of input is left."""
    times = np.arange(60, dtype=float)
    sent = np.arange(60) * 100
    taken = np.where(times <= 20, sent - 20, 1_980)
    taken[30:] = np.minimum(1_980 + 300 * (np.arange(30) + 1), sent[30:] - 20)
    assert recovery_times_s(times, sent, taken, [20.5]) == [pytest.approx(13.5)]
    assert recovery_times_s(times[:32], sent[:32], taken[:32], [20.5]) == [None]
    assert recovery_times_s(times, sent, taken, [0.1]) == [None]  # nothing is known of before


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((0, 0, 0), "precise"), ((0, 2, 0), "rollback"), ((1, 0, 0), "gap"), ((1, 2, 0), "gap"), ((0, 0, 1), "none")],
)
def test_classes_of_recovery(counts: tuple[int, int, int], expected: str) -> None:
    """Nothing missing and nothing twice is precise; twice is rollback; missing is a gap."""
    assert recovery_class(*counts).startswith(expected)


def test_a_burst_is_weighed_as_published() -> None:
    """Steady at 0.1 s, up to 2 s in the burst, back 3 s after its end, and a little slower then."""
    due = np.arange(0, 100, 0.5)
    latencies = np.full(len(due), 0.1)
    latencies[(due >= 50) & (due < 60)] = np.linspace(0.5, 2.0, 20)
    latencies[(due >= 60) & (due < 62.5)] = 1.0
    latencies[(due >= 62.5) & (due <= 63)] = 0.09
    latencies[due > 63] = 0.12
    found = adaptivity(due, latencies, 25, (50, 60))
    assert found is not None
    assert found.max_peak_latency_s == 2.0
    assert found.peak_degradation_ratio == pytest.approx(20)
    assert found.recovery_time_s == pytest.approx(62.5 + 0.09 - 60)
    assert found.post_peak_variation_ratio == pytest.approx(1.2, abs=0.01)
    assert adaptivity(due[:100], latencies[:100], 25, (50, 60)) is None
    never = adaptivity(due[:125], latencies[:125], 25, (50, 60))
    assert never is not None
    assert never.recovery_time_s is None
