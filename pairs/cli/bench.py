"""pairs bench."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.cli import options
from pairs.config.profile import load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.workload import Workload
from pairs.dataset.formats import VIRTUAL

_DATA_HELP = "Folder of the dataset, generated if missing; default: under data/."


@options.accepts(Workload, RunSettings)
def bench(
    profile: options.ProfileOption = "standard",
    run: options.RunOption = "local",
    output: Annotated[
        Path | None, options.option("--output -o", "RUN", "Folder of the run; default: under runs/.")
    ] = None,
    data: Annotated[Path | None, options.option("--data", "DATASET", _DATA_HELP)] = None,
    generate: options.GenerateOption = False,
    overwrite: options.OverwriteOption = False,
    master: options.EngineMasterOption = None,
    *,
    flags: dict[str, Any],
) -> None:
    """Run all stages: generate a market and strategies, run the engine in real time, validate, score, report.

    Exit code 0 means a valid score: every answer is correct, every tick was
    sent, the driver was on time.

    [dim]pairs bench --profile quick --sf 1[/dim]
    """
    from pairs.cli.render import render
    from pairs.stages import bench as stage
    from pairs.stages.generate import STORED, ensure_dataset
    from pairs.stages.run import with_master

    chosen, settings = load_profile(profile, flags), with_master(load_run(run, flags), master)
    own_master = master or options.DEFAULT_MASTER
    dataset = ensure_dataset(chosen, data, VIRTUAL if generate else STORED, own_master, render)
    if not stage.bench(dataset, settings, output, overwrite, own_master, render).valid:
        raise typer.Exit(1)
