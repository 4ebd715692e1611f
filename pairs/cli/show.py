"""pairs show."""

from pairs.cli.options import DatasetArgument


def show(dataset: DatasetArgument) -> None:
    """Show a dataset: its parameters and digest, its rate over time, its first trades, a pair's prices."""
    from pairs.cli.render_overview import render_overview
    from pairs.dataset.folder import Dataset
    from pairs.stages.validate import overview

    render_overview(Dataset(dataset), overview(dataset))
