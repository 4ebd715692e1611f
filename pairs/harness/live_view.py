"""What a run shows while it lasts: one live table on a terminal, plain lines otherwise."""

import json
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from pairs.core.units import show_duration

_PLAIN_EVERY_S = 10.0
_RATE_OVER_S = 3.0


@dataclass(frozen=True)
class Situation:
    """Where a run is."""

    phase: str
    elapsed_s: float
    total_s: float
    sent: int
    taken: int
    cpu: dict[str, float]  # cores, by part
    memory: dict[str, int]  # bytes, by part


class Display:
    """Shows where a run is, as a context."""

    def __init__(self, sink_status: Path) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._sink_status = sink_status
        self._said_at = 0.0
        self._marks: deque[tuple[float, int, int]] = deque()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, now: Situation) -> None:
        """Show the situation: at once on a terminal, every few seconds elsewhere."""
        self._marks.append((time.monotonic(), now.sent, now.taken))
        while self._marks[-1][0] - self._marks[0][0] > _RATE_OVER_S:
            self._marks.popleft()
        if self._console.is_terminal:
            self._live.update(self._table(now), refresh=True)
        elif time.monotonic() - self._said_at > _PLAIN_EVERY_S:
            self._said_at = time.monotonic()
            print(", ".join(f"{name} {value}" for name, value in self._rows(now)), file=sys.stderr, flush=True)

    def _table(self, now: Situation) -> Table:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in self._rows(now):
            table.add_row(f"[bold]{name}[/bold]", value)
        return table

    def _rows(self, now: Situation) -> list[tuple[str, str]]:
        sink = self._sink()
        first, last = self._marks[0], self._marks[-1]
        seconds = max(last[0] - first[0], 1e-9)
        latency = " / ".join(f"{name} {value / 1000:,.0f} ms" for name, value in sink.get("latency_us", {}).items())
        answers = ", ".join(f"{count:,} {stream}" for stream, count in sink.get("rows", {}).items())
        used = ", ".join(f"{part} {cores:.0%}" for part, cores in now.cpu.items())
        memory = ", ".join(f"{part} {size / 1e6:,.0f} MB" for part, size in now.memory.items())
        return [
            ("phase", f"{now.phase}, {_clock(now.elapsed_s)} of {_clock(now.total_s)}"),
            ("ticks/s", f"{(last[1] - first[1]) / seconds:,.0f} sent, {(last[2] - first[2]) / seconds:,.0f} taken"),
            ("backlog", f"{now.sent - now.taken:,} ticks"),
            ("latency", latency or "-"),
            ("answers", answers or "-"),
            ("CPU", used or "-"),
            ("memory", memory or "-"),
        ]

    def _sink(self) -> dict[str, Any]:
        try:
            status: dict[str, Any] = json.loads(self._sink_status.read_text())
        except (OSError, ValueError):
            return {}
        return status


def _clock(seconds: float) -> str:
    return show_duration(max(round(seconds), 0) * 1000)
