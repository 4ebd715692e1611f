"""The sentences about stability: said where they must be, and not where they must not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pairs.measure import stability
from pairs.measure.stability import Backlog, Finding

Floats = NDArray[np.float64]

BEGIN, END = 1_000.0, 5_000.0


def measured(slope: float, seed: int = 0, orders: int = 4_000) -> tuple[Floats, Floats]:
    """Draw latencies around 0.1 s that change by `slope` times that over the interval."""
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(BEGIN, END, orders))
    level = 0.1 * (1 + slope * (times - BEGIN) / (END - BEGIN))
    return times, level * random.lognormal(0, 0.3, orders)


def level_of(findings: list[Finding], title: str) -> str:
    """Return how the finding with a title is judged."""
    return next(one.level for one in findings if one.title.startswith(title))


@pytest.mark.parametrize("slope", [0.6, 1.0, 5.0])
def test_growing_latency_is_seen(slope: float) -> None:
    """Growth by more than half of the median cannot be missed."""
    found = stability.trend(*measured(slope), BEGIN, END)
    assert found is not None
    assert found.growing
    assert found.growth > 0.25
    finding = next(stability.latency_findings(*measured(slope), BEGIN, END))
    assert finding.level == "bad"
    assert finding.sentence.startswith("Yes: the median grew by")


def test_falling_latency_is_seen() -> None:
    """An engine that still warms up is told so."""
    finding = next(stability.latency_findings(*measured(-0.6), BEGIN, END))
    assert finding.level == "bad"
    assert "still warming up" in finding.sentence


def test_steady_latency_raises_no_alarm() -> None:
    """No alarm in 200 steady runs, of which each would give one with a probability well below one in a thousand."""
    assert not any(
        found.growing or found.falling
        for seed in range(200)
        if (found := stability.trend(*measured(0.0, seed), BEGIN, END)) is not None
    )


def test_a_burst_is_no_trend() -> None:
    """Load that rises and falls within the interval, as it does by design, does not look like growth."""
    times, latencies = measured(0.0)
    hump = 1 + np.sin((times - BEGIN) / (END - BEGIN) * np.pi)
    found = stability.trend(times, latencies * hump, BEGIN, END)
    assert found is not None
    assert not found.growing
    assert not found.falling


def test_a_few_terrible_slots_are_no_trend() -> None:
    """An outage at the end of the interval is for the quarters to tell."""
    times, latencies = measured(0.0)
    latencies[times > END - 100] *= 50
    found = stability.trend(times, latencies, BEGIN, END)
    assert found is not None
    assert not found.growing
    assert level_of(list(stability.latency_findings(times, latencies, BEGIN, END)), "Do the quarters") == "bad"


def test_too_few_orders_give_no_trend() -> None:
    """Nothing is claimed that cannot be seen."""
    assert stability.trend(np.array([BEGIN] * 3), np.array([0.1, 0.2, 0.3]), BEGIN, END) is None
    findings = list(stability.latency_findings(np.array([BEGIN] * 3), np.array([0.1, 0.2, 0.3]), BEGIN, END))
    assert level_of(findings, "Is latency growing") == "note"
    assert level_of(findings, "Do the quarters") == "bad"
    assert level_of(findings, "Are there enough") == "bad"


def test_no_orders_at_all() -> None:
    """One plain sentence."""
    (finding,) = stability.latency_findings(np.empty(0), np.empty(0), BEGIN, END)
    assert finding.level == "bad"


def test_quarters() -> None:
    """Each quarter has its own median and percentile; an empty one has none."""
    times = np.array([BEGIN, BEGIN + 1, END - 1])
    first, second, third, fourth = stability.quarters(times, np.array([0.1, 0.3, 0.5]), BEGIN, END)
    assert (first.count, first.p50_s, first.p99_s) == (2, 0.1, 0.3)
    assert (second.count, second.p50_s, third.p99_s) == (0, None, None)
    assert (fourth.count, fourth.p99_s) == (1, 0.5)


def test_steady_runs_are_called_so() -> None:
    """Three good sentences for a steady run of thousands of orders."""
    assert [one.level for one in stability.latency_findings(*measured(0.0), BEGIN, END)] == ["good"] * 3


@given(st.integers(0, 10_000))
def test_bounds_enclose_the_percentile(seed: int) -> None:
    """The measured percentile always lies within its own bounds."""
    _, latencies = measured(0.0, seed, orders=2_000)
    bounds = stability.p99_bounds(latencies)
    assert bounds is not None
    assert bounds[0] <= np.quantile(latencies, 0.99, method="inverted_cdf") <= bounds[1]


def test_bounds_cover_the_truth() -> None:
    """Of 500 draws the 95 % bounds hold the true percentile in at least 450: a false alarm in 10^6."""
    truth = float(np.exp(0.3 * 2.3263478740408408))
    draws = (np.random.default_rng(seed).lognormal(0, 0.3, 2_000) for seed in range(500))
    found = [bounds for one in draws if (bounds := stability.p99_bounds(one)) is not None]
    assert sum(low <= truth <= high for low, high in found) >= 450


def test_few_orders_have_no_bounds() -> None:
    """A hundred orders do not tell where the 99th percentile is."""
    assert stability.p99_bounds(np.arange(100.0)) is None
    assert stability.p99_bounds(np.empty(0)) is None


def test_a_growing_backlog() -> None:
    """An engine that falls behind did not sustain the load."""
    times = np.arange(0.0, 100.0)
    found = stability.backlog(times, (times * 1_000).astype(int), 25, 75, per_second=5_000)
    assert found is not None
    assert found.worst_s == pytest.approx(99 / 5)
    assert stability.backlog_finding(found).level == "bad"


def test_a_steady_backlog() -> None:
    """One batch is always waiting; that is no backlog."""
    times = np.arange(0.0, 100.0)
    found = stability.backlog(times, np.full(100, 900), 25, 75, per_second=5_000)
    assert found == Backlog(0.18, 0.18, 0.18, 0.18)
    assert stability.backlog_finding(found).level == "good"


def test_a_backlog_that_was_not_noted() -> None:
    """Unknown is said to be unknown."""
    assert stability.backlog(np.array([1.0]), np.array([5]), 25, 75, 5_000) is None
    assert stability.backlog_finding(None).level == "note"
    assert stability.backlog_finding(Backlog(9.0, 0.1, 0.1, 5.0)).level == "note"


@pytest.mark.parametrize(
    ("used", "level"),
    [
        ({"engine JVM": 1.0, "sink": 0.1}, "good"),
        ({"engine JVM": 1.0, "driver-0": 0.5}, "note"),
        ({"engine JVM": 1.8, "driver-0": 0.1}, "bad"),
    ],
)
def test_a_busy_machine(used: dict[str, float], level: str) -> None:
    """A machine that is full is measured along with the engine."""
    assert [one.level for one in stability.machine_findings(used, 2, 1.0)] == [level]


def test_a_machine_that_stood_still() -> None:
    """A gap in the samples says that something held the machine."""
    findings = list(stability.machine_findings({"engine": 0.5}, 2, 8.0))
    assert [one.level for one in findings] == ["good", "bad"]
    assert not list(stability.machine_findings({}, 2, 1.0))


@pytest.mark.parametrize(("sent", "level"), [(None, "note"), (0.095, "good"), (0.05, "bad")])
def test_a_late_driver(sent: float | None, level: str) -> None:
    """More than a tenth of the latency from the driver is too much."""
    assert stability.lateness_finding(0.1, sent).level == level
