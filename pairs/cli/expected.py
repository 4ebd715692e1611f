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
    from pairs.cli.render import render
    from pairs.stages import inspect as stage

    render(stage.expected(dataset, master=master, recompute=recompute))
