"""The engine's own view of itself: how long its batches took, and how much time its JVM spent collecting garbage."""

from dataclasses import dataclass

import numpy as np

from pairs.measure.latency import summarize
from pairs.measure.recorded_files import Batch
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats
from pairs.run_folder.records import LatencySummary

_MOST_POINTS = 360


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


@dataclass(frozen=True)
class Collection:
    """Garbage collection over time."""

    seconds: Floats  # of wall time, since the first tick was due
    percent: Floats  # of time
    heap_bytes: Floats


def garbage_collection(recorded: Recorded) -> Collection | None:
    """Return the share of time that garbage collection took, and the heap; None if that was not noted."""
    heaps = recorded.heaps
    if len(heaps) < 2:
        return None
    seconds = recorded.wall_s(np.array([heap.time for heap in heaps]))
    collected = np.array([heap.gc_seconds for heap in heaps])
    firsts = np.arange(0, len(heaps) - 1, -(-len(heaps) // _MOST_POINTS))
    ends = np.append(firsts[1:], len(heaps) - 1)
    spans = np.maximum(seconds[ends] - seconds[firsts], 1e-9)
    most = np.maximum.reduceat(np.array([heap.heap_bytes for heap in heaps]), firsts)
    return Collection(seconds[ends], (collected[ends] - collected[firsts]) / spans * 100, most)
