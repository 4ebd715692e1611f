"""What a run shows while it lasts: one live table on a terminal, plain lines otherwise."""

import sys
import time
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from pairs.core.errors import BadInputError
from pairs.core.units import show_duration
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from pairs.transport.base import Positions

_PLAIN_EVERY_S = 10.0
_RATE_OVER_S = 3.0


@dataclass(frozen=True)
class Status:
    """Where a run is."""

    phase: str
    elapsed_s: float
    total_s: float
    positions: Positions
    cpu: dict[str, float]  # cores, by part
    memory: dict[str, int]  # bytes, by part


class LiveView:
    """Shows where a run is, as a context."""

    def __init__(self, run: Run) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._run = run
        self._printed_at = 0.0
        self._recent: deque[tuple[float, Positions]] = deque()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, status: Status) -> None:
        """Show the status: at once on a terminal, every few seconds elsewhere."""
        self._recent.append((time.monotonic(), status.positions))
        while self._recent[-1][0] - self._recent[0][0] > _RATE_OVER_S:
            self._recent.popleft()
        if self._console.is_terminal:
            self._live.update(self._table(status), refresh=True)
        elif time.monotonic() - self._printed_at > _PLAIN_EVERY_S:
            self._printed_at = time.monotonic()
            print(", ".join(f"{name} {value}" for name, value in self._rows(status)), file=sys.stderr, flush=True)

    def _table(self, status: Status) -> Table:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in self._rows(status):
            table.add_row(f"[bold]{name}[/bold]", value)
        return table

    def _rows(self, status: Status) -> list[tuple[str, str]]:
        answers, latency = self._answers()
        cores = ", ".join(f"{part} {cores:.0%}" for part, cores in status.cpu.items())
        memory = ", ".join(f"{part} {size / 1e6:,.0f} MB" for part, size in status.memory.items())
        return [
            ("phase", f"{status.phase}, {_clock(status.elapsed_s)} of {_clock(status.total_s)}"),
            ("ticks/s", self._rates()),
            ("backlog", f"{status.positions.backlog:,} ticks"),
            ("latency", latency or "-"),
            ("answers", answers or "-"),
            ("CPU", cores or "-"),
            ("memory", memory or "-"),
        ]

    def _rates(self) -> str:
        (first_s, first), (last_s, last) = self._recent[0], self._recent[-1]
        seconds = max(last_s - first_s, 1e-9)
        produced, consumed = last.produced - first.produced, last.consumed - first.consumed
        return f"{produced / seconds:,.0f} produced, {consumed / seconds:,.0f} consumed"

    def _answers(self) -> tuple[str, str]:
        """Return how many answers there are, and their latencies lately, once the sink has told."""
        try:
            sink = SinkRecord.read(self._run.sink_file)
        except (OSError, BadInputError):
            return "", ""
        answers = ", ".join(f"{count:,} {stream}" for stream, count in sink.rows.items())
        return answers, " / ".join(f"{name} {us / 1000:,.0f} ms" for name, us in sink.recent_latency_us.items())


def _clock(seconds: float) -> str:
    return show_duration(max(round(seconds), 0) * 1000)
