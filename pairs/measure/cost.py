"""What a run cost: the cores that its parts used on average, and the engine's CPU time for a million ticks."""

from dataclasses import dataclass

import numpy as np

from pairs.measure.recordings import Recorded


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
