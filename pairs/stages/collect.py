"""Begins a run whose engine somebody else starts, and collects its answers while `pairs play` sends the ticks."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from pairs.config.run_settings import RunSettings
from pairs.core import locks
from pairs.core.errors import BadInputError, PairsError
from pairs.core.interrupts import keeping, uninterrupted
from pairs.core.progress import warn
from pairs.core.units import counted
from pairs.dataset.folder import Dataset
from pairs.harness import external
from pairs.harness.processes import SINK
from pairs.model.plan import PlanClass
from pairs.run_folder.folder import Run, refuse_existing_run
from pairs.stages.begin import EngineFacts, begin_run, check_transport, kept, noting_failure, replay_of
from pairs.transport.base import Transport

PLAN = "external"  # of a program that the kit does not know

Announce = Callable[[Transport], None]


def external_settings(settings: RunSettings, name: str = PLAN) -> RunSettings:
    """Return the settings of a run with a program that somebody else starts."""
    check_transport(settings)
    if settings.transport == "kafka":
        told = "over Kafka nobody can tell when a program of somebody else is ready, and when it has left"
        raise BadInputError(f"{settings.place('transport')}: {told}; leave it out, for the tick log")
    return replace(settings, target=name, plan=PLAN)


def collect(
    dataset: Dataset, settings: RunSettings, plan_class: PlanClass, output: Path, overwrite: bool, announce: Announce
) -> Run:
    """Collect answers into a new run until all ticks were sent and the program has closed its connections.

    `announce` is called when ticks and answers have their place.
    """
    refuse_existing_run(output, overwrite)
    with locks.shared(dataset.path), locks.exclusive_made(output):
        replay = replace(replay_of(dataset, settings), settings=settings)  # the speed is known when ticks are sent
        run, transport = begin_run(replay, EngineFacts(plan_class), output, overwrite)
        with keeping(lambda: kept(run, output)):
            _collect(run, transport, announce)
    _warn_refused(run)
    return run


def _collect(run: Run, transport: Transport, announce: Announce) -> None:
    with uninterrupted():
        with noting_failure(run):
            collected = external.collect(run, transport, lambda: announce(transport), lambda: _played(run))
        exit_codes = run.manifest.exit_codes | collected.exit_codes
        run.update_manifest(state="ended", **asdict(collected) | {"exit_codes": exit_codes})


def _played(run: Run) -> bool:
    """Return whether all ticks were sent; raise if they will not be."""
    manifest = run.manifest
    if manifest.state != "running":
        raise PairsError(f"{run.path}: 'pairs play' did not send all ticks: {manifest.reason}")
    return bool(manifest.exit_codes)


def _warn_refused(run: Run) -> None:
    sink = run.sink_record
    if sink is not None and sink.refused_connections:
        closed = f"the sink closed {counted(sink.refused_connections, 'connection')} that sent invalid data"
        warn(f"{closed}; see {run.log_file(SINK)}")
