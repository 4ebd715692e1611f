"""pairs score."""

from pathlib import Path
from typing import Annotated

import typer


def score(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a validated run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Score a run: p_score = load / 99th percentile latency of the orders in the measurement interval.

    A score is valid only if every answer is correct, every tick was sent, the
    driver kept its schedule, and orders of enough triggers were measured;
    otherwise it is void, with all reasons, and the exit code is 1.
    """
    from pairs.cli.render import render
    from pairs.run_folder.folder import Run
    from pairs.stages import bench as stage

    scored = stage.score(Run(run))
    if as_json:
        print(scored.model_dump_json(indent=2))
    else:
        render(scored)
    if not scored.valid:
        raise typer.Exit(1)
