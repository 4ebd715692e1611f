"""Imports real trades as a dataset."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pairs.core import spark
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset, new_dataset
from pairs.generator import import_job
from pairs.generator.pairing import PairsWanted
from pairs.generator.sorting import write_runs
from pairs.generator.trades import TradeColumns, parts_of_trades


@dataclass(frozen=True)
class ImportedDataset:
    """A written market of real trades."""

    dataset: Dataset
    files: int
    seconds: float  # without Spark's start
    correlations: tuple[float, ...]  # of the pairs that were searched for, highest first


def import_trades(
    files: Sequence[Path],
    columns: TradeColumns,
    wanted: PairsWanted,
    path: Path,
    *,
    master: str = spark.DEFAULT_MASTER,
    overwrite: bool = False,
) -> ImportedDataset:
    """Import the trades in some files, on Spark."""
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
