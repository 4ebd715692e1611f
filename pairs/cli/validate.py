"""pairs validate."""

from pathlib import Path
from typing import Annotated

import typer

from pairs.cli.options import DEFAULT_MASTER, MasterOption
from pairs.cli.parse import parse_whole
from pairs.config.values import choice
from pairs.core.errors import BadInputError

_KINDS = ("missing", "undue", "wrong")


def validate(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="Folder of a run.")] = None,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="DATASET", help="Dataset that the answers belong to.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="FOLDER", help="Folder with indicators and orders, .parquet or .csv."),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="|".join(_KINDS),
            help="Show these answers side by side with the expected answers, and write all of them as CSV.",
            autocompletion=lambda: list(_KINDS),
        ),
    ] = None,
    limit: Annotated[str, typer.Option("--limit", metavar="N", help="Maximum number to show; the CSV has all.")] = "20",
    strategy: Annotated[
        str | None, typer.Option("--strategy", metavar="ALIAS", help="Show only this strategy.")
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
) -> None:
    """Compare every answer of a run, or of any engine, with the expected answers.

    Answers are matched by key: strategy, time of the trigger, and type of an
    order. PASSED means that no answer is missing, undue or wrong; the exit code
    is then 0, otherwise 1. Counts and first errors go to validation.json.

    [dim]pairs validate runs/first --show wrong[/dim]
    [dim]pairs validate --dataset data/quick --answers my-engine/output[/dim]
    """
    from pairs.cli.render_validation import render_incorrect, render_validation
    from pairs.dataset.folder import Dataset
    from pairs.stages import validate as stage

    if (run is None) == (answers is None):
        raise BadInputError("RUN: give the folder of a run, or else --dataset and --answers")
    if answers is not None and dataset is None:
        raise BadInputError("--dataset: missing; give the dataset that the answers belong to")
    most = parse_whole(limit, "--limit", 1, 1_000_000_000)
    kind = None if show is None else str(choice(*_KINDS).read(show, "--show"))
    folder = run or answers or Path()
    chosen = None if dataset is None else Dataset(dataset)
    result = stage.validate(folder, chosen, strategy=strategy, master=master)
    render_validation(result.validation, most, strategy, hint=kind is None)
    if kind is not None:
        render_incorrect(result.validation, kind, strategy, most, result.write_incorrect(kind, strategy))
    if not result.validation.passed:
        raise typer.Exit(1)
