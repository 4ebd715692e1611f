"""Puts numbers into a page: as plotly's own typed arrays for charts, and packed where there are very many of them.

Packed are the answers of all strategies: byte planes, deflate, base64; the page's script unpacks them.
"""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairs.measure.reduce import Floats, Wholes

_LEVEL = 6
_NOTHING = 65_535  # the step that stands for "no number"


def typed_array(values: NDArray[Any]) -> dict[str, str]:
    values = np.ascontiguousarray(values)
    return {"dtype": values.dtype.str[1:], "bdata": base64.b64encode(values.tobytes()).decode("ascii")}


def pack(values: NDArray[Any], delta: bool = False) -> dict[str, Any]:
    """Pack an array of 8, 16 or 32-bit whole numbers or doubles; `delta` where neighbours are alike.

    Bytes of equal weight are put next to each other, which is what deflate compresses well.
    """
    values = np.ascontiguousarray(values)
    kind = f"{values.dtype.kind}{values.dtype.itemsize}"
    if kind not in ("u1", "u2", "i4", "f8"):
        raise TypeError(f"{values.dtype} cannot be packed")
    if delta:
        values = np.diff(values, prepend=values.dtype.type(0))  # overflow wraps around, and back when it is undone
    planes = values.view(np.uint8).reshape(len(values), -1).T if len(values) else np.empty(0, np.uint8)
    packed = zlib.compress(np.ascontiguousarray(planes).tobytes(), _LEVEL)
    return {"packed": kind, "n": len(values), "delta": delta, "z": base64.b64encode(packed).decode("ascii")}


def whole(values: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in 32 bits if they fit, else as doubles."""
    info = np.iinfo(np.int32)
    fits = not len(values) or (values.min() >= info.min and values.max() <= info.max)
    return values.astype(np.int32 if fits else np.float64)


def quantise(values: Floats, starts: Wholes) -> tuple[NDArray[np.uint16], Floats, Floats]:
    """Return each series in 16-bit steps between its own least and greatest value, and these two.

    `starts` says where the series begin, and where the last series ends.
    """
    lengths = np.diff(starts)
    finite = np.isfinite(values)
    low = _of_each(np.minimum, np.where(finite, values, np.inf), starts)
    high = _of_each(np.maximum, np.where(finite, values, -np.inf), starts)
    span = np.where(high > low, high - low, 1.0)
    with np.errstate(invalid="ignore"):
        steps = (values - np.repeat(low, lengths)) / np.repeat(span, lengths) * (_NOTHING - 1)
    return np.where(finite, np.rint(steps), _NOTHING).astype(np.uint16), low, high


def _of_each(reduce: np.ufunc, values: Floats, starts: Wholes) -> Floats:
    """Reduce each series to a number; 0 where no value is finite."""
    found = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        found[filled] = reduce.reduceat(values, starts[filled])
    return np.where(np.isfinite(found), found, 0.0)
