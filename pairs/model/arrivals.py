"""When ticks arrive: their rate over a trading day, linear between knots, and the schedule of a paced run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Knots = tuple[list[float], list[float]]  # times in ms, rates; a time that stands twice is a step

LONGEST_BURST_MS = 10_000
_BURST_MS = {"ramp-up": 60_000, "steady": 300_000, "burst": LONGEST_BURST_MS, "recovery": 300_000}  # as published


def burst_phases(duration_ms: float) -> dict[str, float]:
    """Return when each phase of the curve `burst` begins, ms of simulated time.

    Phases have their published shares of the duration, but the burst lasts at most ten seconds.
    """
    scale = duration_ms / sum(_BURST_MS.values())
    steady = _BURST_MS["ramp-up"] * scale
    burst = steady + _BURST_MS["steady"] * scale
    recovery = burst + min(LONGEST_BURST_MS, _BURST_MS["burst"] * scale)
    return {"ramp-up": 0.0, "steady": steady, "burst": burst, "recovery": recovery}


def usual_phases(duration_ms: int, interval_ms: tuple[int, int]) -> dict[str, int]:
    """Return when the phases of a day with a measurement interval begin, ms of simulated time."""
    return {"ramp-up": 0, "warm-up": duration_ms // 120, "measurement": interval_ms[0], "cool-down": interval_ms[1]}


def rate_knots(
    curve: str, duration_ms: float, basis: float, peak_factor: float, steps: Sequence[tuple[int, float]] = ()
) -> Knots:
    """Return the knots of a curve; `steps` are those of the curve `phases`: until when, and the rate over the basis."""
    peak = basis * peak_factor
    if curve == "constant":
        return [0.0, duration_ms], [basis, basis]
    if curve == "phases":
        return _staircase(steps, basis)
    if curve == "burst":
        _, steady, begins, ends = burst_phases(duration_ms).values()
        return [0.0, steady, begins, begins, ends, ends, duration_ms], [0.0, basis, basis, peak, peak, basis, basis]
    shares = [0.0, 1 / 120, 1 / 4, 1 / 2, 3 / 4, 1.0]
    return [duration_ms * share for share in shares], [0.0, peak, basis, peak, basis, peak]


def _staircase(steps: Sequence[tuple[int, float]], basis: float) -> Knots:
    ends = [float(until) for until, _ in steps]
    begins = [0.0, *ends[:-1]]
    times = [time for borders in zip(begins, ends, strict=True) for time in borders]
    return times, [basis * factor for _, factor in steps for _ in range(2)]


def due_us(start_us: int, tick_ts: NDArray[Any], speed: float) -> NDArray[np.int64]:
    """Return when ticks are due, us of wall time: start + tickTS / speed, rounded."""
    due: NDArray[np.int64] = start_us + np.rint(tick_ts * (1000 / speed)).astype(np.int64)
    return due
