"""A burst is evaluated as published."""

import numpy as np
import pytest

from pairs.measure.recordings import Timed
from pairs.measure.recovery import adaptivity


def test_a_burst_is_evaluated_as_published() -> None:
    """Steady at 0.1 s, up to 2 s in the burst, back 3 s after its end, and a little slower then."""
    due = np.arange(0, 100, 0.5)
    latencies = np.full(len(due), 0.1)
    latencies[(due >= 50) & (due < 60)] = np.linspace(0.5, 2.0, 20)
    latencies[(due >= 60) & (due < 62.5)] = 1.0
    latencies[(due >= 62.5) & (due <= 63)] = 0.09
    latencies[due > 63] = 0.12
    timed = Timed((due * 1000).astype(np.int64), due, latencies, None)
    found = adaptivity(timed, 25, 50, 60)
    assert found is not None
    assert found.max_peak_latency_s == 2.0
    assert found.peak_degradation_ratio == pytest.approx(20)
    assert found.recovery_time_s == pytest.approx(62.5 + 0.09 - 60)
    assert found.post_peak_variation_ratio == pytest.approx(1.2, abs=0.01)
    assert adaptivity(timed.where(due < 50), 25, 50, 60) is None
    never = adaptivity(timed.where(due < 62.5), 25, 50, 60)
    assert never is not None
    assert never.recovery_time_s is None
