"""pairs translate."""

from pathlib import Path
from typing import Annotated

from pairs.cli.options import DatasetArgument, OverwriteOption, option

_PLAN_HELP = "How the work is divided; default: the target's first plan."


def translate(
    dataset: DatasetArgument,
    target: Annotated[str, option("--target", "NAME", "Engine to translate for.")] = "pyspark",
    plan: Annotated[str | None, option("--plan", "NAME", _PLAN_HELP)] = None,
    output: Annotated[Path | None, option("--output -o", "APP", "Folder to write; default: in the dataset.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Translate the strategies of a dataset into a program for an engine.

    The program is a small stand-alone application; the strategies are a table
    next to it, so the program does not grow with their number.

    $ pairs translate data/quick --plan keyed -o app
    """
    from pairs.dataset.folder import Dataset
    from pairs.translator import targets
    from pairs.translator.translate import translate as stage

    found, chosen = targets.find(target, plan)
    folder = output or dataset / "apps" / f"{found.name}-{chosen}"
    program = stage(Dataset(dataset).strategies_file, found, chosen, folder, overwrite or output is None)
    print(f"{folder}: {program.summary} for {found.name}, plan {chosen}; see 'python {folder / 'app.py'} --help'")
