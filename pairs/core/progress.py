"""What is shown while work goes on: a progress bar on a terminal, silent in a pipe; warnings always."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


def warn(sentence: str) -> None:
    print(f"pairs: warning: {sentence}", file=sys.stderr, flush=True)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a status line while there is nothing to count; keeps the terminal if stderr is redirected inside."""
    with os.fdopen(os.dup(2), "w") as terminal:
        console = Console(file=terminal)
        with console.status(what) if console.is_terminal else nullcontext():
            yield


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
        self.shown = console.is_terminal
        amount = TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit)
        columns = (TextColumn("{task.description}"), BarColumn(), amount, _RateColumn(unit), TimeRemainingColumn())
        super().__init__(*columns, console=console, transient=True, disable=not self.shown)
        self._total = total
        self._task = self.add_task(what, total=total)

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            self.update(self._task, completed=self._total, refresh=True)
        super().__exit__(kind, *rest)

    def set(self, done: int) -> None:
        self.update(self._task, completed=done)
