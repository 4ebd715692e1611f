"""The data of the charts: one function each, from what was recorded to packed series, or to why there is none."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairs.report.packing import pack

Data = dict[str, Any]


def absent(reason: str) -> Data:
    """Return what stands in the place of a chart that cannot be drawn."""
    return {"absent": reason}


def times(seconds: NDArray[Any]) -> Data:
    """Pack times as whole milliseconds since the first tick was due."""
    return {"times": pack(np.rint(np.asarray(seconds, np.float64) * 1000).astype(np.int32), delta=True)}


def numbers(values: NDArray[Any]) -> Data:
    """Pack values."""
    return pack(np.asarray(values, np.float64))
