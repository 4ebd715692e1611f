"""What the parts of a run used of the machine, what that cost, and what the engine noted about its batches and JVM."""

from dataclasses import dataclass

import numpy as np

from pairs.measure.executors import EXECUTORS, cpu_parts
from pairs.measure.latency import summarize
from pairs.measure.recorded_files import Batch, Samples
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats
from pairs.run_folder.records import LatencySummary

_MOST_POINTS = 360

PartsOverTime = tuple[Floats, dict[str, Floats]]  # wall seconds since the first tick was due, values of known parts


def per_second(recorded: Recorded, samples: Samples, values: Floats) -> PartsOverTime:
    """Return mean rates of what was used since the sample before, over so many samples that a chart can show them."""
    seconds = recorded.wall_s(samples.time_us)
    firsts = np.arange(1, len(seconds), -(-len(seconds) // _MOST_POINTS))
    if not len(firsts):
        return np.empty(0), {}
    lasts = np.append(firsts[1:], len(seconds)) - 1
    spans = seconds[lasts] - seconds[firsts - 1]
    sums = np.add.reduceat(np.nan_to_num(values), firsts, axis=0)
    known = np.add.reduceat(np.isfinite(values), firsts, axis=0) > 0
    return seconds[lasts], _by_part(samples, np.where(known, sums / spans[:, None], np.nan))


def most_in_slots(recorded: Recorded, samples: Samples, values: Floats) -> PartsOverTime:
    """Return the greatest values of neighbouring samples, as many as a chart can show."""
    seconds = recorded.wall_s(samples.time_us)
    firsts = np.arange(0, len(seconds), -(-len(seconds) // _MOST_POINTS))
    return seconds[firsts], _by_part(samples, np.fmax.reduceat(values, firsts, axis=0))


def _by_part(samples: Samples, grid: Floats) -> dict[str, Floats]:
    columns = zip(samples.parts, grid.T, strict=True)
    return {part: values for part, values in columns if np.isfinite(values).any()}


@dataclass(frozen=True)
class Usage:
    """How many cores the parts of a run used on average within the measurement interval."""

    cores: dict[str, float]  # by part, of the processes of the run
    longest_gap_s: float  # between two samples
    executors: dict[str, float | None] | None = None  # of a cluster, as the engine told, by part; None without cluster

    @property
    def of_executors(self) -> float | None:
        """What all executors of a cluster used; nothing without a cluster, None if that is not wholly known."""
        known = [] if self.executors is None else [cores for cores in self.executors.values() if cores is not None]
        incomplete = self.executors is not None and len(known) < max(len(self.executors), 1)
        return None if incomplete else sum(known)

    @property
    def total(self) -> float:
        return sum(self.cores.values())

    @property
    def engine(self) -> float:
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
    used = samples.cpu_seconds[inside[1:]]
    every = dict(zip(samples.parts, (np.nansum(used, axis=0) / span).tolist(), strict=True))
    known = {part: np.isfinite(column).any() for part, column in zip(samples.parts, used.T, strict=True)}
    names = {part: EXECUTORS + part for part in cpu_parts(recorded.executors)}
    executors = {part: every[name] if known[name] else None for part, name in names.items()}
    own = {part: cores for part, cores in every.items() if not part.startswith(EXECUTORS)}
    longest_gap_s = float(np.diff(seconds[inside]).max())
    return Usage(own, longest_gap_s, None if recorded.manifest.cluster is None else executors)


def cores_used(recorded: Recorded) -> float | None:
    """Return the cores that the run used, executors of a cluster included; None if that is not wholly known."""
    used = usage(recorded)
    return None if used is None or used.of_executors is None else used.total + used.of_executors


def harness_cores(recorded: Recorded) -> float | None:
    """Return the cores that drivers and sink took from the engine; None if that ran elsewhere, or is not known."""
    used = usage(recorded)
    return None if used is None or used.executors is not None else used.total - used.engine


def cost(recorded: Recorded) -> float | None:
    """Return the CPU seconds that the engine spent on a million ticks within the measurement interval.

    None if not all of it is known: executors of a cluster belong to it.
    """
    used, noted = usage(recorded), recorded.throughput
    if used is None or used.of_executors is None or noted is None or recorded.speed is None:
        return None
    seconds = recorded.wall_s(noted.time_us)
    begin, end = np.clip(recorded.interval_s, seconds[0], seconds[-1])
    first, last = np.interp([begin, end], seconds, noted.furthest)
    cores = used.engine + used.of_executors
    return float(cores * (end - begin) / (last - first) * 1e6) if last > first else None


def executors_sentence(recorded: Recorded) -> str | None:
    """Say what the executors of a cluster used, by the engine's own metrics, and what is not recorded."""
    cluster, samples, used = recorded.manifest.cluster, recorded.resources, usage(recorded)
    if cluster is None:
        return None
    outside = f"Executors on {cluster} did the engine's work, outside the processes of the run."
    if not recorded.executors:
        return f"{outside} What they used of CPU and memory is not recorded, so there is no CPU cost."
    if samples is None or used is None or used.executors is None or recorded.speed is None:
        return f"{outside} Their parts in the charts are by the engine's own metrics."
    told = [f"CPU of {part} {_or_unknown(cores, '.2f', ' cores')}" for part, cores in used.executors.items()]
    for part, most in zip(samples.parts, samples.rss_bytes.T, strict=True):
        if part.startswith(EXECUTORS) and np.isfinite(most).any():
            told.append(f"memory of {part.removeprefix(EXECUTORS)} at most {np.nanmax(most) / 1e9:.2f} GB")
    incomplete = " Without all CPU there is no CPU cost." if used.of_executors is None else ""
    return f"{outside} By the engine's own metrics: {', '.join(told)}.{incomplete}"


def _or_unknown(value: float | None, form: str, unit: str) -> str:
    return "not recorded" if value is None else f"{value:{form}}{unit}"


@dataclass(frozen=True)
class Disturbance:
    """What else the machine did within the measurement interval, as shares of all its cores."""

    outside: float | None  # CPU of processes outside the run; None if it is not known which those are
    stolen: float  # by the host


def disturbance(recorded: Recorded) -> Disturbance | None:
    """Return what else the machine did within the measurement interval; None if that was not sampled."""
    samples, cores = recorded.machine, recorded.manifest.environment.cores
    if samples is None or not cores:
        return None
    ends, (begin, end) = recorded.wall_s(samples.time_us), recorded.interval_s
    inside = (ends - samples.seconds >= begin) & (ends <= end)
    available = samples.seconds[inside].sum() * cores
    if not available > 0:
        return None
    outside, stolen = (float(used[inside].sum() / available) for used in (samples.outside_s, samples.stolen_s))
    return Disturbance(None if np.isnan(outside) else outside, stolen)


def disturbance_over_time(recorded: Recorded) -> tuple[Floats, Floats, Floats] | None:
    """Return wall seconds, and the percentages of the machine that were used outside the run and stolen."""
    samples, cores = recorded.machine, recorded.manifest.environment.cores
    if samples is None or not cores:
        return None
    firsts = np.arange(0, len(samples.seconds), -(-len(samples.seconds) // _MOST_POINTS))
    lasts = np.append(firsts[1:], len(samples.seconds)) - 1
    available = np.maximum(np.add.reduceat(samples.seconds, firsts), 1e-9) * cores
    outside, stolen = (
        100 * np.add.reduceat(used, firsts) / available for used in (samples.outside_s, samples.stolen_s)
    )
    return recorded.wall_s(samples.time_us)[lasts], outside, stolen


def summarize_batches(batches: list[Batch]) -> tuple[LatencySummary, float, int]:
    """Return how long batches took, and how many ticks they held on average and at most."""
    rows = [batch.rows for batch in batches] or [0]
    return summarize(np.array([batch.total_ms for batch in batches]) / 1000), sum(rows) / len(rows), max(rows)


def durations_by_part(batches: list[Batch]) -> dict[str, list[float]]:
    """Return the milliseconds of each part of batches, the longest parts first, and what no part accounts for."""
    names = {name for batch in batches for name in batch.parts_ms}
    parts = {name: [batch.parts_ms.get(name, 0.0) for batch in batches] for name in names}
    ordered = dict(sorted(parts.items(), key=lambda part: -sum(part[1])))
    rest = [max(batch.total_ms - sum(batch.parts_ms.values()), 0.0) for batch in batches]
    return ordered | {"the rest": rest} if max(rest, default=0.0) > 1 else ordered


def garbage_collection(recorded: Recorded) -> tuple[Floats, Floats, Floats] | None:
    """Return wall seconds, the percentage of time that collection took, and the heap in bytes; None if not noted."""
    heaps = recorded.heaps
    if len(heaps) < 2:
        return None
    seconds = recorded.wall_s(np.array([heap.time for heap in heaps]))
    collected = np.array([heap.gc_seconds for heap in heaps])
    firsts = np.arange(0, len(heaps) - 1, -(-len(heaps) // _MOST_POINTS))
    ends = np.append(firsts[1:], len(heaps) - 1)
    spans = np.maximum(seconds[ends] - seconds[firsts], 1e-9)
    most = np.maximum.reduceat(np.array([heap.heap_bytes for heap in heaps]), firsts)
    return seconds[ends], (collected[ends] - collected[firsts]) / spans * 100, most
