"""pairs import."""

from pathlib import Path
from typing import Annotated

import typer

from pairs.cli.options import DEFAULT_MASTER, MasterOption, NewDatasetOption, OverwriteOption, option, parsed_option
from pairs.config.values import choice, whole
from pairs.core.errors import BadInputError

_UNITS = choice("ns", "us", "ms", "s")
_TOP = whole(1, 1_000, "K")
_TOP_HELP = "Take the K most correlated pairs; default: up to 25."


def import_trades(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Trades, as CSV with a header or as Parquet.")],
    output: NewDatasetOption,
    symbol: Annotated[str, option("--symbol-column", "NAME", "Column with the symbol.")],
    price: Annotated[str, option("--price-column", "NAME", "Column with the price; 12.34 is 1,234 cents.")],
    time: Annotated[str, option("--time-column", "NAME", "Column with the time of the trade.")],
    time_unit: Annotated[str | None, parsed_option("--time-unit", _UNITS, "Unit of times that are numbers.")] = None,
    size: Annotated[str | None, option("--size-column", "NAME", "Column with the shares; default: 100 each.")] = None,
    top_pairs: Annotated[int | None, parsed_option("--top-pairs", _TOP, _TOP_HELP)] = None,
    pairs: Annotated[Path | None, option("--pairs", "FILE", "Take the pairs of this CSV: symbol1,symbol2.")] = None,
    master: MasterOption = DEFAULT_MASTER,
    overwrite: OverwriteOption = False,
) -> None:
    """Import real trades as a dataset: sorted, in whole cents, time from zero, with a bell at the end.

    Times are ISO timestamps, with or without a zone, or numbers. All verbs
    work as on a generated market; the dataset is marked as non-standard.

    $ pairs import trades/*.csv -o data/real --symbol-column sym --price-column px --time-column ts
    """
    from pairs.cli.render import render
    from pairs.generator.pairing import PairsWanted, read_pairs
    from pairs.generator.trades import TradeColumns
    from pairs.stages import generate as stage

    if top_pairs is not None and pairs is not None:
        raise BadInputError("--top-pairs: cannot be combined with --pairs; give only one of them")
    wanted = PairsWanted(() if pairs is None else read_pairs(pairs), top_pairs)
    columns = TradeColumns(symbol, price, time, size, time_unit)
    render(stage.import_trades(files, columns, wanted, output, master=master, overwrite=overwrite))
