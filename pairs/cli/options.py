"""How options are declared, and the options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.config.settings import shipped
from pairs.config.values import Kind, choice, whole
from pairs.core.spark import DEFAULT_MASTER as DEFAULT_MASTER
from pairs.dataset.folder import MOST_FILES
from pairs.dataset.formats import FORMATS, VIRTUAL


def option(names: str, metavar: str, text: str, **more: Any) -> Any:
    """Declare an option by its names, such as `--output -o`."""
    return typer.Option(*names.split(), metavar=metavar, help=text, **more)


def parsed_option(flag: str, kind: Kind, text: str) -> Any:
    """Declare an option whose value is read as the configuration reads values of that kind."""
    completion = (lambda: list(kind.choices)) if kind.choices else None
    return option(flag, kind.metavar, text, parser=lambda raw: kind.read(raw, flag), autocompletion=completion)


_PROFILE_HELP = "Workload to start from: a shipped profile or a TOML file; flags override it."
_RUN_HELP = "How to execute it: a shipped run file or a TOML file; flags override it."
_GENERATE_HELP = "Store no ticks: they are drawn when they are sent, and again for the validation."
_FILES_HELP = "Number of tick files; default: one for every 4 million ticks."
_FORMAT_HELP = "Format of the tick files; virtual stores no ticks, they are drawn whenever they are read."
_MASTER_HELP = "Spark master; its executors must see the dataset's folder."
_ENGINE_MASTER_HELP = "Spark master of the kit's own jobs, and of an engine that accepts the setting master."

ProfileOption = Annotated[
    str, option("--profile -p", "NAME|FILE", _PROFILE_HELP, autocompletion=lambda: list(shipped("profiles")))
]
RunOption = Annotated[str, option("--run", "NAME|FILE", _RUN_HELP, autocompletion=lambda: list(shipped("runs")))]
GenerateOption = Annotated[bool, typer.Option("--generate", help=_GENERATE_HELP)]
FilesOption = Annotated[int | None, parsed_option("--files", whole(1, MOST_FILES), _FILES_HELP)]
FormatOption = Annotated[str, parsed_option("--format", choice(*dict.fromkeys((*FORMATS, VIRTUAL))), _FORMAT_HELP)]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
NewDatasetOption = Annotated[Path, option("--output -o", "DATASET", "Folder to write; must be new.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
MasterOption = Annotated[str, option("--master", "URL", _MASTER_HELP)]
EngineMasterOption = Annotated[str | None, option("--master", "URL", _ENGINE_MASTER_HELP, show_default=DEFAULT_MASTER)]
