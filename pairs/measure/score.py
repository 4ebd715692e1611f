"""The score of a run, as pure functions: p_score = load / 99th percentile latency."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MATCH_WEIGHT = 100  # the work of a strategy that a tick concerns, to that of one that only looks at it
UNIT_OF_LOAD = 125_000  # so that the load of scale factor 1 is 3
WORST_LATENESS_S = 0.010  # that a driver may have at the 99th percentile, or a tenth of the latency, if that is more
LATENESS_SHARE = 0.1
_RATE_OVER = 10  # notes of the pace, one a second


def load(ticks_per_second: float, strategies: int, matches: float) -> float:
    """Return the load: ticks per wall second at the basis rate, times the work that a tick makes.

    Every strategy looks at every tick, and those it concerns, `matches` on average, do a hundred times as much.
    """
    return ticks_per_second * (strategies + MATCH_WEIGHT * matches) / UNIT_OF_LOAD


def percentile(values: NDArray[np.float64], share: float) -> float:
    """Return the nearest-rank percentile: the smallest value that at least this share of the values do not exceed."""
    ranked = max(math.ceil(share * len(values)), 1) - 1
    return float(np.partition(values, ranked)[ranked])


@dataclass(frozen=True)
class Measured:
    """What a run measured that decides about its score."""

    passed: bool
    ticks: int
    ticks_sent: int
    lateness_p99_s: float | None
    latencies_s: NDArray[np.float64]  # of the orders triggered in the measurement interval
    paced: bool = True
    failures: Sequence[str] = field(default_factory=tuple)  # of processes


@dataclass(frozen=True)
class Score:
    """A score, and whether it counts."""

    load: float
    p99: float | None  # seconds
    p_score: float | None
    reasons: tuple[str, ...]  # why it does not count

    @property
    def valid(self) -> bool:
        """Whether the score counts."""
        return not self.reasons


def score(load_of_run: float, measured: Measured) -> Score:
    """Score a run; a number is given also where it does not count, with every reason why."""
    p99 = percentile(measured.latencies_s, 0.99) if len(measured.latencies_s) else None
    p_score = load_of_run / p99 if p99 and p99 > 0 else None
    return Score(load_of_run, p99, p_score, tuple(_reasons(measured, p99)))


def _reasons(measured: Measured, p99: float | None) -> list[str]:
    reasons = list(measured.failures)
    if not measured.paced:
        reasons.append("the run was unpaced")
    if not measured.passed:
        reasons.append("validation FAILED")
    if measured.ticks_sent != measured.ticks:
        reasons.append(f"{measured.ticks_sent:,} of {measured.ticks:,} ticks were sent")
    if p99 is None:
        reasons.append("no order was triggered in the measurement interval")
    elif p99 <= 0:
        reasons.append("latencies are not above zero, so the clocks cannot be trusted")
    if measured.paced:
        reasons += _lateness_reason(measured.lateness_p99_s, p99)
    return reasons


def _lateness_reason(lateness_s: float | None, p99: float | None) -> list[str]:
    if lateness_s is None:
        return ["the driver did not record how late it was"]
    allowed = max(WORST_LATENESS_S, LATENESS_SHARE * (p99 or 0.0))
    if lateness_s <= allowed:
        return []
    return [
        f"the driver was {lateness_s * 1000:.1f} ms late at the 99th percentile, {allowed * 1000:.1f} ms are allowed"
    ]


def recovery_class(missing: int, undue: int, wrong: int) -> str:
    """Say how an engine recovers from a crash, by what it answered in all."""
    if wrong:
        return "none: answers are wrong"
    if missing:
        return "gap: answers are missing"
    return "rollback: answers came twice" if undue else "precise: nothing missing, nothing twice"


def recovery_times_s(
    times_s: NDArray[np.float64], sent: NDArray[np.int64], taken: NDArray[np.int64], kills_s: Sequence[float]
) -> list[float | None]:
    """Return how long after each kill the engine had caught up; none where it never did.

    It has when its backlog is no more than twice what it was before, or a second of input.
    """
    return [_recovery_time_s(times_s, sent, taken, one) for one in kills_s]


def _recovery_time_s(
    times_s: NDArray[np.float64], sent: NDArray[np.int64], taken: NDArray[np.int64], kill_s: float
) -> float | None:
    before = int(np.searchsorted(times_s, kill_s, side="right")) - 1
    first = max(before - _RATE_OVER, 0)
    if before <= first:
        return None
    a_second = (sent[before] - sent[first]) / (times_s[before] - times_s[first])
    enough = max(2 * (sent[before] - taken[before]), a_second)
    gone = taken > taken[before]  # it has come back to life
    caught_up = np.flatnonzero(gone & (times_s > kill_s) & (sent - taken <= enough))
    return float(times_s[caught_up[0]] - kill_s) if len(caught_up) else None


@dataclass(frozen=True)
class Adaptivity:
    """How an engine took a burst, by the latencies of its answers before, in and after it."""

    max_peak_latency_s: float  # during the burst or after it
    peak_degradation_ratio: float | None  # p99.9 in the burst to p99.9 before it
    recovery_time_s: float | None  # from the end of the burst to the first answer as quick as the mean before it
    post_peak_variation_ratio: float | None  # mean latency after that to the mean before the burst


def adaptivity(
    due_s: NDArray[np.float64], latencies_s: NDArray[np.float64], steady_from_s: float, burst_s: tuple[float, float]
) -> Adaptivity | None:
    """Weigh a burst by answers and when their triggers were due; none if none came before or after it began."""
    begins, ends = burst_s
    steady = latencies_s[(due_s >= steady_from_s) & (due_s < begins)]
    peak, later = latencies_s[(due_s >= begins) & (due_s < ends)], latencies_s[due_s >= begins]
    if not len(steady) or not len(later) or steady.min() <= 0:
        return None
    mean = float(steady.mean())
    arrivals = due_s + latencies_s
    recovered = np.flatnonzero((due_s >= ends) & (latencies_s <= mean))
    back_s = float(arrivals[recovered].min()) if len(recovered) else None
    after = latencies_s[due_s >= back_s] if back_s is not None else np.empty(0)
    return Adaptivity(
        float(later.max()),
        percentile(peak, 0.999) / percentile(steady, 0.999) if len(peak) else None,
        None if back_s is None else back_s - ends,
        float(after.mean()) / mean if len(after) else None,
    )
