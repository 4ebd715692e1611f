"""Validates the answers of a run, or of any engine, and writes validation.json."""

from dataclasses import dataclass
from pathlib import Path

from pairs.core.errors import BadInputError
from pairs.core.spark import DEFAULT_MASTER
from pairs.dataset.folder import Dataset
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.validator.answers import answer_files
from pairs.validator.expected import kept_or_computed
from pairs.validator.validation import Validation
from pairs.validator.validation import validate as compare_answers


@dataclass(frozen=True)
class ValidationResult:
    """The result of a validation."""

    run: Run
    validation: Validation

    def write_incorrect(self, kind: str, strategy: str | None) -> dict[str, Path]:
        """Write all incorrect answers of a kind as CSV; return the files by stream."""
        files = {stream: self.run.incorrect_file(kind, stream) for stream in self.validation.streams}
        for stream, file in files.items():
            self.run.write_csv(file, self.validation.streams[stream].listed(kind, strategy))
        return files


def validate(
    folder: Path, dataset: Dataset | None = None, *, strategy: str | None = None, master: str = DEFAULT_MASTER
) -> ValidationResult:
    """Compare the answers in a folder with the expected answers of a dataset, by default the run's own."""
    run = Run(folder)
    dataset = dataset or run.dataset()
    for stream in STREAMS:
        answer_files(folder, stream)
    aliases = [known.alias for known in read_strategies(dataset.strategies_file).strategies]
    if strategy is not None and strategy not in aliases:
        raise BadInputError(f"--strategy: {strategy!r} is not in {dataset.strategies_file}; give one of its aliases")
    expected, _ = kept_or_computed(dataset, master)
    validation = compare_answers(dataset, aliases, folder)
    validation.record(dataset, expected.digests, run.repeated_answers()).write(run.validation_file)
    return ValidationResult(run, validation)
