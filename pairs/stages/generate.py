"""Makes a dataset: generates a market or imports real trades, and generates the strategies that watch it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pairs.config.profile import Profile
from pairs.core import spark
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset, new_dataset
from pairs.generator import import_job, job
from pairs.generator.pairing import PairsWanted
from pairs.generator.query_generator import generate_strategies as draw_strategies
from pairs.generator.sorting import write_runs
from pairs.generator.ticks import TickSource
from pairs.generator.trades import TradeColumns, parts_of_trades
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import write_new

STORED = "parquet"  # the default format


@dataclass(frozen=True)
class GeneratedDataset:
    """A written market."""

    dataset: Dataset
    seconds: float  # without Spark's start


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
    source = TickSource(profile.workload)
    ranges = job.cut_into_files(source.timeline.ticks, files)
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs generate", master) as session:
        spark.warm_up(session, job.write_file)
        started = time.perf_counter()
        job.generate(session, source, dataset, profile, suffix, ranges)
        seconds = time.perf_counter() - started
    return GeneratedDataset(Dataset(path), seconds)


def import_trades(
    files: Sequence[Path], columns: TradeColumns, wanted: PairsWanted, path: Path, *, master: str, overwrite: bool
) -> ImportedDataset:
    for place, file in enumerate(files):
        if file.resolve() in [other.resolve() for other in files[:place]]:
            raise BadInputError(f"{file}: given twice, which would double every trade; give it once")
        parts_of_trades(file, columns)  # before Spark starts
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs import", master) as session:
        spark.warm_up(session, write_runs)
        started = time.perf_counter()
        correlations = import_job.import_trades(session, files, columns, wanted, dataset)
        seconds = time.perf_counter() - started
    return ImportedDataset(Dataset(path), len(files), seconds, tuple(correlations))


def generate_strategies(
    path: Path, *, seed: int | None = None, count: int | None = None, overwrite: bool = False
) -> GeneratedStrategies:
    """Generate the strategies of a dataset, by default from its own parameters."""
    dataset = Dataset(path)
    manifest = dataset.manifest
    seed = manifest.workload.seed if seed is None else seed
    count = count or manifest.counts.strategies
    strategies = draw_strategies(dataset.correlations(), count, seed, manifest.duration_ms)
    write_new(dataset.strategies_file, strategies, overwrite)
    return GeneratedStrategies(dataset, strategies, seed)


def ensure_dataset(profile: Profile, path: Path | None, suffix: str, master: str, done: Done) -> Dataset:
    """Return the dataset of a profile with its strategies; generate what is missing."""
    stored = "" if suffix == STORED else f"-{suffix}"
    path = path or Path("data") / f"{profile.name}-sf{profile.workload.scale_factor}{stored}"
    manifest = Dataset(path).optional_manifest
    if manifest is None:
        done(generate(profile, path, suffix=suffix, master=master))
    elif manifest.parameters != profile.workload.as_plain():
        raise BadInputError(f"{path}: has a dataset with other parameters; give another folder")
    dataset = Dataset(path)
    if not dataset.strategies_file.is_file():
        done(generate_strategies(path))
    return dataset
