"""Arrival times: the rate curve, its integral and inverse, and the arrivals in each slice of time.

A slice is a fixed interval of simulated time, the unit in which randomness is drawn. Given the number of arrivals in a
slice, the arrivals of a Poisson process are independent draws from the rate curve, sorted.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import pdtr, pdtrik

from pairs.config.workload import Workload
from pairs.generator.portable import Floats
from pairs.generator.randomness import Ints, Purpose, draws, uniforms

_TICKS_PER_SLICE = 131_072
_TICKS_PER_SYMBOL_AND_SLICE = 16  # enough to make the borders of slices cheap
_MOST_TICKS_PER_SLICE = 1_048_576  # bounds the memory of a slice at any scale factor


class RateCurve:
    """A rate that is linear between knots: times in ms, rates in ticks per ms. A time that stands twice is a step."""

    def __init__(self, times: Floats, rates: Floats) -> None:
        self.times, self.rates = times, rates
        spans = np.diff(times)
        self.slopes = np.diff(rates) / np.where(spans > 0, spans, 1.0)
        self.masses = np.concatenate([[0.0], np.cumsum(spans * (rates[:-1] + rates[1:]) / 2)])

    @classmethod
    def of(cls, workload: Workload) -> "RateCurve":
        times, rates = workload.rate_knots(float(workload.basis_rate) / 1000)
        return cls(np.array(times), np.array(rates))

    @property
    def peak(self) -> float:
        """The highest rate, ticks per ms."""
        return float(self.rates.max())

    def mass(self, time: Floats) -> Floats:
        """Return the expected number of ticks before each time: the integral of the rate."""
        segment = np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.slopes) - 1)
        inside = time - self.times[segment]
        masses: Floats = self.masses[segment] + inside * (self.rates[segment] + self.slopes[segment] * inside / 2)
        return masses

    def inverse(self, mass: Floats) -> Floats:
        """Return the times by which the given numbers of ticks, ascending, are expected."""
        times = np.empty_like(mass)
        cuts = np.searchsorted(mass, self.masses[1:-1])
        starts, ends = [0, *cuts.tolist()], [*cuts.tolist(), len(mass)]
        for segment, (start, end) in enumerate(zip(starts, ends, strict=True)):
            if start < end:
                times[start:end] = self._inverse_in(segment, mass[start:end])
        return times

    def _inverse_in(self, segment: int, mass: Floats) -> Floats:
        """Solve rate * x + slope * x^2 / 2 = mass within a segment, in the form without cancellation."""
        rate, slope = self.rates[segment], self.slopes[segment]
        twice: Floats = mass - self.masses[segment]
        twice *= 2
        root = twice * slope
        root += rate * rate
        np.maximum(root, np.finfo(np.float64).tiny, out=root)
        np.sqrt(root, out=root)
        root += rate
        twice /= root
        twice += self.times[segment]
        if slope == 0:  # a step may follow: no rounding may carry an arrival over it
            np.minimum(twice, np.nextafter(self.times[segment + 1], 0.0), out=twice)
        return twice


@dataclass(frozen=True)
class Slice:
    """An interval of simulated time and its ticks."""

    index: int
    start_ms: int
    end_ms: int
    first_tick: int
    ticks: int  # including the bell in the last slice


class Timeline:
    """All arrivals of a workload: their number in each slice, and their times. The bell is the last tick."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.curve = RateCurve.of(workload)

    @cached_property
    def borders_ms(self) -> Ints:
        """The borders of slices; their length depends on the rate and the number of symbols only."""
        length = int(ticks_per_slice(self.workload.symbols) / self.curve.peak)
        return np.append(np.arange(0, self.workload.duration, max(1, length)), self.workload.duration)

    @cached_property
    def first_ticks(self) -> Ints:
        """Index of each slice's first arrival, and at the end the number of all arrivals.

        The market opens with a trade at 0, so the first slice has at least one arrival.
        """
        masses = self.curve.mass(self.borders_ms.astype(np.float64))
        if self.workload.arrivals == "constant":
            arrivals = np.maximum.accumulate(np.maximum(np.ceil(masses - 0.5), 1)).astype(np.int64)
            arrivals[0] = 0
            return arrivals
        chances = uniforms(self.workload.seed, Purpose.COUNT, 0, len(masses) - 1)
        counts = poisson_quantile(chances, np.maximum(np.diff(masses), 0.0))
        counts[0] = max(counts[0], 1)
        return np.append(0, np.cumsum(counts))

    @property
    def ticks(self) -> int:
        """Number of all ticks, the bell included."""
        return int(self.first_ticks[-1]) + 1

    @property
    def slices(self) -> int:
        return len(self.borders_ms) - 1

    def slice(self, index: int) -> Slice:
        first, end = self.first_ticks[index : index + 2].tolist()
        bell = 1 if index == self.slices - 1 else 0
        start_ms, end_ms = self.borders_ms[index : index + 2].tolist()
        return Slice(index, start_ms, end_ms, first, end - first + bell)

    def slices_with(self, first_tick: int, end_tick: int) -> range:
        """Return the indices of the slices with ticks [first_tick, end_tick)."""
        begins = self.first_ticks[:-1]
        first = int(np.searchsorted(begins, first_tick, side="right")) - 1
        last = int(np.searchsorted(begins, end_tick - 1, side="right")) - 1
        return range(first, last + 1)

    def tick_times(self, piece: Slice) -> Ints:
        """Return tickTS of all ticks of a slice. The first trade is at 0, the bell at the end of the day."""
        arrivals = int(self.first_ticks[piece.index + 1]) - piece.first_tick
        times = np.empty(piece.ticks, np.int64)
        times[arrivals:] = self.workload.duration
        exact = self.curve.inverse(self._masses_in(piece, arrivals))
        np.clip(exact, piece.start_ms, piece.end_ms - 1, out=exact)
        times[:arrivals] = exact  # whole ms, rounded down
        if piece.index == 0:
            times[0] = 0
        return times

    def _masses_in(self, piece: Slice, arrivals: int) -> Floats:
        """Return the arrival times of a slice in units of mass, where the process has rate 1."""
        if self.workload.arrivals == "constant":
            return np.arange(piece.first_tick, piece.first_tick + arrivals, dtype=np.float64) + 0.5
        start, end = self.curve.mass(np.array([piece.start_ms, piece.end_ms], np.float64))
        drawn = draws(self.workload.seed, Purpose.ARRIVAL, piece.index, arrivals)
        drawn.sort()
        masses = drawn.astype(np.float64)
        masses += 0.5
        masses *= (end - start) / 2**32
        masses += start
        return masses


def ticks_per_slice(symbols: int) -> int:
    """Return how many ticks a slice has at the peak rate, if it is longer than a millisecond."""
    return max(min(_TICKS_PER_SYMBOL_AND_SLICE * symbols, _MOST_TICKS_PER_SLICE), _TICKS_PER_SLICE)


def poisson_quantile(chances: Floats, means: Floats) -> Ints:
    """Return the smallest whole numbers at which the Poisson distribution function reaches the given chances."""
    counts: Floats = np.maximum(np.ceil(pdtrik(chances, means)), 0.0)
    for _ in range(3):  # pdtrik is a root search: fix the last unit by the distribution function itself
        counts += pdtr(counts, means) < chances
        counts -= (counts > 0) & (pdtr(np.maximum(counts - 1, 0), means) >= chances)
    return counts.astype(np.int64)
