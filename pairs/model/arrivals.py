"""When ticks arrive: their rate over a trading day, linear between knots, and the schedule of a paced run."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST_BURST_MS = 10_000


def burst_of(duration_ms: float) -> tuple[float, float]:
    """Return the start and end of the burst in the curve `burst`, ms of simulated time."""
    begins = duration_ms / 2
    return begins, begins + min(LONGEST_BURST_MS, duration_ms / 10)


def rate_knots(curve: str, duration_ms: float, basis: float, peak_factor: float) -> tuple[list[float], list[float]]:
    peak = basis * peak_factor
    if curve == "constant":
        return [0.0, duration_ms], [basis, basis]
    if curve == "burst":  # flat after the ramp-up, except for the burst with its short flanks
        begins, ends = burst_of(duration_ms)
        flank = (ends - begins) / 1000
        times = [0.0, duration_ms / 12, begins, begins + flank, ends, ends + flank, duration_ms]
        return times, [0.0, basis, basis, peak, peak, basis, basis]
    shares = [0.0, 1 / 120, 1 / 4, 1 / 2, 3 / 4, 1.0]
    return [duration_ms * share for share in shares], [0.0, peak, basis, peak, basis, peak]


def due_us(start_us: int, tick_ts: NDArray[Any], speed: float) -> NDArray[np.int64]:
    """Return when ticks are due, us of wall time: start + tickTS / speed, rounded."""
    due: NDArray[np.int64] = start_us + np.rint(tick_ts * (1000 / speed)).astype(np.int64)
    return due
