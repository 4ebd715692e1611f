"""Checks that the ticks on disk are those that dataset.json describes, every row of them, on Spark."""

from itertools import zip_longest
from typing import TYPE_CHECKING

from pairs.dataset import Dataset
from pairs.digest import PartialDigest, digest_file
from pairs.errors import PairsError
from pairs.progress import Progress
from pairs.spark import run_tasks
from pairs.tickfiles import FilePart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check(spark: "SparkSession", dataset: Dataset) -> str:
    """Return the digest of a dataset that is whole; raise the first difference found otherwise."""
    facts = dataset.facts()
    described = [(str(one["name"]), int(one["ticks"])) for one in facts["files"]]
    found = [path.name for path in dataset.tick_files()]
    for path, name in zip_longest(found, (name for name, _ in described)):
        if path != name:
            raise PairsError(
                f"{dataset.ticks_folder}: has {path}, dataset.json says {name}; generate the dataset again"
            )
    if dataset.correlations_digest() != facts["correlations_digest"]:
        raise PairsError(f"{dataset.correlations_file}: not as it was generated; generate the dataset again")
    tasks, first_row = [], 0
    for name, ticks in described:
        tasks.append(FilePart(dataset.ticks_folder.absolute() / name, first_row))
        first_row += ticks
    with Progress("checking", len(tasks), "files") as progress:
        digests = run_tasks(spark, digest_file, tasks, progress.set)
    for (name, ticks), digest in zip(described, digests, strict=True):
        if digest.rows != ticks:
            raise PairsError(f"{dataset.ticks_folder / name}: {digest.rows:,} ticks, not {ticks:,}; generate it again")
    found_digest = sum(digests, PartialDigest()).hexdigest()
    if found_digest != facts["digest"]:
        raise PairsError(
            f"{dataset.ticks_folder}: the rows have digest {found_digest}, dataset.json says {facts['digest']}; "
            "generate the dataset again"
        )
    return found_digest
