"""Prices: Brownian motions exact at irregular times, correlated in continuous time, with slices in any order.

Each symbol has one driving process. Its values at the borders of slices come from a tree: the end of the day first,
then the middle given both ends, and so on, so that any slice is reached in logarithmic time. Inside a slice a free path
is drawn at the tick times and bent to end at the value of the border: a Brownian bridge.

The second leg of a pair depends on the first leg's process, which is therefore drawn at the tick times of both legs. In
a cointegrated market the second leg's own process reverts to 0 (Ornstein-Uhlenbeck); its bridges have the same form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pairs.config.workload import Workload
from pairs.generator.arrivals import Slice, Timeline
from pairs.generator.market import Market
from pairs.generator.portable import LN_2, Floats, Singles, exp
from pairs.generator.randomness import Ints, Purpose, normals


@dataclass(frozen=True)
class SlicePath:
    """A slice with the values of all driving processes at its two borders."""

    piece: Slice
    at_start: Floats
    at_end: Floats


class Prices:
    """The prices of a market, slice by slice.

    Symbols are ordered as columns: all first legs, all second legs, then symbols without a pair.
    """

    def __init__(self, market: Market, timeline: Timeline) -> None:
        self.workload: Workload = market.workload
        self.timeline = timeline
        symbols, pairs = self.workload.symbols, len(market.pairs)
        legs = market.pairs[:, 1:].T.reshape(-1)
        self.order = np.append(legs, np.setdiff1d(np.arange(symbols), legs))
        self.back_in_cycle = np.argsort(self.order)
        self.leg1, self.leg2 = slice(0, pairs), slice(pairs, 2 * pairs)
        self.initial = market.initial_prices[self.order]
        self.reverting = self.workload.market == "cointegrated"
        self.decay = LN_2 / (self.workload.half_life / 1000)  # of the reverting processes, per second
        rho, volatility = self.workload.correlation, self.workload.volatility
        self.follow = volatility * (1.0 if self.reverting else rho)  # how much leg 2 follows leg 1's process
        self.scale = np.full(symbols, volatility)  # how much each symbol follows its own process
        self.scale[self.leg2] = 1.0 if self.reverting else volatility * sqrt(1 - rho * rho)

    def paths(self, slices: range) -> Iterator[SlicePath]:
        """Yield consecutive slices with the values of the driving processes at their borders."""
        end = self.timeline.slices
        noise = normals(self.workload.seed, Purpose.BORDER, end, self.workload.symbols)
        seconds = self._border_s(end)
        final: Floats = np.multiply(noise, sqrt(seconds), dtype=np.float64)
        if self.reverting:
            final[self.leg2] = self.workload.spread * sqrt(1 - self._kept(2 * seconds)) * noise[self.leg2]
        return self._descend(slices, 0, end, np.zeros_like(final), final)

    def cents(self, path: SlicePath, tick_times: Ints) -> NDArray[np.int32]:
        symbols = self.workload.symbols
        head = path.piece.first_tick % symbols
        rows = -(-(head + len(tick_times)) // symbols)
        # Each row is a cycle through all symbols. Cells before the first tick are at the slice's start, cells after the
        # last tick, and the extra row, at its end.
        seconds = np.full((rows + 1) * symbols, (path.piece.end_ms - path.piece.start_ms) / 1000)
        seconds[:head] = 0.0
        seconds[head : head + len(tick_times)] = (tick_times - path.piece.start_ms) / 1000
        grid = self._price_grid(path, seconds.reshape(rows + 1, symbols).take(self.order, axis=1))
        return grid.take(self.back_in_cycle, axis=1).reshape(-1)[head : head + len(tick_times)]

    def _descend(self, wanted: range, low: int, high: int, at_low: Floats, at_high: Floats) -> Iterator[SlicePath]:
        """Descend the tree of borders to the wanted slices, from left to right."""
        if high <= wanted.start or low >= wanted.stop:
            return
        if high - low == 1:
            yield SlicePath(self.timeline.slice(low), at_low, at_high)
            return
        middle = (low + high) // 2
        at_middle = self._between(low, middle, high, at_low, at_high)
        yield from self._descend(wanted, low, middle, at_low, at_middle)
        yield from self._descend(wanted, middle, high, at_middle, at_high)

    def _between(self, low: int, middle: int, high: int, at_low: Floats, at_high: Floats) -> Floats:
        """Draw the values at a border given the values at a border before and a border after it."""
        noise = normals(self.workload.seed, Purpose.BORDER, middle, self.workload.symbols)
        before = self._border_s(middle) - self._border_s(low)
        after = self._border_s(high) - self._border_s(middle)
        whole = before + after
        values = (at_low * after + at_high * before) / whole + sqrt(before * after / whole) * noise
        if self.reverting:
            own = self.leg2
            gone, left, total = (1 - self._kept(2 * span) for span in (before, after, whole))
            mean = at_low[own] * self._kept(before) * left + at_high[own] * self._kept(after) * gone
            values[own] = mean / total + self.workload.spread * sqrt(gone * left / total) * noise[own]
        return values

    def _kept(self, seconds: float) -> float:
        """Return the share of its distance to the mean that a reverting process keeps after some time."""
        return float(exp(np.array([-self.decay * seconds]))[0])

    def _border_s(self, border: int) -> float:
        return float(self.timeline.borders_ms[border]) / 1000

    def _price_grid(self, path: SlicePath, seconds: Floats) -> NDArray[np.int32]:
        """Return a slice's prices as a grid of cycles by symbols; `seconds` counts from the slice's start."""
        rows, symbols = seconds.shape
        noise = normals(self.workload.seed, Purpose.PATH, path.piece.index, rows * (symbols + self.leg1.stop))
        own, between = noise[: rows * symbols].reshape(rows, symbols), noise[rows * symbols :].reshape(rows, -1)
        logs, leg1_at_leg2 = self._driving(path, seconds, own, between)
        logs *= self.scale
        logs[:, self.leg2] += self.follow * leg1_at_leg2
        drift = -self.workload.volatility * self.workload.volatility / 2  # a power may differ in its last bit
        logs += drift * seconds
        logs += drift * (path.piece.start_ms / 1000)
        cents = exp(logs)
        cents *= self.initial
        np.rint(cents, out=cents)
        return np.maximum(cents, 1.0, out=cents).astype(np.int32)

    def _driving(self, path: SlicePath, seconds: Floats, own: Singles, between: Singles) -> tuple[Floats, Floats]:
        """Return the driving processes at their own ticks, and those of first legs at the second legs' ticks."""
        at_leg1, at_leg2 = seconds[:, self.leg1], seconds[:, self.leg2]
        steps = _gaps(seconds)
        steps[1:, self.leg1] = at_leg1[1:] - at_leg2[:-1]  # a first leg continues from its partner's tick
        np.sqrt(steps, out=steps)
        steps *= own
        across = np.sqrt(at_leg2 - at_leg1) * between
        steps[:, self.leg1] += across
        free = np.cumsum(steps, axis=0, out=steps)
        bend = (path.at_end - path.at_start - free[-1]) / seconds[-1]
        leg1_at_leg2 = free[:, self.leg1] + at_leg2 * bend[self.leg1] + path.at_start[self.leg1]
        free[:, self.leg1] -= across
        free += seconds * bend
        free += path.at_start
        if self.reverting:
            free[:, self.leg2] = self._reverting(path, at_leg2, own[:, self.leg2])
        return free, leg1_at_leg2

    def _reverting(self, path: SlicePath, seconds: Floats, noise: Singles) -> Floats:
        """Return the second legs' own processes in a cointegrated market: Ornstein-Uhlenbeck bridges."""
        kept = exp(-self.decay * _gaps(seconds))
        shocks = self.workload.spread * np.sqrt(1 - kept * kept) * noise
        free = np.empty_like(shocks)
        value = path.at_start[self.leg2]
        for row in range(len(shocks)):
            value = kept[row] * value + shocks[row]
            free[row] = value
        gone, total = 1 - exp(-2 * self.decay * seconds), 1 - exp(-2 * self.decay * seconds[-1])
        weight = exp(-self.decay * (seconds[-1] - seconds)) * gone / total
        bridges: Floats = free + weight * (path.at_end[self.leg2] - free[-1])
        return bridges


def _gaps(seconds: Floats) -> Floats:
    """Return the time since the previous row, in the first row since the start."""
    gaps = np.empty(seconds.shape)
    gaps[0] = seconds[0]
    np.subtract(seconds[1:], seconds[:-1], out=gaps[1:])
    return gaps
