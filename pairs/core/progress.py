"""A progress bar on a terminal; silent in a pipe."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.text import Text


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


class Progress:
    """How much of a known amount is done: amount, rate and time left."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        console = Console(stderr=True)
        self.shown = console.is_terminal
        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit),
            _RateColumn(unit),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self.shown,
        )
        self._total = total
        self._task = self._bar.add_task(what, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._bar.update(self._task, completed=self._total, refresh=True)
        self._bar.stop()

    def set(self, done: int) -> None:
        """Show how much is done."""
        self._bar.update(self._task, completed=done)
