"""Puts ticks that come by several partitions into the order of the stream.

Each partition is in that order by itself, but any may be ahead of the others. A tick is handed on when none that comes
before it can be missing: every partition has got as far, or all ticks up to the last one are there. What is ahead is
held back, in the state of whoever waits for it.
"""

import numpy as np


class Merge:
    """How far each partition is, how many ticks came by it, and the ticks that are held back: records with a `seq`."""

    def __init__(self, sources, record, kept=b""):
        self._sources, head = sources, 16 * len(sources)
        numbers = np.frombuffer(kept[:head], np.int64) if kept else np.zeros(2 * len(sources), np.int64)
        self._ends, self._counts = numbers.reshape(2, -1).copy()  # `end`: the seq after the last tick
        self._held = np.frombuffer(kept[head:], record)

    def note(self, source, last, count):
        """Note ticks of a partition, up to one of them."""
        place = self._sources.index(source)
        self._ends[place] = max(self._ends[place], last + 1)
        self._counts[place] += count

    def in_order(self, records):
        """Return which of these ticks, and of those held back, can be handed on, in order; hold back the others."""
        waiting = np.concatenate([self._held, records])
        waiting = waiting[np.argsort(waiting["seq"], kind="stable")]
        furthest = int(self._ends.max())
        end = furthest if int(self._counts.sum()) == furthest else int(self._ends.min())
        place = np.searchsorted(waiting["seq"], end)
        self._held = waiting[place:]
        return waiting[:place]

    def kept(self):
        """Return what must survive until the next ticks come."""
        return self._ends.tobytes() + self._counts.tobytes() + self._held.tobytes()
