"""pairs bench."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.cli import options
from pairs.config.profile import Profile, load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.values import share
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError
from pairs.dataset.formats import VIRTUAL

_AT_HELP = "Scale factor and rate from a search: its highest sustained scale factor, at 1% to 200% of its rate."
_SEARCH_HELP = "Folder of the search for --at; default: that of the profile sprint under searches/."
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
    at: Annotated[Fraction | None, options.parsed_option("--at", share(1, 200), _AT_HELP)] = None,
    search: Annotated[Path | None, options.option("--search", "SEARCH", _SEARCH_HELP)] = None,
    master: options.EngineMasterOption = None,
    *,
    flags: dict[str, Any],
) -> None:
    """Run all stages: generate a market and strategies, run the engine in real time, validate, score, report.

    Exit code 0 means a valid score: every answer is correct, every tick was
    sent, the driver was on time.

    [dim]pairs bench --profile quick --sf 1[/dim]
    [dim]pairs bench --profile burst --at 75%[/dim]
    """
    from pairs.cli.render import render
    from pairs.stages import bench as stage
    from pairs.stages.generate import STORED, ensure_dataset
    from pairs.stages.run import with_master

    if search is not None and at is None:
        raise BadInputError("--search: has no effect without --at; add --at with a share such as 75%")
    settings = with_master(load_run(run, flags), master)
    chosen = load_profile(profile, flags) if at is None else _profile_at(profile, flags, settings, at, search)
    own_master = master or options.DEFAULT_MASTER
    dataset = ensure_dataset(chosen, data, VIRTUAL if generate else STORED, own_master, render)
    if not stage.bench(dataset, settings, output, overwrite, own_master, render).valid:
        raise typer.Exit(1)


def _profile_at(
    profile: str, flags: dict[str, Any], settings: RunSettings, at: Fraction, search: Path | None
) -> Profile:
    """Take scale factor and rate from a search, and print them."""
    from pairs.stages.search_result import profile_at

    chosen, load = profile_at(profile, flags, settings, at, search)
    part, rate = f"{float(at * 100):g}%", f"{float(load.ticks_per_second):,.0f} ticks/s"
    print(f"{chosen.name}: {part} of {rate}, which {load.folder} sustained at scale factor {load.scale_factor:,}")
    return chosen
