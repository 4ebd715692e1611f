"""pairs report."""

from pathlib import Path
from typing import Annotated

import typer

from pairs.cli.options import option


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folder of a run; several to compare them.")],
    output: Annotated[Path | None, option("--output -o", "FILE", "File to write; default: report.html in RUN.")] = None,
) -> None:
    """Make the report of a run, or compare runs: a self-contained HTML file.

    The verdict and whether to trust it, load, latency, machine, the engine's
    metrics, incorrect answers side by side, any strategy in detail, and
    everything needed to repeat the run.

    $ pairs report runs/first
    $ pairs report runs/first runs/second runs/third -o comparison.html
    """
    from pairs.cli.render import render
    from pairs.report.making import make_report
    from pairs.run_folder.folder import Run

    render(make_report([Run(path) for path in runs], output))
