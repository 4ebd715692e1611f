"""A burst is evaluated as published."""

from pathlib import Path

import numpy as np
import pytest

from pairs.measure.recordings import Timed, read_run
from pairs.measure.recovery import adaptivity, adaptivity_of
from pairs.model.streams import INDICATORS
from tests.report.runs import DURATION_MS, SPEED, golden_run


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


def test_steady_load_is_between_ramp_up_and_burst(tmp_path: Path) -> None:
    """The phases have the published shares of the day: 60, 300, 10 and 300 of 670 s."""
    recorded = read_run(golden_run(tmp_path, curve="burst"))
    timed, second = recorded.timed(INDICATORS), DURATION_MS / 1000 / SPEED / 670
    assert timed is not None
    burst_s = 10_000 / 1000 / SPEED  # ten seconds of simulated time at most
    found = adaptivity_of(recorded)
    expected = adaptivity(timed, 60 * second, 360 * second, 360 * second + burst_s)
    assert found is not None
    assert expected is not None
    assert found.model_dump() == pytest.approx(expected.model_dump())
