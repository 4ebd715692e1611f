"""pairs generate."""

from typing import Any

from pairs.cli import options
from pairs.config.profile import load_profile
from pairs.config.workload import Workload


@options.accepts(Workload)
def generate(
    output: options.NewDatasetOption,
    profile: options.ProfileOption = "standard",
    files: options.FilesOption = None,
    format: options.FormatOption = "parquet",  # noqa: A002 - the flag's name
    master: options.MasterOption = options.DEFAULT_MASTER,
    overwrite: options.OverwriteOption = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Generate a market: every trade of a day, the same for the same seed on any machine.

    Prices are geometric Brownian motions, correlated in pairs; trades arrive
    as a Poisson process whose rate varies between a basis and a peak. The job
    runs on Spark; the folder appears when it is complete.

    $ pairs generate -o data/quick --profile quick --sf 10
    """
    from pairs.cli.render import render
    from pairs.stages import generate as stage

    chosen = load_profile(profile, flags)
    render(stage.generate(chosen, output, files=files, suffix=format, master=master, overwrite=overwrite))
