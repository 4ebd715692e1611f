"""What is shown while work goes on: a status line or a progress bar on a terminal, silent in a pipe; warnings always.

A terminal that cannot move its cursor (TERM=dumb) gets a plain line when work begins.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.status import Status
from rich.table import Column
from rich.text import Text

_WIDE = 80  # columns that a bar with all figures needs
_LONG_S = 30  # after which a pipe is told what is waited for


def warn(sentence: str) -> None:
    print(f"pairs: warning: {sentence}", file=sys.stderr, flush=True)


_shown: list[str] = []  # what is waited for, the innermost last
_line: list[Status] = []  # the status line, if there is one


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a status line while there is nothing to count; within another, its text takes the place of the other's.

    In a pipe, a line says what is waited for if it takes long.
    """
    _shown.append(what)
    try:
        if _line:
            _line[0].update(Text(what))
            yield
        else:
            with _status_line(what):
                yield
    finally:
        _shown.pop()
        if _line and _shown:
            _line[0].update(Text(_shown[-1]))


@contextmanager
def _status_line(what: str) -> Iterator[None]:
    console = Console(stderr=True)
    if console.is_dumb_terminal:
        _tell(what)
    if not can_redraw(console):
        with _reminder(what):
            yield
        return
    status = Status(Text(what), console=console, spinner=_spinner(console))
    _line.append(status)
    try:
        with status:
            yield
    finally:
        _line.clear()


@contextmanager
def _reminder(what: str) -> Iterator[None]:
    timer = threading.Timer(_LONG_S, lambda: print(f"pairs: still {what}", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def can_redraw(console: Console) -> bool:
    """Return whether a console is a terminal that can replace what it shows."""
    return console.is_terminal and not console.is_dumb_terminal


def _tell(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


def _spinner(console: Console) -> str:
    return "dots" if console.encoding.startswith("utf") else "line"


class _RateColumn(ProgressColumn):
    """Units per second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} {self.unit}/s" if speed else f"- {self.unit}/s", style="progress.data.speed")


class Progress(rich.progress.Progress):
    """How much of a known amount is done: amount, rate and time left."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        console = Console(stderr=True)
        self.shown = can_redraw(console)
        if console.is_dumb_terminal:
            _tell(what)
        super().__init__(*_columns(unit, console.width), console=console, transient=True, disable=not self.shown)
        self._total = total
        self._task = self.add_task(what, total=total)

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            self.update(self._task, completed=self._total, refresh=True)
        super().__exit__(kind, *rest)

    def set(self, done: int) -> None:
        self.update(self._task, completed=done)


def _columns(unit: str, width: int) -> list[ProgressColumn]:
    """Return what a progress bar consists of; on a narrow terminal it has no bar, and wraps its text."""
    what, amount = "{task.description}", "{task.completed:,.0f} of {task.total:,.0f} " + unit
    if width < _WIDE:
        return [TextColumn(text, table_column=Column(overflow="fold")) for text in (what, amount)]
    bar = BarColumn(bar_width=min(40, width - _WIDE + 10))
    return [TextColumn(what), bar, TextColumn(amount), _RateColumn(unit), TimeRemainingColumn()]
