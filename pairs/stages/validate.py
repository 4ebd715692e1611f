"""Checks a dataset, computes its expected answers, and validates the answers of a run or of any engine."""

from dataclasses import dataclass
from pathlib import Path

from pairs.core import locks
from pairs.core.errors import BadInputError
from pairs.core.progress import waiting
from pairs.core.spark import session
from pairs.dataset import check as row_check
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import ExpectedManifest
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.validator.answers import answer_files
from pairs.validator.expected import kept_or_computed
from pairs.validator.validation import Validation
from pairs.validator.validation import validate as compare_answers


@dataclass(frozen=True)
class ExpectedAnswers:
    """The expected answers of a dataset."""

    dataset: Dataset
    manifest: ExpectedManifest
    seconds: float | None  # without Spark's start; None if they were computed before


def check(path: Path, master: str) -> row_check.Findings:
    dataset = Dataset(path)
    with locks.shared(path):
        dataset.tick_files()  # refuse before Spark starts
        dataset.known_symbols()
        with session("pairs check", master) as spark:
            return row_check.check(spark, dataset)


def expected(path: Path, master: str, recompute: bool) -> ExpectedAnswers:
    """Compute the expected answers of a dataset, unless they are there."""
    dataset = Dataset(path)
    with locks.shared(path):
        return ExpectedAnswers(dataset, *kept_or_computed(dataset, master, recompute))


def validate(folder: Path, master: str, dataset: Dataset | None = None, strategy: str | None = None) -> Validation:
    """Compare the answers in a folder with the expected answers of a dataset, by default the run's own.

    Writes validation.json. A strategy, if given, must be in the set.
    """
    run = Run(folder)
    with locks.shared(folder):
        if dataset is None and not run.manifest_file.is_file():
            remedy = (
                "give the folder of a run, or, for the answers of another engine, --dataset DATASET --answers FOLDER"
            )
            raise BadInputError(f"{folder}: not a run, as it has no run.json; {remedy}")
        dataset = dataset or run.dataset()
        with locks.shared(dataset.path):
            return _validate(run, dataset, master, strategy)


def _validate(run: Run, dataset: Dataset, master: str, strategy: str | None) -> Validation:
    folder = run.path
    if run.manifest_file.is_file():
        run.refuse_other_inputs(dataset)
    for stream in STREAMS:
        answer_files(folder, stream)
    aliases = [known.alias for known in read_strategies(dataset.strategies_file).strategies]
    if strategy is not None and strategy not in aliases:
        raise BadInputError(f"--strategy: {strategy!r} is not in {dataset.strategies_file}; give one of its aliases")
    manifest, _ = kept_or_computed(dataset, master)
    validation = compare_answers(dataset, aliases, folder, manifest.knife_edges)
    for stream, rows in run.invalid_answers().items():
        for row in rows:
            validation.streams[stream].add_invalid(row)
    record = validation.record(dataset, manifest.digests, run.repeated_answers())
    record.model_copy(update={"dataset_confirmed": _confirmed(run, dataset, master)}).write(run.validation_file)
    return validation


def _confirmed(run: Run, dataset: Dataset, master: str) -> bool | None:
    """Return whether a dataset that claims to be standard is: its rows have its digest, and the generator gives it.

    None if the run is not standard anyway, so that nothing depends on it.
    """
    if not run.manifest_file.is_file() or run.manifest.nonstandard:
        return None
    from pairs.stages.generate import is_confirmed  # with scipy, which takes a second to import

    return not check(dataset.path, master).problems and is_confirmed(dataset, master)


@waiting("writing incorrect answers")
def write_incorrect(run: Run, validation: Validation, kind: str, strategy: str | None) -> dict[str, Path]:
    """Write all incorrect answers of a kind as CSV; return the files by stream."""
    files = {stream: run.incorrect_file(kind, stream) for stream in validation.streams}
    for stream, file in files.items():
        run.write_csv(file, validation.streams[stream].listed(kind, strategy))
    return files
