"""What the report finds about the stability of a run: the recorded numbers, handed to the rules that judge them."""

from fractions import Fraction

import numpy as np

from pairs.measure import stability
from pairs.measure.recordings import Recorded
from pairs.measure.score import percentile
from pairs.measure.stability import Finding
from pairs.report.charts.latency import sent_latencies
from pairs.report.charts.load import throughput, waiting
from pairs.report.charts.machine import samples


def findings(recorded: Recorded) -> list[Finding]:
    """Return every finding, worst first."""
    if recorded.speed is None:
        return [Finding("bad", "Nothing was timed", recorded.why_untimed)]
    ticks, latencies = recorded.measured("orders")
    found = [
        *stability.latency_findings(ticks, latencies, *recorded.interval_ms),
        stability.backlog_finding(backlog_of(recorded)),
        *_machine(recorded),
    ]
    if len(latencies):
        sent = sent_latencies(recorded, "orders")
        sent_p99 = None if sent is None or not len(sent) else percentile(sent, 0.99)
        found.append(stability.lateness_finding(percentile(latencies, 0.99), sent_p99))
    score = recorded.score or {}
    if burst := score.get("adaptivity"):
        found.append(stability.burst_finding(burst))
    if recovery := score.get("recovery"):
        found.append(stability.recovery_finding(recovery))
    return sorted(found, key=lambda one: ("bad", "note", "good").index(one.level))


def backlog_of(recorded: Recorded) -> stability.Backlog | None:
    """Return what the engine had not taken, in seconds of input; none if that is not known."""
    noted, basis = waiting(recorded), recorded.parameters.get("basis_rate")
    if noted is None or recorded.speed is None:
        return None
    begin, end = (recorded.wall_of(one) for one in recorded.interval_ms)
    per_second = float(Fraction(str(basis))) * recorded.speed if basis is not None else _mean_rate(recorded)
    return stability.backlog(*noted, begin, end, per_second)


def _mean_rate(recorded: Recorded) -> float:
    ticks = recorded.facts.get("ticks") or 0
    return float(ticks / max(recorded.wall_of(recorded.duration_ms), 1e-9))


def cores_used(recorded: Recorded) -> float | None:
    """Return how many cores all processes used on average within the measurement interval."""
    used = _used(recorded)
    return None if used is None else sum(used[0].values())


def cost(recorded: Recorded) -> float | None:
    """Return the CPU seconds that the engine spent on a million ticks within the measurement interval."""
    used, noted = _used(recorded), throughput(recorded)
    if used is None or noted is None or recorded.speed is None:
        return None
    begin, end = np.clip([recorded.wall_of(one) for one in recorded.interval_ms], *noted["time"][[0, -1]])
    first, last = np.interp([begin, end], noted["time"], noted["consumed"])
    cores = sum(share for name, share in used[0].items() if name.startswith("engine"))
    return float(cores * (end - begin) / (last - first) * 1e6) if last > first else None


def _used(recorded: Recorded) -> tuple[dict[str, float], float] | None:
    """Return the cores that each part used within the measurement interval, and the longest gap between samples."""
    found = samples(recorded)
    if found is None:
        return None
    begin, end = (recorded.wall_of(one) for one in recorded.interval_ms)
    inside = np.flatnonzero((found.seconds >= begin) & (found.seconds < end))
    if len(inside) < 2:
        return None
    span = found.seconds[inside[-1]] - found.seconds[inside[0]]
    used = np.nansum(found.values["cpu_seconds"][inside[1:]], axis=0) / span
    gap = float(np.diff(found.seconds[inside]).max())
    return dict(zip(found.parts, used.tolist(), strict=True)), gap


def _machine(recorded: Recorded) -> list[Finding]:
    used, cores = _used(recorded), (recorded.facts.get("environment") or {}).get("cores")
    if used is None or not cores:
        return []
    return list(stability.machine_findings(used[0], float(cores), used[1]))
