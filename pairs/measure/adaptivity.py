"""How the engine took a burst, by its indicators, of which there are many."""

import numpy as np

from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import percentile
from pairs.model.arrivals import burst_of
from pairs.model.streams import INDICATORS
from pairs.run_folder.score_record import Adaptivity


def adaptivity_of(recorded: Recorded) -> Adaptivity | None:
    """Return how the engine took the burst; None if there was none or it was not timed."""
    workload, timed, duration_ms = recorded.workload, recorded.timed(INDICATORS), recorded.manifest.duration_ms
    if workload is None or workload.curve != "burst" or timed is None:
        return None
    begins, ends = (recorded.wall_of(moment) for moment in burst_of(duration_ms))
    return adaptivity(timed, recorded.wall_of(duration_ms / 4), begins, ends)


def adaptivity(timed: Timed, steady_from_s: float, begins_s: float, ends_s: float) -> Adaptivity | None:
    """Evaluate a burst by answers and when their triggers were due; None if none came before or after it began."""
    due_s, latency_s = timed.due_s, timed.latency_s
    steady = latency_s[(due_s >= steady_from_s) & (due_s < begins_s)]
    peak, later = latency_s[(due_s >= begins_s) & (due_s < ends_s)], latency_s[due_s >= begins_s]
    if not len(steady) or not len(later) or steady.min() <= 0:
        return None
    mean = float(steady.mean())
    recovered = (due_s >= ends_s) & (latency_s <= mean)
    back_s = float((due_s + latency_s)[recovered].min()) if recovered.any() else None
    after = latency_s[due_s >= back_s] if back_s is not None else np.empty(0)
    return Adaptivity(
        max_peak_latency_s=float(later.max()),
        peak_degradation_ratio=percentile(peak, 0.999) / percentile(steady, 0.999) if len(peak) else None,
        recovery_time_s=None if back_s is None else back_s - ends_s,
        post_peak_variation_ratio=float(after.mean()) / mean if len(after) else None,
    )
