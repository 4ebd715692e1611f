"""Reduces many numbers to a few, as pure functions: percentiles, slots, histograms. Extremes are never dropped."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

_CURVE_POINTS = 200
_FURTHEST = 1e4  # 1 / (1 - 0.9999)


def percentile(values: Floats, share: float) -> float:
    """Return the nearest-rank percentile: the smallest value that at least this share of the values do not exceed."""
    return float(np.quantile(values, share, method="inverted_cdf"))


@dataclass(frozen=True)
class Slots:
    """Equal slots of time."""

    begin: float
    width: float
    count: int

    def of(self, times: NDArray[Any]) -> Wholes:
        """Return the slots that times lie in; what is outside belongs to the first or the last."""
        return np.clip((times - self.begin) // self.width, 0, self.count - 1).astype(np.int64)

    def middles(self, slots: Wholes) -> Floats:
        return self.begin + (slots.astype(np.float64) + 0.5) * self.width


def slots_for(begin: float, end: float, values: int, fewest: int = 24, most: int = 240, each: int = 20) -> Slots:
    """Cut a time into slots that hold some `each` values on average, as many as a chart can show."""
    count = int(np.clip(values // each, fewest, most))
    return Slots(begin, max(end - begin, 1e-9) / count, count)


@dataclass(frozen=True)
class SlotPercentiles:
    """Percentiles of the values of each slot that has any, and its greatest value."""

    slots: Wholes
    shares: tuple[Floats, ...]
    greatest: Floats


def percentiles_by_slot(slots: Wholes, values: Floats, shares: tuple[float, ...]) -> SlotPercentiles:
    order = np.lexsort((values, slots))
    ranked = values[order]
    present, firsts, counts = np.unique(slots[order], return_index=True, return_counts=True)
    found = tuple(ranked[firsts + np.maximum(np.ceil(share * counts).astype(np.int64), 1) - 1] for share in shares)
    return SlotPercentiles(present, found, ranked[firsts + counts - 1])


def greatest_by_slot(slots: Wholes, values: NDArray[Any]) -> tuple[Wholes, NDArray[Any]]:
    found = percentiles_by_slot(slots, values, ())
    return found.slots, found.greatest


def extreme_rows(slots: Wholes, values: NDArray[Any]) -> Wholes:
    """Return the rows with the least and the greatest value of each slot, in their order."""
    if not len(slots):
        return np.empty(0, np.int64)
    order = np.lexsort((values, slots))
    firsts = np.flatnonzero(np.diff(slots[order], prepend=slots[order][0] - 1))
    lasts = np.append(firsts[1:], len(order)) - 1
    return np.unique(np.concatenate([order[firsts], order[lasts]]))


def thinned_rows(times: NDArray[Any], values: NDArray[Any], most: int) -> Wholes:
    """Return all rows if they are not too many, else those with the extremes of slots of time."""
    if len(times) <= most:
        return np.arange(len(times))
    slots = slots_for(float(times.min()), float(times.max()), len(times), most=max(most // 2, 1), each=1)
    return extreme_rows(slots.of(times), values)


@dataclass(frozen=True)
class Histogram:
    """How many values lie in each of a number of bins."""

    edges: Floats
    counts: Wholes

    @property
    def middles(self) -> Floats:
        return np.sqrt(self.edges[1:] * self.edges[:-1])

    @property
    def percent(self) -> Floats:
        percent: Floats = 100 * self.counts / self.counts.sum()
        return percent


def log_histogram(values: Floats, least: float, greatest: float, bins: int) -> Histogram:
    """Count values in bins of equal ratio; what is outside is counted at the ends."""
    edges = np.geomspace(least, max(greatest, least * 1.01), bins + 1)
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    return Histogram(edges, np.bincount(places, minlength=bins))


@dataclass(frozen=True)
class Curve:
    """A percentile curve: values at 1 / (1 - share), so that each nine takes as much room as the nine before."""

    tails: Floats
    values: Floats

    @property
    def percent(self) -> Floats:
        return 100 * (1 - 1 / self.tails)


def percentile_curve(values: Floats) -> Curve:
    """Return the nearest-rank percentiles up to 99.99 %, as far as there are values to tell them apart."""
    if not len(values):
        return Curve(np.empty(0), np.empty(0))
    furthest = min(_FURTHEST, float(len(values)))
    tails = np.geomspace(1.0, furthest, _CURVE_POINTS)
    ranked = np.sort(values)
    ranks = np.ceil((1 - 1 / tails) * len(ranked) - 1e-9).astype(np.int64)
    curve = ranked[np.clip(ranks, 1, len(ranked)) - 1]
    if len(values) > _FURTHEST:
        return Curve(tails, curve)
    return Curve(np.append(tails, furthest), np.append(curve, ranked[-1]))  # beyond its share only the worst is left


def rates(times_s: Floats, totals: Wholes, slots: Slots) -> tuple[Floats, Floats]:
    """Return the mean rate in each slot from running totals that were noted now and then."""
    edges = slots.begin + np.arange(slots.count + 1) * slots.width
    if len(times_s) < 2:
        return np.empty(0), np.empty(0)
    inside = (edges >= times_s[0] - slots.width) & (edges <= times_s[-1] + slots.width)
    edges = np.clip(edges[inside], times_s[0], times_s[-1])
    at_edges = np.interp(edges, times_s, totals)
    widths = np.diff(edges)
    wide = widths > slots.width / 4  # the rate of a sliver says nothing
    return ((edges[1:] + edges[:-1]) / 2)[wide], (np.diff(at_edges)[wide] / widths[wide])


def spread_rows(starts: Wholes, values: Floats, kept: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Thin series of rows: of a series longer than `most`, mark the extremes of slots and what is `kept` anyway.

    `starts` says where the series begin, and where the last series ends.
    """
    lengths = np.diff(starts)
    series = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(values)) - np.repeat(starts[:-1], lengths)
    slots_each = max(most // 2, 1)
    slot = series * slots_each + place * slots_each // np.maximum(np.repeat(lengths, lengths), 1)
    marked = np.repeat(lengths <= most, lengths) | kept
    marked[extreme_rows(slot, values)] = True
    return marked
