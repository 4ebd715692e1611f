"""pairs import."""

from pathlib import Path
from typing import Annotated

import typer

from pairs.cli.options import DEFAULT_MASTER, MasterOption, NewDatasetOption, OverwriteOption
from pairs.cli.parse import parse_whole
from pairs.config.values import choice
from pairs.core.errors import BadInputError


def import_trades(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Trades, as CSV with a header or as Parquet.")],
    output: NewDatasetOption,
    symbol: Annotated[str, typer.Option("--symbol-column", metavar="NAME", help="Column with the symbol.")],
    price: Annotated[
        str, typer.Option("--price-column", metavar="NAME", help="Column with the price, 12.34 is 1,234 cents.")
    ],
    time: Annotated[str, typer.Option("--time-column", metavar="NAME", help="Column with the time of the trade.")],
    time_unit: Annotated[
        str | None, typer.Option("--time-unit", metavar="ns|us|ms|s", help="Unit of times that are numbers.")
    ] = None,
    size: Annotated[
        str | None, typer.Option("--size-column", metavar="NAME", help="Column with the shares; default: 100 each.")
    ] = None,
    top_pairs: Annotated[
        str | None,
        typer.Option("--top-pairs", metavar="K", help="Take the K most correlated pairs; default: up to 25."),
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", metavar="FILE", help="Take the pairs of this CSV: symbol1,symbol2.")
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
    overwrite: OverwriteOption = False,
) -> None:
    """Import real trades as a dataset: sorted, in whole cents, time from zero, with a bell at the end.

    Times are ISO timestamps, with or without a zone, or numbers. All verbs
    work as on a generated market; the dataset is marked as non-standard.

    [dim]pairs import trades/*.csv -o data/real --symbol-column sym --price-column px --time-column ts[/dim]
    """
    from pairs.cli.render import render
    from pairs.generator.pairing import PairsWanted, read_pairs
    from pairs.generator.trades import UNITS_NS, TradeColumns
    from pairs.stages import import_trades as stage

    if top_pairs is not None and pairs is not None:
        raise BadInputError("--top-pairs: cannot be combined with --pairs; give only one of them")
    if time_unit is not None:
        choice(*UNITS_NS).read(time_unit, "--time-unit")
    top = None if top_pairs is None else parse_whole(top_pairs, "--top-pairs", 1, 1_000)
    wanted = PairsWanted(() if pairs is None else read_pairs(pairs), top)
    columns = TradeColumns(symbol, price, time, size, time_unit)
    render(stage.import_trades(files, columns, wanted, output, master=master, overwrite=overwrite))
