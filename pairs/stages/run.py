"""Runs a program on a dataset: translates the strategies, executes the program, writes the manifest even on failure."""

import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

from pairs.config.run_settings import RunSettings
from pairs.config.values import suggestion
from pairs.core.errors import BadInputError
from pairs.core.progress import warn
from pairs.dataset.folder import Dataset
from pairs.harness.faults import find_faults
from pairs.harness.supervisor import Job, OverloadedError, execute
from pairs.measure.validity import hopeless_reasons, warm_strategies
from pairs.model.arrivals import usual_phases
from pairs.model.load import load, matches_of
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run, digest_of, new_run
from pairs.run_folder.records import InjectedFault, RunManifest
from pairs.stages.environment import environment
from pairs.stages.generate import are_generated
from pairs.translator import targets
from pairs.translator.target import Target
from pairs.translator.translate import translate
from pairs.transport.registry import TRANSPORTS


def with_master(settings: RunSettings, master: str | None) -> RunSettings:
    """Add a Spark master to the engine's settings, if it accepts that setting."""
    target, plan = targets.find_for(settings)
    if master is None or not target.accepts("master", plan):
        return settings
    places = {**settings.places, "settings.master": "--master"}
    return replace(settings, settings={**settings.settings, "master": master}, places=places)


def run_program(dataset: Dataset, settings: RunSettings, output: Path | None, overwrite: bool = False) -> Run:
    """Run a program on a dataset, into a folder or a new one under runs/."""
    job = job_for(dataset, settings)
    dataset.refuse_bad_files()
    run = new_run(output or _next_run_folder(dataset, job), overwrite)
    _run_job(run, job)
    return run


def check_settings(settings: RunSettings, duration_ms: int) -> tuple[Target, str]:
    """Refuse what no run of so long a day can have, before anything is written or started; return target and plan."""
    target, plan = targets.find_for(settings)
    for name, value in settings.settings.items():
        target.check_setting(name, value, plan, settings.engine_place(name))
    if settings.transport not in TRANSPORTS:
        unknown = f"{settings.transport!r} is not a transport"
        raise BadInputError(f"{settings.place('transport')}: {unknown}; {suggestion(settings.transport, TRANSPORTS)}")
    if settings.faults and not target.recovers:
        lost = f"{target.name} keeps no state that survives a crash"
        raise BadInputError(f"{settings.place('faults')}: {lost}; leave the fault out")
    find_faults(settings.faults, duration_ms, settings.place("faults"))
    target.check_requirements()
    return target, plan


def wall_speed(settings: RunSettings, recommended: float) -> float:
    """Return the speed of runs that are to be scored; refuse unpaced runs."""
    if settings.speed == "max":
        place = settings.place("speed")
        raise BadInputError(f"{place}: unpaced runs have no score to compare; give a number, such as 1 or 60")
    return recommended if settings.speed is None else float(settings.speed)


def job_for(dataset: Dataset, settings: RunSettings) -> Job:
    """Check the settings, fill in the defaults, and return what will be run."""
    dataset.tick_files()
    strategies = read_strategies(dataset.strategies_file)
    last_ts = _check_close(dataset, strategies)
    manifest = dataset.optional_manifest
    duration = min(strategies.market_close_ms, last_ts) if manifest is None else manifest.duration_ms
    target, plan = check_settings(settings, duration)
    interval = (duration // 4, 3 * duration // 4) if manifest is None else manifest.measurement_interval_ms
    recommended = 1.0 if manifest is None else manifest.recommended_speed
    speed = recommended if settings.speed is None else settings.speed
    phases = usual_phases(duration, interval) if manifest is None else manifest.workload.phase_begins
    ticks = None if manifest is None else manifest.counts.ticks
    return Job(dataset, target, plan, replace(settings, plan=plan, speed=speed), ticks, phases, interval, duration)


def _check_close(dataset: Dataset, strategies: StrategySet) -> int:
    """Refuse a market that closes before any answer, warn of one that closes too early or never; return the last tick.

    Where the last tick is not known, the market is taken to close with it.
    """
    file, last_ts = dataset.strategies_file, dataset.last_ts()
    if last_ts is None:
        return strategies.market_close_ms
    if problem := strategies.premature_close(last_ts):
        raise BadInputError(f"{file}: {problem}")
    if remark := strategies.late_close(last_ts) or strategies.early_close(last_ts):
        warn(f"{file}: {remark}")
    return last_ts


def _run_job(run: Run, job: Job) -> None:
    shutil.copyfile(job.dataset.strategies_file, run.strategies_file)
    translate(job.dataset.strategies_file, job.target, job.plan, run.app_folder)
    transport = TRANSPORTS[job.settings.transport](run.transport_folder, job.settings.drivers)
    strategies = read_strategies(run.strategies_file)
    manifest = _manifest(job, strategies, digest_of(run.strategies_file))
    manifest.write(run.manifest_file)
    for reason in hopeless_reasons(strategies.strategies, job.duration_ms, job.interval_ms, job.speed):
        warn(f"the score of this run will be void: {reason}")

    def began(start_us: int | None) -> None:
        nonlocal manifest
        manifest = manifest.model_copy(update={"start_us": start_us})
        with suppress(BadInputError):  # a full disk is reported elsewhere
            manifest.write(run.manifest_file)

    try:
        outcome = execute(run, job, transport, began)
    except BaseException as error:
        state = "overloaded" if isinstance(error, OverloadedError) else "failed"
        reason = str(error) or type(error).__name__
        with suppress(BadInputError):  # a full disk must not hide the reason
            manifest.model_copy(update={"state": state, "reason": reason}).write(run.manifest_file)
        raise
    faults = tuple(InjectedFault(kind=fault.kind, at_us=fault.time_us) for fault in outcome.faults)
    manifest.model_copy(update={"state": "ended", **asdict(outcome), "faults": faults}).write(run.manifest_file)


def _manifest(job: Job, strategies: StrategySet, digest: str) -> RunManifest:
    plan = job.target.plans[job.plan]
    return RunManifest(
        dataset=str(job.dataset.path.absolute()),
        dataset_manifest=job.dataset.optional_manifest,
        strategies_digest=digest,
        strategies_generated=are_generated(job.dataset, digest),
        strategies=len(strategies.strategies),
        warm_strategies=warm_strategies(strategies.strategies, job.duration_ms),
        load=_load(job, strategies),
        plan_class=plan.plan_class,
        plan_steps=dict(plan.steps),
        settings=job.settings,
        ticks=job.ticks,
        duration_ms=job.duration_ms,
        phases_ms=dict(job.phases_ms),
        measurement_interval_ms=job.interval_ms,
        command=("pairs", *sys.argv[1:]),
        environment=environment(),
        engine_versions=job.target.versions(),
    )


def _load(job: Job, strategies: StrategySet) -> float:
    manifest = job.dataset.optional_manifest
    if manifest is None or job.speed is None:
        return 0.0
    matches = matches_of(strategies.strategies, manifest.counts.symbols, manifest.trades_by_symbol)
    return load(manifest.basis_rate_per_second * job.speed, len(strategies.strategies), matches)


def _next_run_folder(dataset: Dataset, job: Job) -> Path:
    stem = f"{dataset.path.absolute().name}-{job.target.name}-{job.plan}"
    return next(path for number in count(1) if not (path := Path("runs") / f"{stem}-{number}").exists())
