"""How the engine recovered from faults: what it lost or repeated, how long it took, how late answers came meanwhile."""

from collections.abc import Sequence

import numpy as np

from pairs.measure.latency import summarize
from pairs.measure.recorded_files import Throughput
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Floats
from pairs.model.streams import STREAMS
from pairs.run_folder.records import Recovery, ValidationRecord

_RATE_OVER = 10  # notes of the throughput, about a second apart


def recovery_of(recorded: Recorded, validation: ValidationRecord) -> Recovery | None:
    """Return how the engine recovered; None if there was no fault, or nothing is known of the throughput."""
    faults, throughput = recorded.manifest.faults, recorded.throughput
    if not faults or throughput is None:
        return None
    begins_s = [(fault.at_us - recorded.origin_us) / 1e6 for fault in faults]
    took = [recovery_time_s(throughput, fault.at_us) for fault in faults]
    kind, explanation = recovery_kind(validation)
    timed = {name: recorded.timed(stream) for name, stream in STREAMS.items()}
    return Recovery(
        kind=kind,
        explanation=explanation,
        faults=len(faults),
        times_s=tuple(took),
        latency_s={
            name: summarize(np.empty(0) if found is None else _due_meanwhile(found, begins_s, took))
            for name, found in timed.items()
        },
    )


def recovery_kind(validation: ValidationRecord) -> tuple[str, str]:
    """Return the class of a recovery by what the engine delivered in all, and the counts behind it."""
    wrong, missing, undue, duplicates, repeated = (
        validation.total(kind) for kind in ("wrong", "missing", "undue", "duplicates", "repeated")
    )
    twice = f"{duplicates + repeated:,} came twice, of which the sink dropped {repeated:,} as repetitions"
    found = [f"{count:,} {what}" for count, what in ((wrong, "are wrong"), (missing, "are missing")) if count]
    found += [twice] if duplicates or repeated else []
    found += [f"{undue - duplicates:,} were not due"] if undue > duplicates else []
    kind = "none" if wrong else "gap" if missing else "rollback" if duplicates or repeated else "none"
    return (kind, f"of the answers {', '.join(found)}") if found else ("precise", "nothing missing, nothing twice")


def recovery_time_s(throughput: Throughput, fault_us: int) -> float | None:
    """Return how long after a fault the engine had caught up; None if it never did.

    It has when its backlog is no more than twice what it was before, or a second of input.
    """
    times_us, produced, consumed = throughput.time_us, throughput.produced, throughput.consumed
    before = int(np.searchsorted(times_us, fault_us, side="right")) - 1
    first = max(before - _RATE_OVER, 0)
    if before <= first:
        return None
    a_second = (produced[before] - produced[first]) / (times_us[before] - times_us[first]) * 1e6
    enough = max(2 * throughput.waiting[before], a_second)
    alive = (times_us > fault_us) & (consumed > consumed[before])  # it has come back to life
    caught_up = np.flatnonzero(alive & (throughput.waiting <= enough))
    return float(times_us[caught_up[0]] - fault_us) / 1e6 if len(caught_up) else None


def _due_meanwhile(timed: Timed, begins_s: Sequence[float], took: Sequence[float | None]) -> Floats:
    """Return the latencies of the answers to ticks that were due while the engine was down or catching up."""
    meanwhile = np.zeros(len(timed), bool)
    for begin, seconds in zip(begins_s, took, strict=True):
        meanwhile |= (timed.due_s >= begin) & (timed.due_s < begin + (np.inf if seconds is None else seconds))
    return timed.latency_s[meanwhile]
