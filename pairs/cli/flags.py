"""Turns declared settings into command line flags, so that every value of a configuration has one."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Annotated, Any

import typer

from pairs.config.settings import default_of
from pairs.config.values import Kind


def takes(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for every setting of the groups; it gets those that were set as the dict `flags`."""
    declared = {one.name: (one, group.__name__.removesuffix("Settings")) for group in groups for one in fields(group)}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_flags(**given: Any) -> None:
            flags = {name: given.pop(name) for name in declared}
            command(**given, flags={name: value for name, value in flags.items() if value not in (None, [])})

        own = [one for one in inspect.signature(command).parameters.values() if one.name != "flags"]
        parameters = own + [_parameter(one, panel) for one, panel in declared.values()]
        with_flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_flags.__annotations__ = {one.name: one.annotation for one in parameters}
        return with_flags

    return decorate


def _parameter(declared: Field[Any], panel: str) -> inspect.Parameter:
    """Make the parameter that Typer reads. Flags arrive as text: configuration files and flags share one parser."""
    kind: Kind = declared.metadata["kind"]
    repeated = isinstance(declared.metadata["default"], dict | tuple)
    option = typer.Option(
        declared.metadata["flag"],
        metavar=kind.metavar,
        help=declared.metadata["help"] + _default_hint(declared),
        autocompletion=(lambda: list(kind.choices)) if kind.choices else None,
        rich_help_panel=panel,
        show_default=False,
    )
    annotation: Any = Annotated[list[str] | None, option] if repeated else Annotated[str | None, option]
    return inspect.Parameter(declared.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _default_hint(declared: Field[Any]) -> str:
    default = default_of(declared)
    if default is None or isinstance(default, dict | tuple):
        return ""
    return f" [dim](standard: {declared.metadata['kind'].show(default)})[/dim]"
