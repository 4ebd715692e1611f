"""Begins a run: what will be played, the folder with its strategies and its manifest, and the transport."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pairs.config.run_settings import RunSettings
from pairs.config.values import suggestion
from pairs.core.errors import BadInputError
from pairs.core.interrupts import interruptible, uninterrupted
from pairs.core.progress import warn
from pairs.core.secrets import without_secrets
from pairs.dataset.folder import Dataset
from pairs.harness.playback import Replay
from pairs.harness.supervisor import OverloadedError
from pairs.measure.validity import hopeless_reasons, warm_strategies
from pairs.model.arrivals import usual_phases
from pairs.model.load import load, matches_of
from pairs.model.plan import Doer, PlanClass
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.run_folder.folder import Run, digest_of, new_run
from pairs.run_folder.records import RunManifest
from pairs.stages.environment import environment
from pairs.stages.generate import are_generated
from pairs.transport.base import Transport
from pairs.transport.kafka.broker import require_broker
from pairs.transport.kafka.records import partition_of
from pairs.transport.kafka.transport import kafka_settings
from pairs.transport.registry import TRANSPORTS

_NOT_FOR_USERS = frozenset({"bootstrap.servers", "metadata.broker.list", "group.id", "on_delivery", "logger"})


@dataclass(frozen=True)
class EngineFacts:
    """What the manifest says of an engine: the class of its plan, who does each step, and its versions."""

    plan_class: PlanClass
    plan_steps: Mapping[str, Doer] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def check_transport(settings: RunSettings) -> None:
    """Refuse a transport that is not there, or that the settings do not fit."""
    name, place = settings.transport, settings.place("transport")
    if name not in TRANSPORTS:
        raise BadInputError(f"{place}: {name!r} is not a transport; {suggestion(name, TRANSPORTS)}")
    if name != "kafka":
        _refuse_kafka_settings(settings)
        return
    if (settings.partitions or 1) < settings.drivers:
        few = f"{settings.partitions or 1} are too few for {settings.drivers} drivers, each of which sends to its own"
        raise BadInputError(f"{settings.place('partitions')}: {few}; give --partitions {settings.drivers}")
    for name in settings.kafka:
        if name in _NOT_FOR_USERS or name.endswith("_cb"):
            own = "is not a setting of the client alone"
            raise BadInputError(
                f"{settings.place('kafka')}: {name}: {own}; leave it out, and give brokers by --bootstrap"
            )
    if settings.bootstrap is None:
        require_broker()
    else:
        from pairs.transport.kafka.topics import refuse_unreachable

        refuse_unreachable(settings.bootstrap, settings.kafka)


def _refuse_kafka_settings(settings: RunSettings) -> None:
    for name in ("bootstrap", "partitions", "kafka", "keep_topics", "jars"):
        if getattr(settings, name):
            needed = f"only transport kafka has this setting, and the transport is {settings.transport}"
            raise BadInputError(f"{settings.place(name)}: {needed}; give --transport kafka, or leave it out")


def replay_of(dataset: Dataset, settings: RunSettings) -> Replay:
    """Check the dataset, fill in the defaults, and return what will be played."""
    dataset.tick_files()
    strategies = read_strategies(dataset.strategies_file)
    last_ts = _check_close(dataset, strategies)
    manifest = dataset.optional_manifest
    duration = min(strategies.market_close_ms, last_ts) if manifest is None else manifest.duration_ms
    interval = (duration // 4, 3 * duration // 4) if manifest is None else manifest.measurement_interval_ms
    recommended = 1.0 if manifest is None else manifest.recommended_speed
    speed = recommended if settings.speed is None else settings.speed
    phases = usual_phases(duration, interval) if manifest is None else manifest.workload.phase_begins
    ticks = None if manifest is None else manifest.counts.ticks
    return Replay(dataset, replace(settings, speed=speed), ticks, phases, interval, duration)


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


def begin_run(replay: Replay, facts: EngineFacts, output: Path, overwrite: bool) -> tuple[Run, Transport]:
    """Make the folder of a run with strategies and manifest; return it with its transport, yet to be created."""
    replay.dataset.refuse_bad_files()
    run = new_run(output, overwrite)
    with nothing_left(run):
        shutil.copyfile(replay.dataset.strategies_file, run.strategies_file)
        strategies = read_strategies(run.strategies_file)
        _manifest(replay, facts, strategies, digest_of(run.strategies_file)).write(run.manifest_file)
    settings = replay.settings
    return run, TRANSPORTS[settings.transport](run.transport_folder, settings.drivers, _transport_settings(replay))


def _transport_settings(replay: Replay) -> Mapping[str, str]:
    settings = replay.settings
    if settings.transport != "kafka":
        return {}
    count, symbols = settings.partitions or 1, replay.dataset.known_symbols()
    used = range(count) if symbols is None else {partition_of(symbol.encode(), count) for symbol in symbols}
    return kafka_settings(settings.bootstrap, count, settings.keep_topics, settings.kafka, sorted(used))


@contextmanager
def nothing_left(run: Run) -> Iterator[None]:
    """Remove what a failure or an interrupt leaves of a run that has not recorded anything."""
    with uninterrupted():
        try:
            with interruptible():
                yield
        except BaseException:
            run.clear()
            raise


def kept(run: Run, folder: Path) -> str:
    """Say what is kept of a run that was interrupted."""
    if not run.manifest_file.is_file():
        return f"{folder} was not begun"
    if run.manifest.state == "ended":
        return f"{folder} is complete"
    return f"{folder} keeps what was recorded until then, marked as failed"


def warn_hopeless(replay: Replay) -> None:
    """Warn if the score of a run will be void, as far as that is known before it begins."""
    strategies = read_strategies(replay.dataset.strategies_file).strategies
    for reason in hopeless_reasons(strategies, replay.duration_ms, replay.interval_ms, replay.speed):
        warn(f"the score of this run will be void: {reason}")


@contextmanager
def noting_failure(run: Run) -> Iterator[None]:
    """Write into the manifest why a run did not come to its end, unless it says so already."""
    try:
        yield
    except BaseException as error:
        state = "overloaded" if isinstance(error, OverloadedError) else "failed"
        with suppress(BadInputError):  # a full disk must not hide the reason
            if run.manifest.state == "running":
                run.update_manifest(state=state, reason=str(error) or type(error).__name__)
        raise


def load_of(replay: Replay, strategies: StrategySet) -> float:
    manifest = replay.dataset.optional_manifest
    if manifest is None or replay.speed is None:
        return 0.0
    matches = matches_of(strategies.strategies, manifest.counts.symbols, manifest.trades_by_symbol)
    return load(manifest.basis_rate_per_second * replay.speed, len(strategies.strategies), matches)


def _manifest(replay: Replay, facts: EngineFacts, strategies: StrategySet, digest: str) -> RunManifest:
    return RunManifest(
        dataset=str(replay.dataset.path.absolute()),
        dataset_manifest=replay.dataset.optional_manifest,
        strategies_digest=digest,
        strategies_generated=are_generated(replay.dataset, digest),
        strategies=len(strategies.strategies),
        warm_strategies=warm_strategies(strategies.strategies, replay.duration_ms),
        load=load_of(replay, strategies),
        plan_class=facts.plan_class,
        plan_steps=dict(facts.plan_steps),
        settings=replay.settings,
        ticks=replay.ticks,
        duration_ms=replay.duration_ms,
        phases_ms=dict(replay.phases_ms),
        measurement_interval_ms=replay.interval_ms,
        command=without_secrets(("pairs", *sys.argv[1:])),
        environment=environment(),
        engine_versions=dict(facts.versions),
    )
