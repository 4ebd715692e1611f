"""Sends the ticks of a dataset to a program that somebody else starts: into a run of `pairs collect`, or alone."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pairs.config.run_settings import RunSettings, load_run
from pairs.config.settings import parse_flags
from pairs.core import locks
from pairs.core.errors import BadInputError
from pairs.core.interrupts import keeping, uninterrupted
from pairs.dataset.folder import Dataset
from pairs.harness import external
from pairs.harness.playback import Replay
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run
from pairs.stages.begin import EngineFacts, begin_run, kept, load_of, noting_failure, replay_of, warn_hopeless
from pairs.stages.collect import PLAN, Announce, external_settings
from pairs.transport.registry import load_transport


def play(dataset: Dataset, flags: Mapping[str, Any], output: Path, announce: Announce) -> Run:
    """Send all ticks into a run that `pairs collect` began, once a program is connected, or into a new run.

    `flags` are the run settings that were given; `announce` is called when it is known where ticks will be.
    """
    run = Run(output.resolve())
    with locks.shared(dataset.path):
        if not run.manifest_file.is_file():
            return _play_alone(dataset, external_settings(load_run("local", flags)), output, announce)
        _refuse_unready(run, dataset)
        with locks.exclusive(run.transport_folder):  # the run itself is in use by 'pairs collect'
            _play_into(run, dataset, parse_flags(flags, RunSettings).values, announce)
    return run


def _play_alone(dataset: Dataset, settings: RunSettings, output: Path, announce: Announce) -> Run:
    if output.exists() and any(output.iterdir() if output.is_dir() else [output]):
        raise BadInputError(f"{output}: exists and is not a run; give one that 'pairs collect' began, or a new folder")
    with locks.exclusive_made(output):
        replay = replay_of(dataset, settings)
        run, transport = begin_run(replay, EngineFacts("block"), output, overwrite=False)
        warn_hopeless(replay)
        with keeping(lambda: kept(run, output)), uninterrupted():
            with noting_failure(run):
                played = external.play_alone(run, replay, transport, lambda: announce(transport), _began(run, replay))
            run.update_manifest(state="ended", exit_codes=played)
    return run


def _play_into(run: Run, dataset: Dataset, given: Mapping[str, Any], announce: Announce) -> None:
    begun = run.manifest.settings
    for name in given.keys() - {"speed"}:
        if given[name] != (value := getattr(begun, name)):
            raise BadInputError(f"--{name}: the run was begun with {value}; give another to 'pairs collect'")
    replay = replay_of(dataset, replace(begun, speed=given.get("speed")))
    dataset.refuse_bad_files()
    transport = load_transport(run.transport_folder)
    warn_hopeless(replay)
    announce(transport)
    external.wait_for_engine(run, transport)
    _refuse_unready(run, dataset)
    with keeping(lambda: kept(run, run.path)), uninterrupted(), noting_failure(run):
        played = external.play(run, replay, transport, _began(run, replay))
        run.update_manifest(exit_codes=played)


def _began(run: Run, replay: Replay) -> Callable[[int | None], None]:
    strategies = read_strategies(run.strategies_file)

    def began(start_us: int | None) -> None:
        run.update_manifest(settings=replay.settings, load=load_of(replay, strategies), start_us=start_us)

    return began


def _refuse_unready(run: Run, dataset: Dataset) -> None:
    """Refuse a run that has its own driver, that is over, that is played already, or that is of another dataset."""
    manifest = run.manifest
    remedy = f"begin another with 'pairs collect {dataset.path} -o RUN'"
    if manifest.settings.plan != PLAN:
        raise BadInputError(f"{run.path}: was not begun by 'pairs collect'; {remedy}")
    if manifest.state != "running" or not run.transport_folder.is_dir():
        raise BadInputError(f"{run.path}: this run has ended; {remedy}")
    if manifest.settings.speed is not None:
        raise BadInputError(f"{run.path}: another 'pairs play' sends its ticks; {remedy}")
    run.refuse_other_inputs(dataset)
    if dataset.optional_manifest is None and dataset.path.resolve() != run.dataset().path.resolve():
        raise BadInputError(f"{dataset.path}: is not the dataset of the run; give {run.dataset().path}")
