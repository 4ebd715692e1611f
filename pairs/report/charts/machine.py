"""What drivers, sink and engine took of the machine."""

from pairs.measure import engine, resources
from pairs.measure.recordings import Recorded
from pairs.report.charts import Data, absent, numbers, times

_NO_SAMPLES = "Not recorded: no process of the run was sampled."
_NO_JVM = "Not recorded: the engine's program noted nothing about a JVM; an engine without a JVM has nothing to note."


def cpu(recorded: Recorded) -> Data:
    """Cores in use by part."""
    samples = recorded.resources
    if samples is None:
        return absent(_NO_SAMPLES)
    found = resources.per_second(recorded, samples, samples.cpu_seconds)
    return _stacked(found, 1) | {"cores": recorded.manifest.environment.cores}


def memory(recorded: Recorded) -> Data:
    """Gigabytes of memory by part: the most in each slot."""
    samples = recorded.resources
    if samples is None:
        return absent(_NO_SAMPLES)
    return _stacked(resources.most_in_slots(recorded, samples, samples.rss_bytes), 1e9)


def disk(recorded: Recorded) -> Data:
    """Megabytes read and written per second by each part that moved any."""
    samples = recorded.resources
    if samples is None:
        return absent(_NO_SAMPLES)
    data: Data = {}
    for name, values in (("written", samples.written_bytes), ("read", samples.read_bytes)):
        found = resources.per_second(recorded, samples, values)
        moved = {part: rates for part, rates in found.values.items() if (rates > 0).any()}
        data |= {"x": times(found.seconds), name: {part: numbers(rates / 1e6) for part, rates in moved.items()}}
    return data


def _stacked(found: resources.PartsOverTime, unit: float) -> Data:
    parts = {part: numbers(values / unit) for part, values in found.values.items()}
    return {"x": times(found.seconds), "parts": parts}


def collection(recorded: Recorded) -> Data:
    """Share of time that garbage collection took, and the heap in megabytes."""
    found = engine.garbage_collection(recorded)
    if found is None:
        return absent(_NO_JVM)
    return {
        "x": times(found.seconds),
        "share": numbers(found.percent),
        "heap": numbers(found.heap_bytes / 1e6),
    }
