"""Makes a dataset: generates a market or imports real trades, and generates the strategies that watch it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pairs.config.profile import Profile, load_profile
from pairs.config.settings import declared_in
from pairs.config.workload import Workload
from pairs.core import locks, spark
from pairs.core.errors import BadInputError
from pairs.core.files import temporary_folder
from pairs.core.progress import Progress, waiting
from pairs.dataset.folder import Dataset, new_dataset
from pairs.dataset.formats import VIRTUAL
from pairs.generator import import_job, job
from pairs.generator.pairing import PairsWanted
from pairs.generator.query_generator import generate_strategies as draw_strategies
from pairs.generator.sorting import write_runs
from pairs.generator.ticks import TickSource
from pairs.generator.trades import TradeColumns, check_beginning
from pairs.measure.validity import hopeless_reasons
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import write_new, write_strategies

STORED = "parquet"  # the default format


@dataclass(frozen=True)
class GeneratedDataset:
    """A written market."""

    dataset: Dataset
    seconds: float  # without Spark's start
    hopeless: tuple[str, ...]  # why no run on it, at its recommended speed, can have a valid score


@dataclass(frozen=True)
class ImportedDataset:
    """A written market of real trades."""

    dataset: Dataset
    files: int
    seconds: float  # without Spark's start
    correlations: tuple[float, ...]  # of the pairs that were searched for, highest first


@dataclass(frozen=True)
class GeneratedStrategies:
    """A written strategy set."""

    dataset: Dataset
    strategies: StrategySet
    seed: int


Done = Callable[[object], None]  # called with the result of each stage when it ends


def generate(
    profile: Profile, path: Path, *, suffix: str, master: str, files: int | None = None, overwrite: bool = False
) -> GeneratedDataset:
    with waiting("counting the ticks"):
        source = TickSource(profile.workload)
        ranges = job.cut_into_files(source.timeline.ticks, files)
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs generate", master) as session:
        spark.warm_up(session, job.write_file)
        started = time.perf_counter()
        job.generate(session, source, dataset, profile, suffix, ranges)
        seconds = time.perf_counter() - started
    return GeneratedDataset(Dataset(path), seconds, tuple(_hopeless(Dataset(path))))


def _hopeless(dataset: Dataset) -> Iterator[str]:
    """Yield why no run with the strategies that belong to a dataset can have a valid score."""
    manifest = dataset.manifest
    drawn = _belonging(dataset).strategies
    return hopeless_reasons(drawn, manifest.duration_ms, manifest.measurement_interval_ms, manifest.recommended_speed)


@waiting("generating strategies")
def _belonging(dataset: Dataset, seed: int | None = None, count: int | None = None) -> StrategySet:
    """Draw the strategies of a dataset, by default from its own parameters."""
    manifest = dataset.manifest
    seed = manifest.workload.seed if seed is None else seed
    return draw_strategies(dataset.correlations(), count or manifest.counts.strategies, seed, manifest.duration_ms)


def import_trades(
    files: Sequence[Path], columns: TradeColumns, wanted: PairsWanted, path: Path, *, master: str, overwrite: bool
) -> ImportedDataset:
    _check_files(files, columns)
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs import", master) as session:
        spark.warm_up(session, write_runs)
        started = time.perf_counter()
        correlations = import_job.import_trades(session, files, columns, wanted, dataset)
        seconds = time.perf_counter() - started
    return ImportedDataset(Dataset(path), len(files), seconds, tuple(correlations))


def _check_files(files: Sequence[Path], columns: TradeColumns) -> None:
    """Refuse, before Spark starts, what the beginning of a file shows."""
    with Progress("opening trades", len(files), "files") as progress:
        for place, file in enumerate(files):
            if file.resolve() in [other.resolve() for other in files[:place]]:
                raise BadInputError(f"{file}: given twice, which would double every trade; give it once")
            check_beginning(file, columns)
            progress.set(place + 1)


def generate_strategies(
    path: Path, *, seed: int | None = None, count: int | None = None, overwrite: bool = False
) -> GeneratedStrategies:
    """Generate the strategies of a dataset, by default from its own parameters."""
    dataset = Dataset(path)
    with locks.exclusive(path):
        strategies = _belonging(dataset, seed, count)
        write_new(dataset.strategies_file, strategies, overwrite)
    return GeneratedStrategies(dataset, strategies, dataset.manifest.workload.seed if seed is None else seed)


@waiting("comparing strategies with those of the generator")
def are_generated(dataset: Dataset, digest: str) -> bool:
    """Return whether strategies with a digest are byte for byte what the query generator writes for a dataset."""
    if dataset.optional_manifest is None or not dataset.correlations_file.is_file():
        return False
    with temporary_folder() as folder:
        file = folder / "strategies.xml"
        write_strategies(file, _belonging(dataset))
        return sha256(file.read_bytes()).hexdigest() == digest


def is_confirmed(dataset: Dataset, master: str) -> bool:
    """Return whether the ticks of a dataset are those that the generator gives for its parameters, drawn again."""
    manifest = dataset.manifest
    with temporary_folder() as folder:
        again = generate(manifest.as_profile, folder / "again", suffix=VIRTUAL, master=master).dataset
        return (again.manifest.digest, again.manifest.correlations_digest) == (
            manifest.digest,
            dataset.correlations_digest(),
        )


def dataset_folder(profile: Profile, suffix: str) -> Path:
    """Return the default folder of the dataset of a profile."""
    stored = "" if suffix == STORED else f"-{suffix}"
    return Path("data") / f"{profile.name}-sf{profile.workload.scale_factor}{stored}"


def profile_for(profile: str | None, default: str, flags: Mapping[str, Any], path: Path | None) -> Profile:
    """Return the profile that is asked for; if none and no workload is, that of the dataset in a folder, if any."""
    asked = profile is not None or flags.keys() & declared_in(Workload).keys()
    manifest = None if asked or path is None else Dataset(path).optional_manifest
    return load_profile(profile or default, flags) if manifest is None else manifest.as_profile


def ensure_dataset(profile: Profile, path: Path | None, suffix: str, master: str, done: Done) -> Dataset:
    """Return the dataset of a profile with its strategies; generate what is missing."""
    path = path or dataset_folder(profile, suffix)
    manifest = Dataset(path).optional_manifest
    if manifest is not None:
        _refuse_other_workload(path, manifest.workload, profile.workload)
    elif path.exists() and any(path.iterdir() if path.is_dir() else [path]):
        raise BadInputError(f"{path}: exists and has no dataset.json; give another folder for the dataset")
    else:
        done(generate(profile, path, suffix=suffix, master=master))
    dataset = Dataset(path)
    if not dataset.strategies_file.is_file():
        done(generate_strategies(path))
    return dataset


def _refuse_other_workload(path: Path, found: Workload, wanted: Workload) -> None:
    """Refuse to take a dataset for that of other parameters; name those that differ."""
    differ = [name for name in declared_in(Workload) if getattr(found, name) != getattr(wanted, name)]
    if differ:
        raise BadInputError(f"{path}: has a dataset with another {', '.join(differ)}; give another folder")
