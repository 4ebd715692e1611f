"""Keeps how long after its scheduled time a driver sent each tick."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pairs.run_folder.records import SLOT_US, SendDelayRecord

_STEP_US = 10
_STEPS = 1_000_000  # up to ten seconds in steps; what is later counts as that


@dataclass
class SendDelay:
    """Send delays: a histogram of all, and the worst by second of wall time and by slot of scheduled time."""

    start_us: int
    steps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_STEPS + 1, np.int64))
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)
    slots: dict[int, int] = field(default_factory=dict)

    def note(self, sent_us: int, due_us: NDArray[np.int64]) -> None:
        """Note that ticks were sent at a time; they were due in this order, and span less than a slot."""
        delay = sent_us - due_us
        steps = np.clip(delay // _STEP_US, 0, _STEPS)
        self.steps[: int(steps.max()) + 1] += np.bincount(steps)
        second = sent_us // 1_000_000
        ticks, worst = self.seconds.get(second, (0, 0))
        self.seconds[second] = (ticks + len(delay), max(worst, int(delay[0])))
        for due in due_us[:: max(len(delay) - 1, 1)].tolist():  # first and last
            slot = (due - self.start_us) // SLOT_US
            self.slots[slot] = max(self.slots.get(slot, 0), sent_us - due)

    def record(self) -> SendDelayRecord:
        """Return the histogram and the seconds."""
        return SendDelayRecord(
            ticks=int(self.steps.sum()),
            step_us=_STEP_US,
            histogram=[(int(step), int(self.steps[step])) for step in np.flatnonzero(self.steps)],
            seconds=[(second, *values) for second, values in sorted(self.seconds.items())],
        )

    def by_slot(self) -> pa.Table:
        """Return the worst delay of every slot in which ticks were due."""
        slots = {"slot": pa.array(self.slots, pa.int32()), "delay_us": pa.array(self.slots.values(), pa.int64())}
        return pa.table(slots)
