"""The schedule of a paced run: when each tick is due."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def due_us(start_us: int, tick_ts: NDArray[Any], speed: float) -> NDArray[np.int64]:
    """Return when ticks are due, us of wall time: start + tickTS / speed, rounded."""
    due: NDArray[np.int64] = start_us + np.rint(tick_ts * (1000 / speed)).astype(np.int64)
    return due
