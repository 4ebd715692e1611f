"""What the processes of a run used of the machine: over time, on average, and for a million ticks."""

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


@dataclass(frozen=True)
class Usage:
    """What the parts of a run used within the measurement interval."""

    cores: dict[str, float]  # by part, on average
    longest_gap_s: float  # between two samples

    @property
    def total(self) -> float:
        """Cores that all parts used."""
        return sum(self.cores.values())

    @property
    def engine(self) -> float:
        """Cores that the engine used."""
        return sum(cores for part, cores in self.cores.items() if part.startswith("engine"))


def usage(recorded: Recorded) -> Usage | None:
    """Return what the parts of a run used within the measurement interval; None if that was not sampled."""
    samples = recorded.resources
    if samples is None:
        return None
    seconds, (begin, end) = recorded.wall_s(samples.time_us), recorded.interval_s
    inside = np.flatnonzero((seconds >= begin) & (seconds < end))
    if len(inside) < 2:
        return None
    span = seconds[inside[-1]] - seconds[inside[0]]
    cores = np.nansum(samples.cpu_seconds[inside[1:]], axis=0) / span
    return Usage(dict(zip(samples.parts, cores.tolist(), strict=True)), float(np.diff(seconds[inside]).max()))


def cores_used(recorded: Recorded) -> float | None:
    """Return how many cores all processes used on average within the measurement interval."""
    used = usage(recorded)
    return None if used is None else used.total


def cost(recorded: Recorded) -> float | None:
    """Return the CPU seconds that the engine spent on a million ticks within the measurement interval."""
    used, noted = usage(recorded), recorded.throughput
    if used is None or noted is None or recorded.speed is None:
        return None
    seconds = recorded.wall_s(noted.time_us)
    begin, end = np.clip(recorded.interval_s, seconds[0], seconds[-1])
    first, last = np.interp([begin, end], seconds, noted.consumed)
    return float(used.engine * (end - begin) / (last - first) * 1e6) if last > first else None
