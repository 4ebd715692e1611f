"""pairs bench."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.cli import options
from pairs.config.grid import grid
from pairs.config.profile import Profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.values import share
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError
from pairs.dataset.formats import VIRTUAL

_DEFAULT_PROFILE = "standard"
_AT_HELP = "Scale factor and rate from a search: its highest sustained scale factor, at 1% to 200% of its rate."
_SEARCH_HELP = "Folder of the search for --at; default: that of the profile sprint under searches/."
_DATA_HELP = "Folder of the dataset, generated if missing; default: under data/."


@options.accepts(Workload, RunSettings)
def bench(
    profile: Annotated[str | None, options.profile_option("that of --data, or standard")] = None,
    run: options.RunOption = "local",
    output: Annotated[
        Path | None, options.option("--output -o", "RUN", "Folder of the run; default: under runs/.")
    ] = None,
    data: Annotated[Path | None, options.option("--data", "DATASET", _DATA_HELP)] = None,
    generate: options.GenerateOption = False,
    overwrite: options.OverwriteOption = False,
    at: Annotated[Fraction | None, options.parsed_option("--at", share(1, 200), _AT_HELP)] = None,
    search: Annotated[Path | None, options.option("--search", "SEARCH", _SEARCH_HELP)] = None,
    repeat: options.RepeatOption = 1,
    master: options.EngineMasterOption = None,
    *,
    flags: dict[str, Any],
) -> None:
    """Run all stages: generate a market and strategies, run the engine in real time, validate, score, report.

    Exit code 0 means a valid score: every answer is correct, every tick was
    sent, the driver was on time, and orders of enough triggers were measured.

    With --repeat, or with several values of a flag separated by commas, runs
    are interleaved and compared: medians, ranges, and whether differences are
    larger than noise. The output is then the folder of a sweep, by default
    under sweeps/, and an interrupted one goes on; see pairs sweep.

    $ pairs bench --profile quick --sf 1
    $ pairs bench --profile burst --at 75%
    $ pairs bench --profile quick --plan keyed,vectorized --repeat 3
    """
    from pairs.cli.render import render
    from pairs.cli.render_sweep import carry_out
    from pairs.stages import bench as stage
    from pairs.stages.generate import STORED, dataset_folder, ensure_dataset, profile_for
    from pairs.stages.run import refuse_early, with_master
    from pairs.stages.sweep import sweep_session

    if search is not None and at is None:
        raise BadInputError("--search: has no effect without --at; add --at with a share such as 75%")
    points, suffix, own_master = grid(flags), VIRTUAL if generate else STORED, master or options.DEFAULT_MASTER
    settings = with_master(load_run(run, points[0].flags), master)
    if at is None:
        chosen = profile_for(profile, _DEFAULT_PROFILE, flags, data)
    else:
        chosen = _profile_at(profile or _DEFAULT_PROFILE, flags, settings, at, search)
    data = data or dataset_folder(chosen, suffix)
    if repeat > 1 or len(points) > 1:
        if overwrite:
            raise BadInputError("--overwrite: repeated runs are kept and added to; give another folder with -o")
        carry_out(
            sweep_session(chosen, points, run, repeat=repeat, output=output, data=data, suffix=suffix, master=master)
        )
        return
    refuse_early(settings, chosen.workload.duration, output, overwrite)
    dataset = ensure_dataset(chosen, data, suffix, own_master, render)
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
