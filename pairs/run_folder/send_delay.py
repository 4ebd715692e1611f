"""driver-N.json: how long after its scheduled time a driver sent each tick.

driver-N.parquet has the worst delay of every slot of scheduled time: slot, delay_us.
"""

from pairs.core.records import Record

SLOT_US = 10_000  # of scheduled time


class SendDelayRecord(Record):
    """The send delays of one driver."""

    FORMAT = 1
    REMEDY = "run it again"

    ticks: int
    step_us: int
    histogram: list[tuple[int, int]]  # step, ticks
    seconds: list[tuple[int, int, int]]  # of wall time: second, ticks, worst delay in us
