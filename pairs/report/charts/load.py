"""Input and backlog over time, and how late the drivers were."""

from pairs.measure import send_delay, throughput
from pairs.measure.recordings import Recorded
from pairs.measure.reduce import greatest_by_slot, slots_for
from pairs.report.charts import Data, absent, numbers, times

_MOST_POINTS = 360
_NOT_RECORDED = "Not recorded: the run kept no note of how many ticks were produced and consumed."


def rate(recorded: Recorded) -> Data:
    """Ticks per second: planned, produced by the drivers, consumed by the engine."""
    series = throughput.rates_over_time(recorded)
    if not series:
        return absent(_NOT_RECORDED)
    return {"series": {name: {"x": times(seconds), "y": numbers(rates)} for name, (seconds, rates) in series.items()}}


def backlog(recorded: Recorded) -> Data:
    """Ticks that were produced and not yet consumed: the most in each slot."""
    found = throughput.backlog_over_time(recorded)
    return absent(_NOT_RECORDED) if found is None else {"x": times(found[0]), "y": numbers(found[1])}


def delays(recorded: Recorded) -> Data:
    """Return the worst send delay of each driver in each slot."""
    if not recorded.drivers:
        return absent("Not recorded: the run was unpaced, or its drivers did not come to their end.")
    drivers = {}
    for number, driver in enumerate(recorded.drivers):
        seconds, worst_s = send_delay.worst_over_time(driver, recorded.origin_us)
        slots = slots_for(0.0, float(seconds.max(initial=0.0)) + 1, len(seconds), 1, _MOST_POINTS, 1)
        present, worst = greatest_by_slot(slots.of(seconds), worst_s * 1000)
        drivers[f"driver {number}"] = {"x": times(slots.middles(present)), "y": numbers(worst)}
    return {"drivers": drivers}
