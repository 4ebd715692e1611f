"""pairs validate."""

from pathlib import Path
from typing import Annotated

import typer

from pairs.cli.options import DEFAULT_MASTER, MasterOption, option, parsed_option
from pairs.config.values import choice, whole
from pairs.core.errors import BadInputError

_LIMITS = whole(1, 1_000_000_000)
_ANSWERS_HELP = "Folder with indicators and orders, .parquet or .csv."
_SHOW_HELP = "Show these answers side by side with the expected answers, and write all of them as CSV."


def validate(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="Folder of a run.")] = None,
    dataset: Annotated[Path | None, option("--dataset", "DATASET", "Dataset that the answers belong to.")] = None,
    answers: Annotated[Path | None, option("--answers", "FOLDER", _ANSWERS_HELP)] = None,
    show: Annotated[str | None, parsed_option("--show", choice("missing", "undue", "wrong"), _SHOW_HELP)] = None,
    limit: Annotated[int, parsed_option("--limit", _LIMITS, "Maximum number to show; the CSV has all.")] = 20,
    strategy: Annotated[str | None, option("--strategy", "ALIAS", "Show only this strategy.")] = None,
    master: MasterOption = DEFAULT_MASTER,
) -> None:
    """Compare every answer of a run, or of any engine, with the expected answers.

    Answers are matched by key: strategy, time of the trigger, and type of an
    order. PASSED means that no answer is missing, undue or wrong; the exit code
    is then 0, otherwise 1. Counts and first errors go to validation.json.

    $ pairs validate runs/first --show wrong
    $ pairs validate --dataset data/quick --answers my-engine/output
    """
    from pairs.cli.render_validation import render_incorrect, render_validation
    from pairs.dataset.folder import Dataset
    from pairs.run_folder.folder import Run
    from pairs.stages import validate as stage

    if (run is None) == (answers is None):
        raise BadInputError("RUN: give the folder of a run, or else --dataset and --answers")
    if answers is not None and dataset is None:
        raise BadInputError("--dataset: missing; give the dataset that the answers belong to")
    folder = run or answers or Path()
    validation = stage.validate(folder, master, None if dataset is None else Dataset(dataset), strategy)
    render_validation(validation, limit, strategy, hint=show is None)
    if show is not None:
        files = stage.write_incorrect(Run(folder), validation, show, strategy)
        render_incorrect(validation, show, strategy, limit, files)
    if not validation.passed:
        raise typer.Exit(1)
