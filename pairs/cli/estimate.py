"""pairs estimate."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.cli.flags import takes
from pairs.cli.options import FilesOption, FormatOption, ProfileOption
from pairs.config.profile import load_profile
from pairs.config.workload import Workload


@takes(Workload)
def estimate(
    profile: ProfileOption = "standard",
    files: FilesOption = None,
    format: FormatOption = "parquet",  # noqa: A002 - the flag's name
    output: Annotated[Path | None, typer.Option("--output", "-o", hidden=True)] = None,
    master: Annotated[str | None, typer.Option("--master", hidden=True)] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", hidden=True)] = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Estimate a workload before generating it: ticks, bytes, answers, time.

    Accepts all options of generate, so that only the verb changes. Size and
    time are measured on a sample.
    """
    from pairs.cli.render import render_estimate
    from pairs.generator.estimate import estimate as stage

    workload = load_profile(profile, flags).workload
    render_estimate(stage(workload, format), workload, format)
