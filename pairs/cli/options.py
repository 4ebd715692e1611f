"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

from pairs.config.settings import shipped
from pairs.core.spark import DEFAULT_MASTER as DEFAULT_MASTER

ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME|FILE",
        help="Workload to start from: a shipped profile or a TOML file; flags override it.",
        autocompletion=lambda: list(shipped("profiles")),
    ),
]
RunOption = Annotated[
    str,
    typer.Option(
        "--run",
        metavar="NAME|FILE",
        help="How to execute it: a shipped run file or a TOML file; flags override it.",
        autocompletion=lambda: list(shipped("runs")),
    ),
]
GenerateOption = Annotated[
    bool,
    typer.Option("--generate", help="Store no ticks: they are drawn when they are sent, and again for the validation."),
]
FilesOption = Annotated[
    str | None,
    typer.Option("--files", metavar="N", help="Number of tick files; default: one for every 4 million ticks."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="parquet|csv|virtual",
        help="Format of the tick files; virtual stores no ticks, they are drawn whenever they are read.",
        autocompletion=lambda: ["parquet", "csv", "virtual"],
    ),
]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
NewDatasetOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="DATASET", help="Folder to write; must be new.")
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
MasterOption = Annotated[
    str, typer.Option("--master", metavar="URL", help="Spark master; its executors must see the dataset's folder.")
]
EngineMasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark master of the kit's own jobs, and of an engine that accepts the setting master.",
        show_default=DEFAULT_MASTER,
    ),
]
