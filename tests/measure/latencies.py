"""Draws latencies for the tests of what is said about them; seeds are fixed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairs.measure.recordings import Timed

BEGIN, END = 1_000.0, 5_000.0  # of the measurement interval


def drawn_latencies(slope: float, seed: int = 0, orders: int = 4_000) -> Timed:
    """Draw latencies around 0.1 s that change by `slope` times that over the interval."""
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(BEGIN, END, orders))
    level = 0.1 * (1 + slope * (times - BEGIN) / (END - BEGIN))
    return timed(times, level * random.lognormal(0, 0.3, orders))


def timed(times: NDArray[Any], latencies_s: NDArray[Any]) -> Timed:
    """Return answers with given times and latencies."""
    return Timed(times.astype(np.int64), times / 1000, np.asarray(latencies_s, np.float64), None)
