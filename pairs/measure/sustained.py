"""Whether a run sustained its load: what a search asks of every run."""

from pairs.measure.recordings import Recorded
from pairs.measure.stability import trend
from pairs.measure.throughput import backlog_of
from pairs.model.streams import SCORED


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
