"""The engine's own view of itself: its batches and its state."""

import numpy as np

from pairs.measure.engine import durations_by_part
from pairs.measure.recorded_files import Batch
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import extreme_rows
from pairs.report.charts import Data, absent, numbers, times

_MOST_POINTS = 400
_NOT_RECORDED = "Not recorded: the engine's program noted nothing about batches."


def batch_durations(recorded: Recorded) -> Data:
    """How long batches took, by part: of neighbours the longest."""
    batches = recorded.batches
    if not batches:
        return absent(_NOT_RECORDED)
    together = -(-len(batches) // _MOST_POINTS)
    groups = [batches[first : first + together] for first in range(0, len(batches), together)]
    longest = [max(group, key=lambda batch: batch.total_ms) for group in groups]
    parts = {name: numbers(values) for name, values in durations_by_part(longest).items()}
    return {"x": _times(recorded, longest), "parts": parts, "together": together}


def batch_rows(recorded: Recorded) -> Data:
    """How many ticks each batch held: of neighbours the fewest and the most."""
    batches = recorded.batches
    if not batches:
        return absent(_NOT_RECORDED)
    kept = _spread(batches, [batch.rows for batch in batches])
    return {"x": _times(recorded, kept), "y": numbers([batch.rows for batch in kept])}


def state(recorded: Recorded) -> Data:
    """Rows and megabytes that the engine keeps between batches."""
    batches = recorded.batches
    if not batches:
        return absent(_NOT_RECORDED)
    known = [batch for batch in batches if batch.state_rows is not None or batch.state_bytes is not None]
    if not known:
        return absent("Not recorded: the engine reported no state of its own.")
    kept = _spread(known, [batch.state_bytes or batch.state_rows or 0 for batch in known])
    rows = np.array([batch.state_rows for batch in kept], np.float64)  # None becomes NaN
    megabytes = np.array([batch.state_bytes for batch in kept], np.float64) / 1e6
    values = {"rows": rows, "megabytes": megabytes}
    return {"x": _times(recorded, kept)} | {
        name: numbers(found) for name, found in values.items() if np.isfinite(found).any()
    }


def _spread(batches: list[Batch], values: list[float] | list[int]) -> list[Batch]:
    """Return the batches with the extremes of neighbours, few enough for a chart."""
    groups = np.arange(len(values)) * (_MOST_POINTS // 2) // max(len(values), _MOST_POINTS // 2)
    return [batches[row] for row in extreme_rows(groups, np.array(values, np.float64))]


def _times(recorded: Recorded, batches: list[Batch]) -> Data:
    return times(recorded.wall_s(np.array([batch.time for batch in batches], np.int64)))
