"""Lays text out for the width that there is: nothing is cut off, on a narrow terminal as little as in a pipe.

Terms with explanations stand side by side or, where that leaves too little room, below each other. A table becomes a
block of lines a row where it does not fit. In a pipe every row is one line. All texts are plain: no markup.
"""

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_IN_A_PIPE = 100_000  # columns: rows are lines there, for other programs to read
_ROOM = 24  # columns that an explanation needs beside its term
_LONGEST_TERM = 30  # that others are aligned with
_STACKED_INDENT = 6
_NARROWEST = 12  # columns of a text in a table
_GAP = 2


def width(in_a_pipe: int = _IN_A_PIPE) -> int:
    """Return the columns of the terminal, or COLUMNS if that is set."""
    return shutil.get_terminal_size((in_a_pipe, 24)).columns


def console(columns: int | None = None) -> Console:
    return Console(width=columns or width(), height=24, markup=False, highlight=False, emoji=False)


def plain(text: object) -> str:
    """Return a text from data without control characters."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(text))


def print_lines(lines: Iterable[Text | str], target: Console | None = None) -> None:
    """Print lines as they are; a terminal wraps those that are too long."""
    for line in lines:
        (target or console()).print(line, soft_wrap=True)


def print_definitions(entries: Sequence[tuple[str, str]]) -> None:
    print_lines(definitions(entries, width()))


def definitions(entries: Sequence[tuple[str, str]], columns: int, indent: int = 0) -> Iterator[Text]:
    """Yield the lines of a list of terms, each with its explanation."""
    longest = max((len(term) for term, _ in entries), default=0)
    beside = indent + min(longest, _LONGEST_TERM) + _GAP
    text_indent = beside if columns - beside >= _ROOM else indent + _STACKED_INDENT
    for term, explanation in entries:
        yield from _definition(plain(term), plain(explanation), columns, indent, text_indent)


def _definition(term: str, explanation: str, columns: int, indent: int, text_indent: int) -> Iterator[Text]:
    lines = _wrapped(explanation, columns - text_indent)
    if len(term) <= text_indent - indent - _GAP:
        padded = f"{' ' * indent}{term}".ljust(text_indent)
        first = lines.pop(0) if lines else ""
        yield Text.assemble((padded, "bold"), first) if first else Text(padded.rstrip(), style="bold")
    else:
        yield from (Text(" " * indent + line, style="bold") for line in _wrapped(term, columns - indent))
    yield from (Text(" " * text_indent + line) for line in lines)


def _wrapped(text: str, columns: int) -> list[str]:
    return wrap(text, max(columns, 1), break_on_hyphens=False)


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = (), texts: Collection[str] = ()
) -> None:
    """Print a table; the columns named in `right` are aligned there, those in `texts` may be wrapped."""
    shown = [[plain(cell) for cell in row] for row in rows]
    if _least_width(headings, shown, texts) > width():
        print_lines(_blocks(headings, shown))
        return
    table = Table(box=None, pad_edge=False)
    for name in headings:
        justify: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name not in texts)
    for row in shown:
        table.add_row(*row)
    console().print(table)


def _least_width(headings: Sequence[str], rows: Sequence[Sequence[str]], texts: Collection[str]) -> int:
    cells = zip(headings, *rows, strict=True)
    widths = [_NARROWEST if column[0] in texts else max(map(cell_len, column)) for column in cells]
    return sum(widths) + _GAP * (len(headings) - 1)


def _blocks(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Text]:
    """Yield a block of lines for each row, a line for each cell."""
    for number, row in enumerate(rows):
        if number:
            yield Text("")
        cells = [(name, cell) for name, cell in zip(headings, row, strict=True) if cell]
        yield from definitions(cells, width())
