"""pairs run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.cli import options
from pairs.config.profile import load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.settings import flags_of
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError

_DATASET_HELP = "Folder of a dataset; optional with --generate."


@options.accepts(Workload, RunSettings)
def run(
    dataset: Annotated[Path | None, typer.Argument(metavar="DATASET", help=_DATASET_HELP)] = None,
    output: Annotated[
        Path | None, options.option("--output -o", "RUN", "Folder to write; default: under runs/.")
    ] = None,
    run: options.RunOption = "local",
    overwrite: options.OverwriteOption = False,
    generate: options.GenerateOption = False,
    profile: Annotated[str | None, options.profile_option("standard, with --generate")] = None,
    master: options.EngineMasterOption = None,
    *,
    flags: dict[str, Any],
) -> None:
    """Run a program on a dataset in real time, with driver, engine and sink as processes, and record its answers.

    Every tick is sent when it is due, whatever the engine does. With --speed
    max ticks are sent as fast as the engine consumes them: for correctness,
    not for a score.

    $ pairs run data/quick -o runs/first && pairs validate runs/first && pairs score runs/first
    $ pairs run --generate --profile sprint --sf 300
    """
    from pairs.cli.render import render
    from pairs.dataset.folder import Dataset
    from pairs.dataset.formats import VIRTUAL
    from pairs.stages.generate import ensure_dataset
    from pairs.stages.run import refuse_early, run_program, with_master

    settings = with_master(load_run(run, flags), master)
    if generate:
        workload = load_profile(profile or "standard", flags)
        refuse_early(settings, workload.workload.duration, output, overwrite)
        chosen = ensure_dataset(workload, dataset, VIRTUAL, master or options.DEFAULT_MASTER, render)
    elif dataset is None:
        raise BadInputError("DATASET: missing; give the folder of a dataset, or --generate and a --profile")
    else:
        _refuse_workload(profile, flags)
        chosen = Dataset(dataset)
    ended = run_program(chosen, settings, output, overwrite)
    render(ended)
    print(f"check its answers with 'pairs validate {ended.path}'")


def _refuse_workload(profile: str | None, flags: dict[str, Any]) -> None:
    """Refuse what would change a dataset that exists."""
    given = [flag for name, flag in flags_of(Workload).items() if name in flags]
    for flag in given if profile is None else ["--profile", *given]:
        raise BadInputError(f"{flag}: belongs to a workload; give it with --generate")
