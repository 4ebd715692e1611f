"""Turns declared settings into command line flags, one for every value of a configuration."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Annotated, Any

import typer

from pairs.config.values import Kind


def takes(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a flag to a command for every setting of the groups; the command receives those set as the dict `flags`."""
    declared = {setting.name: (setting, group.__name__) for group in groups for setting in fields(group)}

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
    hint = "" if repeated or default is None else f" [dim](standard: {kind.show(default)})[/dim]"
    option = typer.Option(
        declared.metadata["flag"],
        metavar=kind.metavar,
        help=declared.metadata["help"] + hint,
        autocompletion=(lambda: list(kind.choices)) if kind.choices else None,
        rich_help_panel=panel.removesuffix("Settings"),
        show_default=False,
    )
    annotation: Any = Annotated[list[str] | None, option] if repeated else Annotated[str | None, option]
    return inspect.Parameter(declared.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
