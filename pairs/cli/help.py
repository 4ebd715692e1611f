"""The help of the command line and of each verb, complete and readable at any width."""

import inspect
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from rich.text import Text
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from pairs.cli.layout import console, definitions, print_lines, width

_IN_A_PIPE = 80  # columns
_WIDEST = 100  # columns that prose is easy to read in
_INDENT = 2


class Verb(TyperCommand):
    """A verb with its help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_help_of(self, ctx))


class Verbs(TyperGroup):
    """All verbs, with the help that lists them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_help_of(self, ctx))


def _help_of(command: TyperCommand | TyperGroup, ctx: Any) -> str:
    columns = min(width(_IN_A_PIPE), _WIDEST)
    target = console(columns)
    with target.capture() as shown:
        print_lines(_lines(command, ctx, columns), target)
    return shown.get()


def _lines(command: TyperCommand | TyperGroup, ctx: Any, columns: int) -> Iterator[Text]:
    yield from _usage(command, ctx, columns)
    yield Text("")
    yield from _prose(command.help or "", columns)
    for panel, entries in _panels(command, ctx).items():
        yield Text("")
        yield Text(panel, style="bold underline")
        yield from definitions(entries, columns, _INDENT)


def _usage(command: TyperCommand | TyperGroup, ctx: Any, columns: int) -> Iterator[Text]:
    arguments = [_argument(known) for known in command.params if isinstance(known, TyperArgument)]
    verb = ["VERB", "..."] if isinstance(command, TyperGroup) else []
    written = " ".join(["Usage:", ctx.command_path, "[OPTIONS]", *verb, *arguments])
    return (Text(line, style="bold") for line in _wrapped(written, columns, hang=7))


def _argument(argument: TyperArgument) -> str:
    name = str(argument.metavar or argument.name)
    return name if argument.required else f"[{name}]"


def _prose(text: str, columns: int) -> Iterator[Text]:
    """Yield paragraphs, wrapped; lines of a paragraph of commands, which begin with `$ `, stay lines."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield Text("")
        commands = paragraph.startswith("$ ")
        for part in paragraph.splitlines() if commands else [paragraph]:
            yield from (Text(line, style="dim" if commands else "") for line in _wrapped(part, columns, 4 * commands))


def _wrapped(text: str, columns: int, hang: int = 0) -> list[str]:
    return wrap(text, columns, subsequent_indent=" " * hang, break_on_hyphens=False)


def _panels(command: TyperCommand | TyperGroup, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Return what there is to say of arguments, options and verbs, by the heading that it stands under."""
    found: dict[str, list[tuple[str, str]]] = {}
    for known in command.get_params(ctx):
        if isinstance(known, TyperArgument):
            found.setdefault("Arguments", []).append((_argument(known), known.help or ""))
        elif isinstance(known, TyperOption) and not known.hidden:
            found.setdefault(known.rich_help_panel or "Options", []).append((_option(known), _explanation(known)))
    if isinstance(command, TyperGroup):
        verbs = command.commands.values()
        found["Verbs"] = [(verb.name or "", (verb.help or "").split("\n\n")[0]) for verb in verbs if not verb.hidden]
    return found


def _option(option: TyperOption) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag else f"{names} {option.metavar}"


def _explanation(option: TyperOption) -> str:
    shown = option.show_default if isinstance(option.show_default, str) else option.default
    hidden = option.show_default is False or option.is_flag or shown is None
    default = "" if hidden else f" (default: {shown})"
    return f"{option.help or ''}{default}{' (required)' if option.required else ''}"
