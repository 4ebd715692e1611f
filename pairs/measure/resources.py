"""What the processes of a run used of the machine over time."""

from dataclasses import dataclass

import numpy as np

from pairs.measure.recorded_files import Samples
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats

_MOST_POINTS = 360


@dataclass(frozen=True)
class PartsOverTime:
    """A number for each part of the run over time; NaN where nothing is known."""

    seconds: Floats  # of wall time, since the first tick was due
    values: dict[str, Floats]  # by part, of those that have any


def per_second(recorded: Recorded, samples: Samples, values: Floats) -> PartsOverTime:
    """Return mean rates of what was used since the sample before, over so many samples that a chart can show them."""
    seconds = recorded.wall_s(samples.time_us)
    firsts = np.arange(1, len(seconds), -(-len(seconds) // _MOST_POINTS))
    if not len(firsts):
        return PartsOverTime(np.empty(0), {})
    lasts = np.append(firsts[1:], len(seconds)) - 1
    spans = seconds[lasts] - seconds[firsts - 1]
    sums = np.add.reduceat(np.nan_to_num(values), firsts, axis=0)
    known = np.add.reduceat(np.isfinite(values), firsts, axis=0) > 0
    return _by_part(samples, seconds[lasts], np.where(known, sums / spans[:, None], np.nan))


def most_in_slots(recorded: Recorded, samples: Samples, values: Floats) -> PartsOverTime:
    """Return the greatest values of neighbouring samples, as many as a chart can show."""
    seconds = recorded.wall_s(samples.time_us)
    firsts = np.arange(0, len(seconds), -(-len(seconds) // _MOST_POINTS))
    return _by_part(samples, seconds[firsts], np.fmax.reduceat(values, firsts, axis=0))


def _by_part(samples: Samples, seconds: Floats, grid: Floats) -> PartsOverTime:
    columns = dict(zip(samples.parts, grid.T, strict=True))
    return PartsOverTime(seconds, {part: values for part, values in columns.items() if np.isfinite(values).any()})
