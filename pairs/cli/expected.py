"""pairs expected."""

from typing import Annotated

import typer

from pairs.cli.options import DEFAULT_MASTER, DatasetArgument, MasterOption


def expected(
    dataset: DatasetArgument,
    recompute: Annotated[bool, typer.Option("--recompute", help="Compute them even if they are there.")] = False,
    master: MasterOption = DEFAULT_MASTER,
) -> None:
    """Compute the answers that every engine must give, and keep them beside the dataset.

    They are reused as long as ticks and strategies stay the same. Needs
    only ticks/ and strategies.xml, so a dataset made by hand will do.

    [dim]pairs expected data/quick[/dim]
    """
    from pairs.dataset.folder import Dataset
    from pairs.generator import virtual  # noqa: F401 - registers the format
    from pairs.validator.expected import kept_or_computed

    chosen = Dataset(dataset)
    manifest, seconds = kept_or_computed(chosen, master, recompute)
    answers = " and ".join(f"{count:,} {stream}" for stream, count in manifest.answers.items())
    if seconds is None:
        how = "as computed before from the same ticks and strategies"
    else:
        speed = manifest.ticks / seconds / 1e6
        how = f"from {manifest.ticks:,} ticks in {seconds:.1f} s ({speed:.2f} million/s once Spark was up)"
    print(f"{chosen.expected_folder}: {answers} of {manifest.strategies:,} strategies, {how}")
