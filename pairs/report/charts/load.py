"""Input and backlog over time."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Slots, greatest_by_slot, rates, slots_for
from pairs.model.arrival_curve import rate_knots
from pairs.report.charts import Data, absent, numbers, times

_SLOTS = 360
_NOT_RECORDED = "Not recorded: the run kept no note of how many ticks were sent and taken."


def rate(recorded: Recorded) -> Data:
    """Ticks per second: planned, sent by the drivers, taken by the engine."""
    slots = _slots(recorded)
    series: dict[str, Data] = {}
    if (planned := planned_rate(recorded)) is not None:
        series["planned"] = {"x": times(planned[0]), "y": numbers(planned[1])}
    noted = throughput(recorded)
    if noted is not None:
        for name, label in (("produced", "sent"), ("consumed", "taken by the engine")):
            x, y = rates(noted["time"], noted[name], slots)
            series[label] = {"x": times(x), "y": numbers(y)}
    elif recorded.drivers:
        x, y = rates(*_sent_by_drivers(recorded), slots)
        series["sent"] = {"x": times(x), "y": numbers(y)}
    if not series or (noted is None and not recorded.drivers):
        return absent(_NOT_RECORDED)
    remark = None if noted is not None else "How many ticks the engine had taken was not recorded."
    return {"series": series, "remark": remark, "slot_s": slots.width}


def backlog(recorded: Recorded) -> Data:
    """Ticks that were sent and not yet taken: the most in each slot."""
    noted = throughput(recorded)
    if noted is None:
        return absent(_NOT_RECORDED)
    slots = _slots(recorded)
    present, worst = greatest_by_slot(slots.of(noted["time"]), noted["produced"] - noted["consumed"])
    return {"x": times(slots.middles(present)), "y": numbers(worst)}


def waiting(recorded: Recorded) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return when the backlog was noted, in wall seconds, and how large it was."""
    noted = throughput(recorded)
    return None if noted is None else (noted["time"], noted["produced"] - noted["consumed"])


def throughput(recorded: Recorded) -> dict[str, NDArray[Any]] | None:
    """Return how many ticks were sent and taken at which times, in wall seconds; none if that was not noted."""
    table = recorded.throughput
    if table is None or not {"produced", "consumed"} <= set(table.column_names):
        return None
    return {"time": recorded.wall_s(table["time"].to_numpy())} | {
        name: _whole(table, name) for name in ("produced", "consumed")
    }


def _whole(table: pa.Table, name: str) -> NDArray[np.int64]:
    return np.asarray(table[name].to_numpy(), np.int64)


def _slots(recorded: Recorded) -> Slots:
    """Cut the run into slots of a second or more."""
    end = run_end_s(recorded)
    return slots_for(0.0, end, int(end), fewest=1, most=_SLOTS, each=1)


def run_end_s(recorded: Recorded) -> float:
    """Return when the last thing was noted, in wall seconds."""
    ends = [recorded.wall_of(recorded.duration_ms)] if recorded.speed else []
    noted = (table["time"][-1].as_py() for table in (recorded.throughput, recorded.resources) if table is not None)
    ends += [(last - recorded.origin_us) / 1e6 for last in noted]
    ends += [float(recorded.wall_s(one.sink_us).max()) for one in recorded.answers.values() if one and len(one)]
    return max(ends, default=1.0)


def _sent_by_drivers(recorded: Recorded) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return how many ticks were sent at the end of each second, by the drivers' own records."""
    seconds = np.concatenate([one.seconds for one in recorded.drivers])
    ticks = np.concatenate([one.ticks for one in recorded.drivers])
    every, place = np.unique(seconds, return_inverse=True)
    sums = np.bincount(place, weights=ticks).astype(np.int64)
    ends = np.concatenate([every[:1], every + 1])
    return recorded.wall_s(ends * 1_000_000), np.concatenate([[0], np.cumsum(sums)])


def planned_rate(recorded: Recorded) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the curve that the arrivals were drawn from, in wall time: a few corners."""
    known, speed, duration = recorded.parameters, recorded.speed, recorded.duration_ms
    if speed is None or not {"basis_rate", "peak_factor", "curve"} <= known.keys():
        return None
    basis = float(Fraction(str(known["basis_rate"]))) * speed
    corners, rates_there = rate_knots(str(known["curve"]), float(duration), basis, float(known["peak_factor"]))
    return np.array(corners) / 1000 / speed, np.array(rates_there)
