"""pairs strategies."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pairs.cli.options import OverwriteOption, option, parsed_option
from pairs.config.values import whole
from pairs.config.workload import SEEDS
from pairs.core.errors import BadInputError, PairsError, one_line
from pairs.core.units import counted

_COUNTS = whole(1, 10_000_000, "S")
_CHECK_HELP = "Check this file instead; against DATASET's symbols and duration if given."


def strategies(
    dataset: Annotated[Path | None, typer.Argument(metavar="DATASET", help="Folder of the dataset.")] = None,
    seed: Annotated[int | None, parsed_option("--seed", SEEDS, "Seed; default: the dataset's.")] = None,
    count: Annotated[int | None, parsed_option("--count", _COUNTS, "How many; default: the dataset's number.")] = None,
    overwrite: OverwriteOption = False,
    check: Annotated[Path | None, option("--check", "FILE", _CHECK_HELP)] = None,
) -> None:
    """Generate the strategies that watch a market, as engine-neutral XML.

    Ten strategies of ten users watch each pair of a full market; parameters
    are drawn from the seed. With --check, a hand-written set is checked, and
    every problem is reported with its line.

    $ pairs strategies data/quick
    """
    from pairs.cli.render import render
    from pairs.stages import generate as stage

    if check is not None:
        _check(check, dataset)
        return
    if dataset is None:
        raise BadInputError("DATASET: missing; give the folder of a dataset, or a file with --check")
    render(stage.generate_strategies(dataset, seed=seed, count=count, overwrite=overwrite))


def _check(file: Path, dataset: Path | None) -> None:
    from pairs.core.progress import warn
    from pairs.dataset.folder import Dataset
    from pairs.model.strategy_xml import scan

    last_ts = None if dataset is None else Dataset(dataset).last_ts()
    found, problems = scan(file, None if dataset is None else Dataset(dataset).symbols(), last_ts)
    for problem in problems:
        print(f"{file}:{problem.line}: {one_line(problem.text)}", file=sys.stderr)
    if found is None:
        raise PairsError(f"{file}: {counted(len(problems), 'problem')}; fix what is wrong and check again")
    if last_ts is not None and (remark := found.early_close(last_ts)):
        warn(f"{file}: {remark}")
    print(f"{file}: valid, {counted(len(found.strategies), 'strategy')}")
