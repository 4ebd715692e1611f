"""From a dataset to a run, and from a run to its score: what is executed, what is recorded, what it is worth."""

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs import __version__
from pairs.config.load import RunSettings
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.harness.faults import find_faults
from pairs.harness.supervisor import Job, Outcome, OverloadedError, execute
from pairs.measure import score as scoring
from pairs.model.arrival_curve import burst_of
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.translator import targets
from pairs.translator.translate import translate
from pairs.transport.registry import TRANSPORTS

RUN_FORMAT = 1
_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


def job_for(dataset: Dataset, settings: RunSettings) -> Job:
    """Check what is asked for, and say what will be run."""
    target, plan = targets.find(settings.target, settings.plan)
    settings = replace(settings, plan=plan)
    for name in settings.settings:
        if not target.accepts(name, plan):
            what = f"{target.name}, plan {plan}, accepts"
            raise BadInputError(f"--set: {what} no {name!r}; 'pairs targets' lists what it accepts")
    find_faults(settings.faults)
    target.check_requirements()
    dataset.tick_files()
    strategies = read_strategies(dataset.strategies_file)
    ticks = None
    duration, interval = strategies.market_close_ms, None
    if dataset.facts_file.is_file():
        facts = dataset.facts()
        ticks, duration, interval = facts["counts"]["ticks"], facts["duration_ms"], facts["measurement_interval_ms"]
    begins, ends = interval or (duration // 4, 3 * duration // 4)
    phases = {"ramp-up": 0, "warm-up": duration // 120, "measurement": begins, "cool-down": ends}
    return Job(dataset, target, plan, settings, ticks, phases, duration)


def run_job(run: Run, job: Job) -> Outcome:
    """Translate the strategies, run the program, and record what was done; also when it fails."""
    translate(job.dataset.strategies_file, job.target, job.plan, run.app_folder)
    transport = TRANSPORTS["ticklog"](run.transport_folder, job.settings.drivers)
    facts = _facts(job)
    run.write_json(run.facts_file, facts | {"state": "running"})

    def began(start_us: int | None) -> None:
        facts["start_us"] = start_us
        with suppress(BadInputError):  # if the disk is full, others will say so
            run.write_json(run.facts_file, facts | {"state": "running"})

    try:
        outcome = execute(run, job, transport, began)
    except BaseException as error:
        state = "overloaded" if isinstance(error, OverloadedError) else "failed"
        reason = str(error) or type(error).__name__
        with suppress(BadInputError):  # on a full disk, the reason is what counts
            run.write_json(run.facts_file, facts | {"state": state, "reason": reason})
        raise
    kills_us = [fault.time_us for fault in outcome.faults]
    run.write_json(run.facts_file, facts | {"state": "ended", **asdict(outcome), "kills_us": kills_us})
    return outcome


def _facts(job: Job) -> dict[str, Any]:
    known = job.dataset.facts() if job.dataset.facts_file.is_file() else {}
    return {
        "format_version": RUN_FORMAT,
        "kit_version": __version__,
        "dataset": str(job.dataset.path.absolute()),
        "dataset_digest": known.get("digest"),
        "dataset_parameters": known.get("parameters"),
        "strategies_digest": sha256(job.dataset.strategies_file.read_bytes()).hexdigest(),
        "run": job.settings.as_plain(),
        "ticks": job.ticks,
        "duration_ms": job.duration_ms,
        "phases_ms": dict(job.phases_ms),
        "measurement_interval_ms": [job.phases_ms["measurement"], job.phases_ms["cool-down"]],
        "command": ["pairs", *sys.argv[1:]],
        "environment": environment(),
    }


def environment() -> dict[str, Any]:
    """Return what one must know of a machine to compare runs."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "python": platform.python_version(),
        **{name: version(name) for name in ("pyspark", "numpy", "pyarrow", "pandas")},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def score_run(run: Run) -> dict[str, Any]:
    """Score a run that was validated; return what score.json says."""
    facts, validation = run.facts(), _validation(run)
    dataset = run.dataset()
    known = dataset.facts() if dataset.facts_file.is_file() else {}
    strategies = read_strategies(dataset.strategies_file).strategies
    lateness = lateness_of(run, facts["run"].get("drivers", 1))
    latencies = {stream: _latencies_s(run, stream, facts) for stream in STREAMS}
    scored = scoring.score(
        _load(dataset, known, facts, [one.symbol1 for one in strategies] + [one.symbol2 for one in strategies]),
        scoring.Measured(
            passed=validation.get("verdict") == "PASSED",
            ticks=facts["ticks"] or 0,
            ticks_sent=lateness["ticks"] if lateness else facts["ticks"] or 0,
            lateness_p99_s=lateness["p99_s"] if lateness else None,
            latencies_s=latencies["orders"],
            paced=facts.get("start_us") is not None,
            failures=_failures(facts, known),
        ),
    )
    speed = facts["run"]["speed"]
    nonstandard = [*known.get("nonstandard", ["no dataset.json"]), *(["speed"] if speed != 1 else [])]
    return {
        "format_version": RUN_FORMAT,
        "kit_version": __version__,
        "scale_factor": known.get("parameters", {}).get("scale_factor"),
        "target": facts["run"]["target"],
        "plan": facts["run"]["plan"],
        "speed": speed,
        "standard": not nonstandard,
        "nonstandard": nonstandard,
        "valid": scored.valid,
        "reasons": list(scored.reasons),
        "load": scored.load,
        "p99": scored.p99,
        "p_score": scored.p_score if scored.p99 else None,
        "verdict": validation.get("verdict"),
        "latency_s": {stream: summary(values) for stream, values in latencies.items()},
        "driver_lateness": lateness,
        "recovery": _recovery(run, facts, validation),
        "adaptivity": _adaptivity(run, facts),
    }


def _adaptivity(run: Run, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how the engine took the burst, by its indicators, of which there are many; none if there was no burst."""
    if (facts.get("dataset_parameters") or {}).get("curve") != "burst" or not isinstance(facts.get("start_us"), int):
        return None
    tick_ts, latencies = _timed(run, "indicators", facts)
    per_second = 1000 * facts["run"]["speed"]
    begins, ends = burst_of(facts["duration_ms"])
    found = scoring.adaptivity(
        tick_ts / per_second, latencies, facts["duration_ms"] / 4 / per_second, (begins / per_second, ends / per_second)
    )
    return None if found is None else asdict(found)


def _recovery(run: Run, facts: Mapping[str, Any], validation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how the engine recovered from being killed; none if it was not."""
    kills = facts.get("kills_us") or []
    if not kills or not run.throughput_file.is_file():
        return None
    times, sent, taken = (column.to_numpy() for column in pq.read_table(run.throughput_file).columns)
    counts = [sum(validation[stream][kind] for stream in STREAMS) for kind in ("missing", "undue", "wrong")]
    took = scoring.recovery_times_s(times / 1e6, sent, taken, [one / 1e6 for one in kills])
    return {
        "class": scoring.recovery_class(*counts),
        "kills": len(kills),
        "times_s": took,
        "latency_s": {stream: summary(_caught_up_s(run, stream, facts, took)) for stream in STREAMS},
    }


def _caught_up_s(run: Run, stream: str, facts: Mapping[str, Any], took: Sequence[float | None]) -> NDArray[np.float64]:
    """Return the latencies of the answers to ticks that were due while the engine was down or catching up."""
    tick_ts, latencies = _timed(run, stream, facts)
    if not len(tick_ts):
        return latencies
    due_s = facts["start_us"] / 1e6 + tick_ts / (1000 * facts["run"]["speed"])
    late = np.zeros(len(due_s), bool)
    for kill, seconds in zip(facts["kills_us"], took, strict=True):
        begins = kill / 1e6
        late |= (due_s >= begins) & (due_s < begins + (np.inf if seconds is None else seconds))
    caught_up: NDArray[np.float64] = latencies[late]
    return caught_up


def _validation(run: Run) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(run.validation_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BadInputError(f"{run.path}: not validated yet; call 'pairs validate {run.path}' first") from None
    return found


def _failures(facts: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    failures = []
    if facts.get("state") != "ended":
        failures.append(f"the run did not come to its end: {facts.get('reason', 'it was ended from outside')}")
    if not known:
        failures.append("the dataset has no dataset.json, so its load is not known")
    return failures


def _load(dataset: Dataset, known: Mapping[str, Any], facts: Mapping[str, Any], watched: list[str]) -> float:
    """Return the load of a run: of the basis rate in wall time, and of the strategies that a tick concerns."""
    speed = facts["run"]["speed"]
    if not known or isinstance(speed, str):
        return 0.0
    trades = known.get("trades_by_symbol")  # of a dataset whose symbols do not trade equally often
    matches = len(watched) / known["counts"]["symbols"]
    if trades:
        matches = sum(trades.get(symbol, 0) for symbol in watched) / sum(trades.values())
    return scoring.load(known["basis_rate_per_second"] * speed, len(watched) // 2, matches)


def _latencies_s(run: Run, stream: str, facts: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the latencies of answers triggered in the measurement interval."""
    tick_ts, latencies = _timed(run, stream, facts)
    begins, ends = facts["measurement_interval_ms"]
    measured: NDArray[np.float64] = latencies[(tick_ts >= begins) & (tick_ts < ends)]
    return measured


def _timed(run: Run, stream: str, facts: Mapping[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return tickTS of all triggers, and the latencies of their answers, from the time at which they were due."""
    if not run.answers_file(stream).is_file() or facts.get("start_us") is None:
        return np.empty(0, np.int64), np.empty(0)
    rows = pq.read_table(run.answers_file(stream), columns=["inputTickTS", "sinkTS"])
    tick_ts, sink_ts = (column.to_numpy() for column in rows.columns)
    scheduled = facts["start_us"] + np.rint(tick_ts * (1000 / facts["run"]["speed"]))
    return tick_ts, (sink_ts - scheduled) / 1e6


def summary(values: NDArray[np.float64]) -> dict[str, float | int]:
    """Return count, least, mean, percentiles and greatest of latencies."""
    if not len(values):
        return {"count": 0}
    shares = {name: scoring.percentile(values, share) for name, share in _SHARES.items()}
    return {
        "count": len(values),
        "min": float(values.min()),
        "avg": float(values.mean()),
        **shares,
        "max": float(values.max()),
    }


def lateness_of(run: Run, drivers: int) -> dict[str, Any] | None:
    """Put together what the drivers recorded; none if one of them did not."""
    steps: Counter[int] = Counter()
    step_us = 1
    for number in range(drivers):
        try:
            recorded = json.loads(run.driver_file(number).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        step_us = recorded["step_us"]
        steps.update(dict(recorded["histogram"]))
    ticks = sum(steps.values())
    shares = {"p50_s": 0.5, "p99_s": 0.99, "max_s": 1.0}
    return {"ticks": ticks, **{name: _step_at(steps, share * ticks, step_us) for name, share in shares.items()}}


def _step_at(steps: Counter[int], rank: float, step_us: int) -> float:
    """Return the upper end of the step that a rank lies in."""
    passed = 0
    for step, count in sorted(steps.items()):
        passed += count
        if passed >= rank:
            return (step + 1) * step_us / 1e6
    return 0.0
