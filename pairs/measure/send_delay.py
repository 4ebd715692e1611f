"""How late drivers sent ticks: a summary, over time, and the delay of single ticks."""

from collections.abc import Sequence

import numpy as np

from pairs.measure.recorded_files import DriverDelays
from pairs.measure.reduce import Floats, Wholes
from pairs.run_folder.records import SLOT_US, SendDelaySummary


def percentiles(drivers: Sequence[DriverDelays], shares: Sequence[float]) -> tuple[int, list[float]]:
    """Return how many ticks drivers sent, and nearest-rank percentiles of their delays, in seconds.

    Delays are kept as a histogram; the upper end of a step stands for all that is in it.
    """
    steps_s = np.concatenate([[0.0], *(driver.steps_s for driver in drivers)])
    counts = np.concatenate([[0], *(driver.counts for driver in drivers)])
    order = np.argsort(steps_s)
    passed = np.cumsum(counts[order])
    ranks = np.ceil(np.array(shares) * passed[-1])
    found: list[float] = steps_s[order][np.searchsorted(passed, ranks)].tolist()
    return int(passed[-1]), found


def summarize(drivers: Sequence[DriverDelays]) -> SendDelaySummary:
    ticks, (p50, p99, worst) = percentiles(drivers, (0.5, 0.99, 1.0))
    acknowledged = [driver.acknowledged.p99_us / 1e6 for driver in drivers if driver.acknowledged is not None]
    slowest = max(acknowledged, default=None)
    return SendDelaySummary(ticks=ticks, p50_s=p50, p99_s=p99, max_s=worst, acknowledged_p99_s=slowest)


def delay_of_slots(drivers: Sequence[DriverDelays]) -> Wholes | None:
    """Return the worst delay of all drivers in every slot of scheduled time, in us; None if any did not record it."""
    recorded = [driver.by_slot for driver in drivers if driver.by_slot is not None]
    if not recorded or len(recorded) < len(drivers):
        return None
    worst = np.zeros(max(int(slots[-1]) for slots, _ in recorded) + 1, np.int64)
    for slots, delays_us in recorded:
        np.maximum.at(worst, np.maximum(slots, 0), delays_us)
    return worst


def worst_over_time(driver: DriverDelays, origin_us: int) -> tuple[Floats, Floats]:
    """Return the worst delays and when, in wall seconds since the first tick: by slot if recorded, else by second."""
    if driver.by_slot is None:
        return (driver.seconds * 1_000_000 - origin_us) / 1e6, driver.worst_s
    slots, delays_us = driver.by_slot
    return slots * SLOT_US / 1e6, delays_us / 1e6
