"""The interval of the 99th percentile: that of a plain bootstrap, and as wide as few triggers make it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairs.measure.bootstrap import p99_interval
from pairs.measure.reduce import Floats, Wholes, percentile


def drawn(seed: int, triggers: int, orders: int) -> tuple[Floats, Wholes]:
    """Draw latencies of orders that come and are late together with their triggers."""
    random = np.random.default_rng(seed)
    trigger = random.integers(0, triggers, orders)
    return random.lognormal(0, 0.4, triggers)[trigger] * random.uniform(0.99, 1.01, orders), trigger


def plain_interval(latencies: Floats, triggers: Wholes, resamples: int = 2_000) -> tuple[float, float]:
    """Draw triggers one by one, put their latencies together, take the percentile: slow, and plainly right."""
    random = np.random.default_rng(7)
    groups = [latencies[triggers == trigger] for trigger in np.unique(triggers)]
    found = []
    for _ in range(resamples):
        chosen = random.integers(0, len(groups), len(groups))
        found.append(percentile(np.concatenate([groups[place] for place in chosen.tolist()]), 0.99))
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


@pytest.mark.parametrize(("triggers", "orders"), [(12, 3_000), (150, 600), (400, 400), (700, 20_000)])
def test_as_a_plain_bootstrap(triggers: int, orders: int) -> None:
    """The ends are those of a plain implementation, within the noise of drawing."""
    latencies, trigger = drawn(triggers, triggers, orders)
    assert p99_interval(latencies, trigger) == pytest.approx(plain_interval(latencies, trigger), rel=0.12)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 300), st.integers(2, 2_000))
def test_an_interval_has_measured_ends(seed: int, triggers: int, orders: int) -> None:
    """Both ends are latencies that were measured, in order; and the same whenever they are asked for."""
    latencies, trigger = drawn(seed, triggers, orders)
    found = p99_interval(latencies, trigger)
    if len(np.unique(trigger)) < 2:
        assert found is None
        return
    assert found is not None
    assert found[0] <= found[1]
    assert set(found) <= set(latencies.tolist())
    assert found == p99_interval(latencies, trigger)


def test_orders_of_few_triggers_are_few_observations() -> None:
    """Ten thousand orders of 12 triggers tell far less than of 1,000 triggers."""
    widths = []
    for triggers in (12, 1_000):
        latencies, trigger = drawn(3, triggers, 10_000)
        low, high = p99_interval(latencies, trigger) or (0.0, 0.0)
        widths.append((high - low) / percentile(latencies, 0.99))
    assert widths[0] > 2 * widths[1]


def test_the_interval_covers_the_truth() -> None:
    """Of 100 draws with 1,000 triggers the interval holds the true percentile in at least 82: an alarm in 10^5."""
    truth = float(np.exp(0.4 * 2.3263478740408408))
    covered = 0
    for seed in range(100):
        latencies = np.random.default_rng(seed).lognormal(0, 0.4, 1_000)
        low, high = p99_interval(latencies, np.arange(1_000)) or (0.0, 0.0)
        covered += low <= truth <= high
    assert covered >= 82


def test_one_trigger_has_no_interval() -> None:
    """Nor has none."""
    assert p99_interval(np.array([1.0, 2.0]), np.array([5, 5])) is None
    assert p99_interval(np.empty(0), np.empty(0, np.int64)) is None
