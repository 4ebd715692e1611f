"""Runs a program on a dataset: translates the strategies, executes the program, writes the manifest even on failure."""

from contextlib import suppress
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

from pairs.config.run_settings import RunSettings
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.harness.faults import find_faults
from pairs.harness.supervisor import Job, execute
from pairs.run_folder.folder import Run
from pairs.run_folder.records import InjectedFault
from pairs.stages.begin import EngineFacts, begin_run, check_transport, noting_failure, replay_of, warn_hopeless
from pairs.translator import targets
from pairs.translator.target import Target
from pairs.translator.translate import translate
from pairs.transport.base import Transport


def with_master(settings: RunSettings, master: str | None) -> RunSettings:
    """Add a Spark master to the engine's settings, if it accepts that setting."""
    target, plan = targets.find(settings.target, settings.plan)
    if master is None or not target.accepts("master", plan):
        return settings
    return replace(settings, settings={**settings.settings, "master": master})


def run_program(dataset: Dataset, settings: RunSettings, output: Path | None, overwrite: bool = False) -> Run:
    """Run a program on a dataset, into a folder or a new one under runs/."""
    job = job_for(dataset, settings)
    plan = job.target.plans[job.plan]
    facts = EngineFacts(plan.plan_class, plan.steps, job.target.versions())
    run, transport = begin_run(job.replay, facts, output or _next_run_folder(dataset, job), overwrite)
    _run_job(run, job, transport)
    return run


def check_settings(settings: RunSettings) -> tuple[Target, str]:
    """Refuse settings that the target does not accept, or that no run can have; return target and plan."""
    target, plan = targets.find(settings.target, settings.plan)
    for name in settings.settings:
        if not target.accepts(name, plan):
            what = f"{target.name}, plan {plan}, accepts"
            raise BadInputError(f"--set: {what} no {name!r}; 'pairs targets' lists what it accepts")
    check_transport(settings.transport)
    if settings.faults and not target.recovers:
        raise BadInputError(f"--fault: {target.name} keeps no state that survives a crash; leave the fault out")
    return target, plan


def wall_speed(settings: RunSettings, recommended: float) -> float:
    """Return the speed of runs that are to be scored; refuse unpaced runs."""
    if settings.speed == "max":
        raise BadInputError("--speed: unpaced runs have no score to compare; give a number, such as 1 or 60")
    return recommended if settings.speed is None else float(settings.speed)


def job_for(dataset: Dataset, settings: RunSettings) -> Job:
    """Check the settings, fill in the defaults, and return what will be run."""
    target, plan = check_settings(settings)
    replay = replay_of(dataset, replace(settings, plan=plan))
    find_faults(settings.faults, replay.duration_ms)
    target.check_requirements()
    return Job(replay, target, plan)


def _run_job(run: Run, job: Job, transport: Transport) -> None:
    def began(start_us: int | None) -> None:
        with suppress(BadInputError):  # a full disk is reported elsewhere
            run.update_manifest(start_us=start_us)

    with noting_failure(run):
        translate(job.replay.dataset.strategies_file, job.target, job.plan, run.app_folder)
        warn_hopeless(job.replay)
        outcome = execute(run, job, transport, began)
    faults = tuple(InjectedFault(kind=fault.kind, at_us=fault.time_us) for fault in outcome.faults)
    run.update_manifest(state="ended", **asdict(outcome) | {"faults": faults})


def _next_run_folder(dataset: Dataset, job: Job) -> Path:
    stem = f"{dataset.path.absolute().name}-{job.target.name}-{job.plan}"
    return next(path for number in count(1) if not (path := Path("runs") / f"{stem}-{number}").exists())
