"""Says whether the numbers of a run can be trusted, as pure functions that end in plain sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from pairs.measure.reduce import Slots, percentiles_by_slot
from pairs.measure.score import percentile

Floats = NDArray[np.float64]

_TREND_SLOTS = 40
_FEWEST_SLOTS = 8
_CERTAIN = 2.58  # standard deviations: a false alarm in a hundred runs without a trend
_MUCH = 0.25  # growth within the interval, as a share of the median
_UNLIKE = 2.0  # ratio of the p99 of two quarters
_FEW_BEYOND = 10  # answers beyond the 99th percentile
_WIDE = 0.5  # width of a confidence interval, as a share of the value
MUCH_BACKLOG_S = 2.0
_BUSY = 0.9  # share of the cores
_OWN_SHARE = 0.2  # share of the cores that driver and sink may take
_LONGEST_GAP_S = 5.0


@dataclass(frozen=True)
class Finding:
    """A sentence about a run: `good`, `note`, or `bad` where a number should not be trusted."""

    level: str
    title: str
    sentence: str


@dataclass(frozen=True)
class Quarter:
    """A quarter of the measurement interval."""

    count: int
    p50_s: float | None
    p99_s: float | None


@dataclass(frozen=True)
class Trend:
    """How latency moved over an interval: growth from begin to end, as a share of the median, and its certainty."""

    growth: float
    certainty: float  # standard deviations from no trend at all

    @property
    def growing(self) -> bool:
        """Whether latency grew, beyond doubt and by much."""
        return self.certainty > _CERTAIN and self.growth > _MUCH

    @property
    def falling(self) -> bool:
        """Whether latency fell, beyond doubt and by much."""
        return self.certainty < -_CERTAIN and self.growth < -_MUCH


def quarters(times: NDArray[Any], latencies_s: Floats, begin: float, end: float) -> list[Quarter]:
    """Return median and 99th percentile of each quarter of an interval."""
    slots = Slots(begin, (end - begin) / 4, 4).of(times)
    return [_quarter(latencies_s[slots == number]) for number in range(4)]


def _quarter(latencies_s: Floats) -> Quarter:
    if not len(latencies_s):
        return Quarter(0, None, None)
    return Quarter(len(latencies_s), percentile(latencies_s, 0.5), percentile(latencies_s, 0.99))


def trend(times: NDArray[Any], latencies_s: Floats, begin: float, end: float) -> Trend | None:
    """Return how the medians of slots move: Theil and Sen's slope, Mann and Kendall's test; none if there are too few.

    Both look at pairs of slots, so that a few bad ones do not make a trend.
    """
    slots = Slots(begin, (end - begin) / _TREND_SLOTS, _TREND_SLOTS)
    by_slot = percentiles_by_slot(slots.of(times), latencies_s, (0.5,))
    if len(by_slot.slots) < _FEWEST_SLOTS:
        return None
    medians, places = by_slot.shares[0], by_slot.slots.astype(float)
    earlier, later = np.triu_indices(len(medians), 1)
    differences = medians[later] - medians[earlier]
    slope = float(np.median(differences / (places[later] - places[earlier])))
    signs, count = float(np.sign(differences).sum()), len(medians)
    deviation = sqrt(count * (count - 1) * (2 * count + 5) / 18)
    overall = percentile(latencies_s, 0.5)
    return Trend(slope * _TREND_SLOTS / overall if overall > 0 else 0.0, signs / deviation)


def p99_bounds(latencies_s: Floats, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return bounds of the 99th percentile from ranks alone, whatever the distribution; none if there are too few."""
    count = len(latencies_s)
    if not count:
        return None
    low, high = (int(binom.ppf(share, count, 0.99)) for share in ((1 - confidence) / 2, (1 + confidence) / 2))
    if high >= count:
        return None
    ranked = np.sort(latencies_s)
    return float(ranked[max(low - 1, 0)]), float(ranked[high])


@dataclass(frozen=True)
class Backlog:
    """What the engine had not taken: how much, in seconds of the input at the basis rate."""

    worst_s: float
    at_begin_s: float  # of the measurement interval, as its end the mean over a tenth of it
    at_end_s: float
    last_s: float  # when it was last noted


def backlog(times: Floats, waiting: NDArray[Any], begin: float, end: float, per_second: float) -> Backlog | None:
    """Weigh the backlog of a run; none if it was not noted within the interval."""
    tenth = (end - begin) / 10
    first, last = ((times >= one) & (times < one + tenth) for one in (begin, end - tenth))
    if not first.any() or not last.any() or per_second <= 0:
        return None
    return Backlog(
        float(waiting.max()) / per_second,
        float(waiting[first].mean()) / per_second,
        float(waiting[last].mean()) / per_second,
        float(waiting[-1]) / per_second,
    )


def latency_findings(times: NDArray[Any], latencies_s: Floats, begin: float, end: float) -> Iterator[Finding]:
    """Say what is to be said of the latencies of the orders within the measurement interval."""
    if not len(latencies_s):
        yield Finding("bad", "No latency", "No order was triggered in the measurement interval: nothing to judge.")
        return
    yield _trend_finding(trend(times, latencies_s, begin, end))
    yield _quarters_finding(quarters(times, latencies_s, begin, end))
    yield _sample_finding(latencies_s)


def _trend_finding(found: Trend | None) -> Finding:
    title = "Is latency growing?"
    if found is None:
        return Finding("note", title, "Unknown: orders were too few or too short in time to see a trend.")
    if found.growing:
        return Finding(
            "bad",
            title,
            f"Yes: the median grew by {found.growth:.0%} within the interval, far beyond chance. A longer run would "
            "give a worse number, so this one should not be trusted.",
        )
    if found.falling:
        return Finding(
            "bad",
            title,
            f"It is falling: the median went down by {-found.growth:.0%} within the interval. The engine was still "
            "warming up when the measurement began; a longer warm-up would give a better number.",
        )
    if abs(found.certainty) > _CERTAIN:
        return Finding(
            "note",
            title,
            f"A little: {found.growth:+.0%} within the interval, small but steady. The load is symmetric.",
        )
    return Finding(
        "good",
        title,
        "No: the medians of slots of time show no trend. Load rises and falls symmetrically in the interval, so it "
        "cannot hide one.",
    )


def _quarters_finding(found: Sequence[Quarter]) -> Finding:
    title = "Do the quarters agree?"
    values = [one.p99_s for one in found if one.p99_s is not None]
    if len(values) < 4 or min(values) <= 0:
        return Finding("bad", title, "Unknown: a quarter of the measurement interval has no orders.")
    ratio = max(values) / min(values)
    listed = ", ".join(f"{value * 1000:,.0f}" for value in values)
    if ratio > _UNLIKE:
        worst = values.index(max(values)) + 1
        return Finding(
            "bad",
            title,
            f"No: their 99th percentiles are {listed} ms, a factor of {ratio:.1f} apart. The score is made in quarter "
            f"{worst} alone; look at what happened there.",
        )
    return Finding("good", title, f"Yes: their 99th percentiles are {listed} ms, a factor of {ratio:.2f} apart.")


def _sample_finding(latencies_s: Floats) -> Finding:
    title = "Are there enough orders?"
    count = len(latencies_s)
    beyond = count - ceil(0.99 * count)
    bounds = p99_bounds(latencies_s)
    if beyond < _FEW_BEYOND or bounds is None:
        return Finding(
            "bad",
            title,
            f"No: {count:,} orders leave only {beyond:,} beyond the 99th percentile, so chance decides about it. "
            "Repeat the run, or use a longer one or a larger scale factor.",
        )
    low, high = bounds
    p99 = percentile(latencies_s, 0.99)
    level = "note" if high - low > _WIDE * p99 else "good"
    opening = "Hardly" if level == "note" else "Yes"
    return Finding(
        level,
        title,
        f"{opening}: {count:,} orders put the 99th percentile between {low * 1000:,.0f} and {high * 1000:,.0f} ms (95 "
        "% confidence, if orders were independent; they come in batches, so the truth is wider).",
    )


def backlog_finding(found: Backlog | None) -> Finding:
    """Say whether the engine kept up."""
    title = "Did the backlog drain?"
    if found is None:
        return Finding("note", title, "Unknown: the backlog was not recorded.")
    worst = f"at worst the engine was {found.worst_s:,.2f} s of input behind"
    if found.at_end_s - found.at_begin_s > MUCH_BACKLOG_S:
        return Finding(
            "bad",
            title,
            f"No: it grew from {found.at_begin_s:,.2f} s to {found.at_end_s:,.2f} s of input within the measurement "
            f"interval; {worst}. The engine did not sustain this load.",
        )
    left = f"{found.last_s:,.2f} s of input were left when it was last noted; {worst}"
    if max(found.last_s, found.at_end_s) > MUCH_BACKLOG_S:
        return Finding("note", title, f"It did not grow, but stayed: {left}.")
    return Finding("good", title, f"Yes: {left}.")


def machine_findings(used: Mapping[str, float], cores: float, gap_s: float) -> Iterator[Finding]:
    """Say what the machine had to do with it: mean cores used by part, how many there are, longest gap in samples."""
    if not used or not cores:
        return
    total = sum(used.values())
    own = sum(value for part, value in used.items() if not part.startswith("engine"))
    title = "Was the machine large enough?"
    busy = f"{total:.2f} of {cores:g} cores were in use by this run on average, {own:.2f} of them by drivers and sink"
    if total > _BUSY * cores:
        yield Finding("bad", title, f"No: {busy}. What was measured is the machine as much as the engine.")
    elif own > _OWN_SHARE * cores:
        yield Finding("note", title, f"Barely: {busy}, which share the machine with the engine.")
    else:
        yield Finding("good", title, f"Yes: {busy}.")
    if gap_s > _LONGEST_GAP_S:
        yield Finding(
            "bad",
            "Did the machine stand still?",
            f"For {gap_s:.1f} s nothing could be sampled, though a sample is taken every second. Something else held "
            "the machine, and latency with it.",
        )


def lateness_finding(scheduled_p99_s: float, sent_p99_s: float | None) -> Finding:
    """Say how much of the scored latency was the driver's own."""
    title = "Was the driver on time?"
    if sent_p99_s is None:
        return Finding("note", title, "How late each tick was sent was not recorded, only how late on the whole.")
    share = 1 - sent_p99_s / scheduled_p99_s if scheduled_p99_s > 0 else 0.0
    both = (
        f"p99 is {scheduled_p99_s * 1000:,.1f} ms from the scheduled and {sent_p99_s * 1000:,.1f} ms from the send time"
    )
    if share > 0.1:
        return Finding("bad", title, f"No: {both}, so {share:.0%} of the scored latency is the driver's.")
    return Finding("good", title, f"Yes: {both}.")


def burst_finding(found: Mapping[str, Any]) -> Finding:
    """Say how the engine took a burst."""
    worst = f"at worst an answer took {found['max_peak_latency_s'] * 1000:,.0f} ms"
    ratio, back, after = (
        found[key] for key in ("peak_degradation_ratio", "recovery_time_s", "post_peak_variation_ratio")
    )
    if back is None:
        return Finding("bad", "How did it take the burst?", f"It did not recover within the run; {worst}.")
    slower = "" if ratio is None else f", p99.9 was {ratio:.1f} times that before"
    then = "" if after is None else f", and mean latency was then {after:.2f} times that before"
    return Finding("note", "How did it take the burst?", f"It took {back:.1f} s to recover{then}; {worst}{slower}.")


def recovery_finding(found: Mapping[str, Any]) -> Finding:
    """Say how the engine recovered from being killed."""
    times = found["times_s"]
    never = sum(one is None for one in times)
    caught_up = ", ".join(f"{one:.1f} s" for one in times if one is not None) or "no time that was seen"
    level = "good" if found["class"].startswith("precise") and not never else "bad"
    lost = f" {never} times it did not catch up within the run." if never else ""
    orders = found.get("latency_s", {}).get("orders", {})
    if orders.get("count"):
        lost += (
            f" The {orders['count']:,} orders that were due meanwhile came late: half of them by more than "
            f"{orders['p50']:.1f} s, the worst by {orders['max']:.1f} s."
        )
    return Finding(
        level,
        "How did it recover?",
        f"Killed {found['kills']} times, it recovered: {found['class']}. It had caught up after {caught_up}.{lost}",
    )
