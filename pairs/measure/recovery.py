"""How the engine took faults and bursts: what it lost or repeated, how long it took, how late its answers were."""

from collections.abc import Sequence
from math import inf

import numpy as np

from pairs.measure.latency import summarize
from pairs.measure.recorded_files import Throughput
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Floats, percentile
from pairs.model.arrivals import burst_phases
from pairs.model.streams import INDICATORS, STREAMS
from pairs.run_folder.records import Adaptivity, Recovery, ValidationRecord

_RATE_OVER = 10  # notes of the throughput, about a second apart
_STEADY_US = 5_000_000  # an engine that has caught up does not fall behind again within so long


def recovery_of(recorded: Recorded, validation: ValidationRecord) -> Recovery | None:
    """Return how the engine recovered; None if there was no fault, or nothing is known of the throughput."""
    faults, throughput = recorded.manifest.faults, recorded.throughput
    if not faults or throughput is None:
        return None
    begins_s = [(fault.at_us - recorded.origin_us) / 1e6 for fault in faults]
    nexts_us = [*(fault.at_us for fault in faults[1:]), inf]
    took = [recovery_time_s(throughput, fault.at_us, next_us) for fault, next_us in zip(faults, nexts_us, strict=True)]
    kind, explanation = recovery_kind(validation)
    timed = {name: recorded.timed(stream) for name, stream in STREAMS.items()}
    meanwhile = {name: summarize(_due_meanwhile(found, begins_s, took)) for name, found in timed.items()}
    return Recovery(kind=kind, explanation=explanation, faults=len(faults), times_s=tuple(took), latency_s=meanwhile)


def recovery_kind(validation: ValidationRecord) -> tuple[str, str]:
    """Return the class of a recovery by what the engine delivered in all, and the counts behind it."""
    wrong, missing, undue, duplicates, repeated = (
        validation.total(kind) for kind in ("wrong", "missing", "undue", "duplicates", "repeated")
    )
    twice = f"{duplicates + repeated:,} came twice, of which the sink dropped {repeated:,}"
    found = [f"{count:,} {what}" for count, what in ((wrong, "came wrong"), (missing, "never came")) if count]
    found += [twice] if duplicates or repeated else []
    found += [f"{undue - duplicates:,} came without being due"] if undue > duplicates else []
    kind = "none" if wrong else "gap" if missing else "rollback" if duplicates or repeated else "none"
    return (kind, f"of the answers {', '.join(found)}") if found else ("precise", "nothing missing, nothing twice")


def recovery_time_s(throughput: Throughput, fault_us: int, next_us: float = inf) -> float | None:
    """Return how long after a fault the engine had caught up; None if it never did.

    It has when its backlog is no more than twice what it was before, or a second of input, and stays so for a while or
    until the next fault: a cluster that loses a worker may finish what it is at, and stall only then.
    """
    times_us, produced, consumed = throughput.time_us, throughput.produced, throughput.consumed
    before = int(np.searchsorted(times_us, fault_us, side="right")) - 1
    first = max(before - _RATE_OVER, 0)
    if before <= first:
        return None
    a_second = (produced[before] - produced[first]) / (times_us[before] - times_us[first]) * 1e6
    enough = max(2 * throughput.waiting[before], a_second)
    alive = (times_us > fault_us) & (consumed > consumed[before])  # it has come back to life
    caught_up = alive & (throughput.waiting <= enough)
    for time_us in times_us[caught_up].tolist():
        soon = (times_us > time_us) & (times_us <= min(time_us + _STEADY_US, next_us))
        if caught_up[soon].all():
            return float(time_us - fault_us) / 1e6
    return None


def _due_meanwhile(timed: Timed | None, begins_s: Sequence[float], took: Sequence[float | None]) -> Floats:
    """Return the latencies of the answers to ticks that were due while the engine was down or catching up."""
    if timed is None:
        return np.empty(0)
    meanwhile = np.zeros(len(timed), bool)
    for begin, seconds in zip(begins_s, took, strict=True):
        meanwhile |= (timed.due_s >= begin) & (timed.due_s < begin + (np.inf if seconds is None else seconds))
    return timed.latency_s[meanwhile]


def adaptivity_of(recorded: Recorded) -> Adaptivity | None:
    """Return how the engine took the burst, by its indicators, of which there are many; None if there was no burst."""
    workload, timed, duration_ms = recorded.workload, recorded.timed(INDICATORS), recorded.manifest.duration_ms
    if workload is None or workload.curve != "burst" or timed is None:
        return None
    _, steady, begins, ends = (recorded.wall_of(moment) for moment in burst_phases(duration_ms).values())
    return adaptivity(timed, steady, begins, ends)


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
