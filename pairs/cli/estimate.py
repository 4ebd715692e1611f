"""pairs estimate."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal

from pairs.cli.options import FilesOption, FormatOption, ProfileOption, accepts
from pairs.config.profile import load_profile
from pairs.config.workload import Workload
from pairs.core.units import counted, show_duration


@accepts(Workload)
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
    from pairs.cli.layout import print_definitions
    from pairs.generator.estimate import estimate as stage

    workload = load_profile(profile, flags).workload
    result = stage(workload, format)
    seconds = result.seconds
    duration = f"{seconds:.1f} s" if seconds < 10 else show_duration(round(seconds) * 1000)
    about = "" if result.exact else "about "
    found = {
        "ticks": f"{about}{result.ticks:,} in {show_duration(workload.duration)}",
        "bytes": f"about {decimal(result.bytes)} of {format}",
        "strategies": f"{workload.strategies:,} of {counted(workload.users, 'user')}",
        "answers": f"about {counted(result.indicators, 'indicator')} and {counted(result.orders, 'order')}",
        "time": f"about {duration} on {counted(result.cores, 'core')}, after the start of Spark",
        "standard": f"no, because of {', '.join(workload.nonstandard)}" if workload.nonstandard else "yes",
    }
    print_definitions(list(found.items()))
