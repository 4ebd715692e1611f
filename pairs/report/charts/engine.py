"""The engine's own view of itself: its batches and its state."""

import numpy as np

from pairs.measure.recordings import Batch, Recorded
from pairs.measure.reduce import extreme_rows
from pairs.report.charts import Data, absent, numbers, times

_MOST_POINTS = 400
_NOT_RECORDED = "Not recorded: the engine's program noted nothing about batches."


def batch_durations(recorded: Recorded) -> Data:
    """How long batches took, by part: of neighbours the longest."""
    batches = _since_start(recorded)
    if not batches:
        return absent(_NOT_RECORDED)
    together = -(-len(batches) // _MOST_POINTS)
    groups = [batches[first : first + together] for first in range(0, len(batches), together)]
    longest = [max(group, key=lambda one: one.total_ms) for group in groups]
    names = _parts_by_size(batches)
    parts = {name: [one.parts_ms.get(name, 0.0) for one in longest] for name in names}
    rest = [max(one.total_ms - sum(one.parts_ms.values()), 0.0) for one in longest]
    if max(rest) > 1:
        parts["the rest"] = rest
    return {
        "x": _times(recorded, longest),
        "parts": {name: numbers(np.array(values)) for name, values in parts.items()},
        "together": together,
    }


def batch_rows(recorded: Recorded) -> Data:
    """How many ticks each batch held: of neighbours the fewest and the most."""
    batches = _since_start(recorded)
    if not batches:
        return absent(_NOT_RECORDED)
    rows = np.array([one.rows for one in batches])
    kept = _spread([one.rows for one in batches])
    return {"x": _times(recorded, [batches[row] for row in kept]), "y": numbers(rows[kept]), "batches": len(batches)}


def state(recorded: Recorded) -> Data:
    """Rows and bytes that the engine keeps between batches."""
    batches = _since_start(recorded)
    if not batches:
        return absent(_NOT_RECORDED)
    known = [one for one in batches if one.state_rows is not None or one.state_bytes is not None]
    if not known:
        return absent("Not recorded: the engine reported no state of its own.")
    kept = [known[row] for row in _spread([one.state_bytes or one.state_rows or 0 for one in known])]
    values = {
        "rows": [np.nan if one.state_rows is None else one.state_rows for one in kept],
        "bytes": [np.nan if one.state_bytes is None else one.state_bytes for one in kept],
    }
    return {"x": _times(recorded, kept)} | {
        name: numbers(np.array(found)) for name, found in values.items() if np.isfinite(found).any()
    }


def _since_start(recorded: Recorded) -> list[Batch]:
    return [one for one in recorded.batches if one.time_us >= recorded.origin_us]


def _spread(values: list[float] | list[int]) -> list[int]:
    """Return the places of the extremes of neighbours, few enough for a chart."""
    groups = np.arange(len(values)) * (_MOST_POINTS // 2) // max(len(values), _MOST_POINTS // 2)
    kept: list[int] = extreme_rows(groups, np.array(values, np.float64)).tolist()
    return kept


def _times(recorded: Recorded, batches: list[Batch]) -> Data:
    return times(recorded.wall_s(np.array([one.time_us for one in batches], np.int64)))


def _parts_by_size(batches: list[Batch]) -> list[str]:
    """Return the names of the parts, those that take most time first."""
    totals: dict[str, float] = {}
    for one in batches:
        for name, value in one.parts_ms.items():
            totals[name] = totals.get(name, 0.0) + value
    return sorted(totals, key=lambda name: -totals[name])
