"""Generates a dataset: the market, and the strategies that watch it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pairs.config.profile import Profile
from pairs.core import spark
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset, new_dataset
from pairs.generator import job
from pairs.generator.query_generator import generate_strategies as draw_strategies
from pairs.generator.ticks import TickSource
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import write_new

STORED = "parquet"  # the default format


@dataclass(frozen=True)
class GeneratedDataset:
    """A written market."""

    dataset: Dataset
    ticks: int
    seconds: float  # without Spark's start


@dataclass(frozen=True)
class GeneratedStrategies:
    """A written strategy set."""

    dataset: Dataset
    strategies: StrategySet
    seed: int


Done = Callable[[object], None]  # called with the result of each stage when it ends


def generate(
    profile: Profile,
    path: Path,
    *,
    files: int | None = None,
    suffix: str = STORED,
    master: str = spark.DEFAULT_MASTER,
    overwrite: bool = False,
) -> GeneratedDataset:
    """Generate a dataset on Spark."""
    source = TickSource(profile.workload)
    ranges = job.cut_into_files(source.timeline.ticks, files)
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs generate", master) as session:
        spark.warm_up(session, job.write_file)
        started = time.perf_counter()
        written = job.generate(session, source, dataset, profile, suffix, ranges)
        seconds = time.perf_counter() - started
    return GeneratedDataset(Dataset(path), sum(file.digest.rows for file in written), seconds)


def generate_strategies(
    path: Path, *, seed: int | None = None, count: int | None = None, overwrite: bool = False
) -> GeneratedStrategies:
    """Generate the strategies of a dataset, by default from its own parameters."""
    dataset = Dataset(path)
    manifest = dataset.manifest
    seed = manifest.workload.seed if seed is None else seed
    strategies = draw_strategies(
        dataset.correlations(), count or manifest.counts.strategies, seed, manifest.duration_ms
    )
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
