"""What drivers, sink and engine took of the machine, and how late the drivers were."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.measure.recordings import Driver, Recorded
from pairs.measure.reduce import greatest_by_slot, slots_for
from pairs.report.charts import Data, absent, numbers, times
from pairs.run_folder.send_delay import SLOT_US

_MOST_POINTS = 360
_NO_SAMPLES = "Not recorded: no process of the run was sampled."
_NO_JVM = "Not recorded: the engine's program noted nothing about a JVM; an engine without one has nothing to note."

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Samples:
    """What was sampled: for each part of the run and each moment a value, not a number where there was none."""

    seconds: Floats  # of wall time
    parts: list[str]
    values: dict[str, Floats]  # by column: moments x parts


def samples(recorded: Recorded) -> Samples | None:
    """Return the samples since the first tick was due."""
    table = recorded.resources
    if table is None:
        return None
    seconds = recorded.wall_s(table["time"].to_numpy())
    table, seconds = table.filter(pa.array(seconds >= 0)), seconds[seconds >= 0]
    if not len(seconds):
        return None
    moments, moment = np.unique(seconds, return_inverse=True)
    names = table["part"].to_pylist()
    parts = sorted(set(names), key=lambda name: (not name.startswith("engine"), name))
    place = np.array([parts.index(name) for name in names])
    columns = [name for name in table.column_names if name not in ("time", "part")]
    values = {}
    for column in columns:
        grid = np.full((len(moments), len(parts)), np.nan)
        grid[moment, place] = table[column].cast(pa.float64()).to_numpy()
        values[column] = grid
    return Samples(moments, parts, values)


def _per_second(found: Samples, column: str) -> tuple[Floats, Floats]:
    """Return mean rates of what was noted since the sample before, over so many samples that a chart can show them."""
    together = -(-len(found.seconds) // _MOST_POINTS)
    firsts = np.arange(1, len(found.seconds), together)
    if not len(firsts):
        return np.empty(0), np.empty((0, len(found.parts)))
    lasts = np.append(firsts[1:], len(found.seconds)) - 1
    spans = found.seconds[lasts] - found.seconds[firsts - 1]
    values = found.values[column]
    sums = np.add.reduceat(np.nan_to_num(values), firsts, axis=0)
    noted = np.add.reduceat(np.isfinite(values), firsts, axis=0) > 0
    return found.seconds[lasts], np.where(noted, sums / spans[:, None], np.nan)


def cpu(recorded: Recorded) -> Data:
    """Cores in use by part."""
    found = samples(recorded)
    if found is None:
        return absent(_NO_SAMPLES)
    seconds, cores = _per_second(found, "cpu_seconds")
    return {
        "x": times(seconds),
        "parts": _parts(found, cores),
        "cores": (recorded.facts.get("environment") or {}).get("cores"),
    }


def memory(recorded: Recorded) -> Data:
    """Memory by part: the most in each slot."""
    found = samples(recorded)
    if found is None:
        return absent(_NO_SAMPLES)
    firsts = np.arange(0, len(found.seconds), -(-len(found.seconds) // _MOST_POINTS))
    most = np.fmax.reduceat(found.values["rss_bytes"], firsts, axis=0)
    return {"x": times(found.seconds[firsts]), "parts": _parts(found, most)}


def disk(recorded: Recorded) -> Data:
    """Bytes read and written per second by part."""
    found = samples(recorded)
    if found is None or not {"read_bytes", "written_bytes"} <= found.values.keys():
        return absent("Not recorded: what the processes read and wrote was not sampled.")
    data: Data = {}
    for column, name in (("written_bytes", "written"), ("read_bytes", "read")):
        seconds, rate = _per_second(found, column)
        data |= {"x": times(seconds), name: _parts(found, rate)}
    return data


def _parts(found: Samples, values: Floats) -> Data:
    """Pack the values of each part that has any."""
    return {
        part: numbers(values[:, place]) for place, part in enumerate(found.parts) if np.isfinite(values[:, place]).any()
    }


def collection(recorded: Recorded) -> Data:
    """Share of time that garbage collection took, and the heap."""
    heaps = [one for one in recorded.heaps if one.time_us >= recorded.origin_us]
    if len(heaps) < 2:
        return absent(_NO_JVM)
    seconds = recorded.wall_s(np.array([one.time_us for one in heaps]))
    collected, heap = np.array([one.gc_s for one in heaps]), np.array([one.heap_bytes for one in heaps])
    firsts = np.arange(0, len(heaps) - 1, -(-len(heaps) // _MOST_POINTS))
    ends = np.append(firsts[1:], len(heaps) - 1)
    spans = np.maximum(seconds[ends] - seconds[firsts], 1e-9)
    return {
        "x": times(seconds[ends]),
        "share": numbers((collected[ends] - collected[firsts]) / spans * 100),
        "heap": numbers(np.maximum.reduceat(heap, firsts)),
    }


def lateness(recorded: Recorded) -> Data:
    """Return the worst lateness of each driver in each slot."""
    if not recorded.drivers:
        return absent("Not recorded: the run was unpaced, or its drivers did not come to their end.")
    drivers = {}
    for number, one in enumerate(recorded.drivers):
        seconds, worst_s = _worst_lateness(recorded, one)
        slots = slots_for(0.0, float(seconds.max(initial=0.0)) + 1, len(seconds), 1, _MOST_POINTS, 1)
        present, worst = greatest_by_slot(slots.of(seconds), worst_s * 1000)
        drivers[f"driver {number}"] = {"x": times(slots.middles(present)), "y": numbers(worst)}
    return {"drivers": drivers}


def _worst_lateness(recorded: Recorded, driver: Driver) -> tuple[Floats, Floats]:
    """Return when ticks were due, in wall seconds, and how late they were at worst; else when they were sent."""
    if driver.slots is None:
        return recorded.wall_s(driver.seconds * 1_000_000), driver.worst_s
    due_s: Floats = driver.slots["slot"].astype(np.float64) * (SLOT_US / 1e6)
    return due_s, driver.slots["delay_us"] / 1e6
