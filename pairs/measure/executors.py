"""What the executors of a cluster used, by the engine's own metrics, as parts beside the processes of a run."""

from collections.abc import Iterator, Sequence

import numpy as np

from pairs.measure.recorded_files import Executors, Samples
from pairs.measure.reduce import Floats, Wholes

EXECUTORS = "executors' "  # begins the names of their parts


def cpu_parts(noted: Sequence[Executors]) -> list[str]:
    """Return the parts that use CPU, whether the engine tells how much or not."""
    return list(dict.fromkeys(part for line in noted for found in line.executors for part in found.cpu_seconds))


def with_executors(samples: Samples | None, noted: Sequence[Executors]) -> Samples | None:
    """Add the parts of all executors together to samples; NaN where the engine does not tell."""
    if samples is None or not noted:
        return samples
    memory = (part for line in noted for found in line.executors for part in found.most_bytes)
    parts = list(dict.fromkeys([*cpu_parts(noted), *memory]))
    unknown = np.full((len(samples.time_us), len(parts)), np.nan)
    cpu, most = unknown.copy(), unknown.copy()
    for column, part in enumerate(parts):
        cpu[:, column] = _cpu_seconds(noted, part, samples.time_us)
        most[:, column] = _bytes(noted, part, samples.time_us)
    return Samples(
        samples.time_us,
        [*samples.parts, *(EXECUTORS + part for part in parts)],
        np.hstack([samples.cpu_seconds, cpu]),
        np.hstack([samples.rss_bytes, most]),
        np.hstack([samples.read_bytes, unknown]),
        np.hstack([samples.written_bytes, unknown]),
    )


def _cpu_seconds(noted: Sequence[Executors], part: str, time_us: Wholes) -> Floats:
    """Return the CPU seconds of a part of all executors since the moment before; a restarted engine counts from 0."""
    since = [np.diff(np.interp(time_us, *known), prepend=np.nan) for known in _totals(noted, part)]
    if not since:
        return np.full(len(time_us), np.nan)
    return np.asarray(np.sum(np.maximum(np.nan_to_num(since), 0.0), axis=0))


def _totals(noted: Sequence[Executors], part: str) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the moments and CPU seconds of each executor for which they are known."""
    for executor in {found.id for line in noted for found in line.executors}:
        known = [
            (line.time, value)
            for line in noted
            for found in line.executors
            if found.id == executor and (value := found.cpu_seconds.get(part)) is not None
        ]
        if known:
            yield [time_us for time_us, _ in known], [seconds for _, seconds in known]


def _bytes(noted: Sequence[Executors], part: str, time_us: Wholes) -> Floats:
    """Return the memory of a part of the executors that lived at each moment: the most so far."""
    by_line = [[found.most_bytes.get(part) for found in line.executors] for line in noted]
    known = [[value for value in values if value is not None] for values in by_line]
    sums = np.array([np.nan, *(sum(values) if values else np.nan for values in known)])
    return sums[np.searchsorted([line.time for line in noted], time_us, side="right")]
