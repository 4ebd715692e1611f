"""Whether a run was stable: whether latency or backlog grew."""

from dataclasses import dataclass

from scipy.stats import kendalltau, theilslopes

from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Slots, percentile, percentiles_by_slot
from pairs.measure.throughput import backlog_of
from pairs.model.streams import SCORED

_TREND_SLOTS = 40
_FEWEST_SLOTS = 8
_CHANCE = 0.01  # a false alarm in a hundred runs without a trend
_MUCH = 0.25  # growth within the interval, as a share of the median


@dataclass(frozen=True)
class Trend:
    """How latency moved over an interval: growth from begin to end, as a share of the median."""

    growth: float
    p_value: float  # of a movement as clear as this where there is none

    @property
    def certain(self) -> bool:
        """Whether latency moved beyond chance, be it by little."""
        return self.p_value < _CHANCE

    @property
    def growing(self) -> bool:
        return self.certain and self.growth > _MUCH

    @property
    def falling(self) -> bool:
        return self.certain and self.growth < -_MUCH


def trend(timed: Timed, begin: float, end: float) -> Trend | None:
    """Return how the medians of slots of an interval move: Theil and Sen's slope, Mann and Kendall's test.

    Both look at pairs of slots, so that a few bad slots do not make a trend. None if there are too few slots.
    """
    slots = Slots(begin, (end - begin) / _TREND_SLOTS, _TREND_SLOTS)
    by_slot = percentiles_by_slot(slots.of(timed.tick_ts), timed.latency_s, (0.5,))
    if len(by_slot.slots) < _FEWEST_SLOTS:
        return None
    medians = by_slot.shares[0]
    overall = percentile(timed.latency_s, 0.5)
    growth = float(theilslopes(medians, by_slot.slots).slope) * _TREND_SLOTS / overall if overall > 0 else 0.0
    return Trend(growth, float(kendalltau(by_slot.slots, medians).pvalue))


def unsustained(recorded: Recorded, limit_s: float) -> list[str]:
    """Return why a load was not sustained: latency above the limit or growing, or a backlog that grew."""
    reasons = []
    if recorded.score is not None and recorded.score.p99 is not None and recorded.score.p99 > limit_s:
        reasons.append(f"p99 is {recorded.score.p99:.2f} s")
    moved = trend(recorded.measured(SCORED), *recorded.manifest.measurement_interval_ms)
    if moved is not None and moved.growing:
        reasons.append(f"latency grew by {moved.growth:.0%}")
    waiting = backlog_of(recorded)
    if waiting is not None and waiting.growing:
        reasons.append(f"the backlog grew to {waiting.at_end_s:.1f} s of input")
    return reasons
