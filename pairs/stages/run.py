"""Runs a program on a dataset: translates the strategies, executes the program, writes the manifest even on failure."""

from contextlib import suppress
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

from pairs.config.run_settings import RunSettings
from pairs.core import locks
from pairs.core.affinity import usable_cores
from pairs.core.errors import BadInputError
from pairs.core.interrupts import keeping, uninterrupted
from pairs.dataset.folder import Dataset
from pairs.harness.faults import find_faults
from pairs.harness.supervisor import Job, execute
from pairs.run_folder.folder import Run, refuse_existing_run, refuse_foreign_link
from pairs.run_folder.records import InjectedFault
from pairs.stages.begin import (
    EngineFacts,
    begin_run,
    check_transport,
    kept,
    nothing_left,
    noting_failure,
    replay_of,
    warn_hopeless,
)
from pairs.translator import targets
from pairs.translator.target import Target
from pairs.translator.translate import translate
from pairs.transport.base import Transport


def with_master(settings: RunSettings, master: str | None) -> RunSettings:
    """Add a Spark master to the engine's settings, if it accepts that setting."""
    target, plan = targets.find_for(settings)
    if master is None or not target.accepts("master", plan):
        return settings
    places = {**settings.places, "settings.master": "--master"}
    return replace(settings, settings={**settings.settings, "master": master}, places=places)


def run_program(dataset: Dataset, settings: RunSettings, output: Path | None, overwrite: bool = False) -> Run:
    """Run a program on a dataset, into a folder or a new one under runs/."""
    if output is not None:
        refuse_existing_run(output, overwrite)
    with locks.shared(dataset.path):
        job = job_for(dataset, settings)
        plan = job.target.plans[job.plan]
        facts = EngineFacts(plan.plan_class, plan.steps, {**job.target.versions(), **job.connector.versions})
        folder = output or _next_run_folder(dataset, job)
        with locks.exclusive_made(folder):
            run, transport = begin_run(job.replay, facts, folder, overwrite)
            with keeping(lambda: kept(run, folder)):
                _run_job(run, job, transport)
    return run


def refuse_early(settings: RunSettings, duration_ms: int, output: Path | None, overwrite: bool) -> None:
    """Refuse what can be refused before there is a dataset: settings that no run can have, and a folder in the way."""
    check_settings(settings, duration_ms)
    if output is not None:
        refuse_foreign_link(output)
        refuse_existing_run(output, overwrite)


def check_settings(settings: RunSettings, duration_ms: int) -> tuple[Target, str]:
    """Refuse what no run of so long a day can have, before anything is written or started; return target and plan."""
    target, plan = targets.find_for(settings)
    for name, value in settings.settings.items():
        target.check_setting(name, value, plan, settings.engine_place(name))
    check_transport(settings)
    if settings.transport not in target.transports:
        known = " or ".join(target.transports)
        raise BadInputError(f"{settings.place('transport')}: {target.name} does not have it; give {known}")
    target.check_partitions(plan, settings.partitions or 1, settings.place("partitions"))
    for fault in find_faults(settings.faults, duration_ms, settings.place("faults")):
        fault.check(target, settings.settings, settings.place("faults"))
    _check_cores(settings, target)
    target.check_requirements()
    target.check_buildable(plan, settings.settings)
    target.connector(settings.transport, settings.jars)
    return target, plan


def _check_cores(settings: RunSettings, target: Target) -> None:
    """Refuse to limit the engine to cores that there are not, or where that cannot be done."""
    cluster, place = target.cluster(settings.settings), settings.place("cores")
    if settings.cores is None or (cluster is not None and target.limits_cores(settings.settings)):
        return
    if cluster is not None:
        own = "size its executors by the engine's own settings"
        raise BadInputError(f"{place}: {target.name} cannot limit its cores on {cluster}; leave it out, and {own}")
    usable = len(usable_cores())
    if not usable:
        raise BadInputError(f"{place}: this system does not bind processes to cores; leave it out")
    if settings.cores > usable:
        raise BadInputError(f"{place}: {settings.cores} is more than this run may use; give at most {usable}")


def wall_speed(settings: RunSettings, recommended: float) -> float:
    """Return the speed of runs that are to be scored; refuse unpaced runs."""
    if settings.speed == "max":
        place = settings.place("speed")
        raise BadInputError(f"{place}: unpaced runs have no score to compare; give a number, such as 1 or 60")
    return recommended if settings.speed is None else float(settings.speed)


def job_for(dataset: Dataset, settings: RunSettings) -> Job:
    """Check the settings, fill in the defaults, and return what will be run."""
    replay = replay_of(dataset, settings)
    target, plan = check_settings(settings, replay.duration_ms)
    connector = target.connector(settings.transport, settings.jars)
    return Job(replace(replay, settings=replace(replay.settings, plan=plan)), target, plan, connector)


def _run_job(run: Run, job: Job, transport: Transport) -> None:
    """Translate and execute the program, and write how it went."""
    with nothing_left(run):
        transport.refuse_conflicts()
        settings = job.replay.settings.settings
        translate(job.replay.dataset.strategies_file, job.target, job.plan, run.app_folder, settings=settings)
    warn_hopeless(job.replay)

    def began(start_us: int | None) -> None:
        with suppress(BadInputError):  # a full disk is reported elsewhere
            run.update_manifest(start_us=start_us, cluster=job.target.cluster(job.replay.settings.settings))

    with uninterrupted():
        with noting_failure(run):
            outcome = execute(run, job, transport, began)
        faults = tuple(InjectedFault(kind=fault.kind, at_us=fault.time_us) for fault in outcome.faults)
        run.update_manifest(state="ended", **asdict(outcome) | {"faults": faults})


def _next_run_folder(dataset: Dataset, job: Job) -> Path:
    stem = f"{dataset.path.absolute().name}-{job.target.name}-{job.plan}"
    return next(path for number in count(1) if not (path := Path("runs") / f"{stem}-{number}").exists())
