"""Reads a dataset: checks it, gives an overview of it, computes its expected answers."""

from dataclasses import dataclass
from pathlib import Path

from pairs.core.spark import DEFAULT_MASTER, session
from pairs.dataset import check as row_check
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import ExpectedManifest
from pairs.dataset.overview import Overview, survey
from pairs.validator.expected import kept_or_computed


@dataclass(frozen=True)
class ExpectedAnswers:
    """The expected answers of a dataset."""

    dataset: Dataset
    manifest: ExpectedManifest
    seconds: float | None  # without Spark's start; None if they were computed before


def check(path: Path, *, master: str = DEFAULT_MASTER) -> row_check.Findings:
    """Check every file and every row of a dataset, on Spark."""
    dataset = Dataset(path)
    dataset.tick_files()  # refuse before Spark starts
    dataset.known_symbols()
    with session("pairs check", master) as spark:
        return row_check.check(spark, dataset)


def overview(path: Path) -> Overview:
    """Read all ticks of a dataset once."""
    return survey(Dataset(path))


def expected(path: Path, *, master: str = DEFAULT_MASTER, recompute: bool = False) -> ExpectedAnswers:
    """Compute the expected answers of a dataset, unless they are there."""
    dataset = Dataset(path)
    return ExpectedAnswers(dataset, *kept_or_computed(dataset, master, recompute))
