"""How options are declared, one for every setting of a configuration, and those that several verbs share."""

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import Field
from pathlib import Path
from typing import Annotated, Any

import typer

from pairs.config.grid import MOST_REPETITIONS
from pairs.config.run_settings import RunSettings
from pairs.config.settings import declared_in, flags_of, shipped
from pairs.config.values import Kind, choice, spark_master, whole
from pairs.config.workload import Workload
from pairs.core.spark import DEFAULT_MASTER as DEFAULT_MASTER
from pairs.dataset.folder import MOST_FILES
from pairs.dataset.formats import FORMATS, VIRTUAL

_PANELS = {Workload: "Workload", RunSettings: "Run"}  # headings of the flags in the help
_MEANING = {"Workload": "standard", "Run": "default"}  # of a fixed default; profiles have workloads of their own


def option(names: str, metavar: str, text: str, **more: Any) -> Any:
    """Declare an option by its names, such as `--output -o`."""
    return typer.Option(*names.split(), metavar=metavar, help=text, **more)


def parsed_option(flag: str, kind: Kind, text: str, **more: Any) -> Any:
    """Declare an option whose value is read as the configuration reads values of that kind."""
    return _kind_option(flag, kind, text, parser=lambda raw: kind.read(raw, flag), **more)


def _kind_option(flag: str, kind: Kind, text: str, **more: Any) -> Any:
    completion = (lambda: list(kind.choices)) if kind.choices else None
    return option(flag, kind.metavar, text, autocompletion=completion, **more)


def accepts(*groups: type, only: Collection[str] | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a flag to a command for the settings of the groups, all or some.

    The command receives those set as the dict `flags`.
    """
    found = {name: (declared_in(group)[name], _PANELS[group]) for group in groups for name in flags_of(group)}
    declared = found if only is None else {name: found[name] for name in only}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_flags(**given: Any) -> None:
            flags = {name: given.pop(name) for name in declared}
            command(**given, flags={name: value for name, value in flags.items() if value not in (None, [])})

        own = [known for name, known in inspect.signature(command).parameters.items() if name != "flags"]
        parameters = own + [_parameter(setting, panel) for setting, panel in declared.values()]
        with_flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_flags

    return decorate


def _parameter(declared: Field[Any], panel: str) -> inspect.Parameter:
    """Make the parameter that Typer reads. Flags are text, as configuration files and flags share one parser."""
    kind: Kind = declared.metadata["kind"]
    default = declared.metadata["default"]
    repeated = isinstance(default, dict | tuple)
    hint = "" if repeated or default is None else f" ({_MEANING[panel]}: {kind.show(default)})"
    shown: dict[str, Any] = {"rich_help_panel": panel, "show_default": False}
    annotation: Any
    if isinstance(default, bool):
        flag = typer.Option(declared.metadata["flag"], help=declared.metadata["help"], **shown)
        annotation = Annotated[bool | None, flag]
    else:
        flag = _kind_option(declared.metadata["flag"], kind, declared.metadata["help"] + hint, **shown)
        annotation = Annotated[list[str] | None, flag] if repeated else Annotated[str | None, flag]
    return inspect.Parameter(declared.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


_PROFILE_HELP = "Workload to start from: a shipped profile or a TOML file; flags override it."
_RUN_HELP = "How to execute it: a shipped run file or a TOML file; flags override it."
_GENERATE_HELP = "Store no ticks: they are drawn when they are sent, and again for the validation."
_FILES_HELP = "Number of tick files; default: one for every 4 million ticks."
_FORMAT_HELP = "Format of the tick files; virtual stores no ticks, they are drawn whenever they are read."
_NEW_HELP = "Folder to write; must not exist, except with --overwrite."
_REPEAT_HELP = "Runs of each combination of settings, interleaved with those of the others."
_MASTER_HELP = "Spark master; its executors must see the dataset's folder."
_ENGINE_MASTER_HELP = "Spark master of the kit's own jobs, and of an engine that accepts the setting master."


def profile_option(default: str | None = None) -> Any:
    """Declare --profile; `default` says what holds without it, where that is not one profile."""
    more = {} if default is None else {"show_default": default}
    return option("--profile -p", "NAME|FILE", _PROFILE_HELP, autocompletion=lambda: list(shipped("profiles")), **more)


ProfileOption = Annotated[str, profile_option()]
RunOption = Annotated[str, option("--run", "NAME|FILE", _RUN_HELP, autocompletion=lambda: list(shipped("runs")))]
GenerateOption = Annotated[bool, typer.Option("--generate", help=_GENERATE_HELP)]
RepeatOption = Annotated[int, parsed_option("--repeat", whole(1, MOST_REPETITIONS), _REPEAT_HELP)]
FilesOption = Annotated[int | None, parsed_option("--files", whole(1, MOST_FILES), _FILES_HELP)]
FormatOption = Annotated[str, parsed_option("--format", choice(*dict.fromkeys((*FORMATS, VIRTUAL))), _FORMAT_HELP)]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
NewDatasetOption = Annotated[Path, option("--output -o", "DATASET", _NEW_HELP)]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
MasterOption = Annotated[str, parsed_option("--master", spark_master(), _MASTER_HELP)]
EngineMasterOption = Annotated[
    str | None, parsed_option("--master", spark_master(), _ENGINE_MASTER_HELP, show_default=DEFAULT_MASTER)
]
