"""pairs expected."""

from typing import Annotated

import typer

from pairs.cli.options import DEFAULT_MASTER, DatasetArgument, MasterOption


def expected(
    dataset: DatasetArgument,
    recompute: Annotated[bool, typer.Option("--recompute", help="Compute them even if they exist.")] = False,
    master: MasterOption = DEFAULT_MASTER,
) -> None:
    """Compute the answers that every engine must give, and store them with the dataset.

    They are reused as long as ticks and strategies are the same. Only ticks/
    and strategies.xml are needed, so a hand-made dataset works, too.

    $ pairs expected data/quick
    """
    from pairs.cli.render import render
    from pairs.stages import validate as stage

    render(stage.expected(dataset, master, recompute))
