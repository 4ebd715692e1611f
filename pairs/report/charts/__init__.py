"""The data of the charts: a function each, from what was measured to series for plotly, or to why there is none."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairs.report.packing import typed_array

Data = dict[str, Any]

# Plotly takes numbers below 10,000 on an axis of dates for years, so times count from some midnight, as in data.js.
_MIDNIGHT_MS = 946_684_800_000


def absent(reason: str) -> Data:
    """Return what stands in the place of a chart that cannot be drawn."""
    return {"absent": reason}


def times(seconds: NDArray[Any]) -> Data:
    """Return wall seconds since the first tick as what an axis of time takes."""
    return typed_array(_MIDNIGHT_MS + np.rint(np.asarray(seconds, np.float64) * 1000))


def numbers(values: NDArray[Any] | list[float]) -> Data:
    """Return values with seven digits, which is more than a chart can show."""
    return typed_array(np.asarray(values, np.float32))


def log_range(series: Iterable[NDArray[Any]]) -> list[float]:
    """Return the least and the greatest value above zero, for a logarithmic axis; nothing if there is none."""
    above = np.concatenate([np.empty(0), *(values[values > 0] for values in series)])
    return [float(above.min()), float(above.max())] if len(above) else []
