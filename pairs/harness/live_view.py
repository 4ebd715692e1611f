"""What a run shows while it lasts: one live table on a terminal, plain lines otherwise."""

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from pairs.core.errors import BadInputError
from pairs.core.progress import can_redraw
from pairs.core.units import counted
from pairs.harness.resources import Sampler
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from pairs.transport.base import Positions

_PLAIN_EVERY_S = 10.0
_RATE_OVER_S = 3.0


@contextmanager
def live_view(run: Run, sampler: Sampler) -> Iterator["LiveView"]:
    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        yield LiveView(run, sampler, live)


class LiveView:
    """Shows where a run is."""

    def __init__(self, run: Run, sampler: Sampler, live: Live) -> None:
        self._run, self._sampler, self._live = run, sampler, live
        self._printed_at = 0.0
        self._recent: deque[tuple[float, Positions]] = deque()

    def show(self, phase: str, positions: Positions) -> None:
        """Show the status: at once on a terminal, every few seconds elsewhere."""
        now = time.monotonic()
        self._recent.append((now, positions))
        while now - self._recent[0][0] > _RATE_OVER_S:
            self._recent.popleft()
        if can_redraw(self._live.console):
            table = Table(box=None, show_header=False, pad_edge=False)
            for name, value in self._rows(phase).items():
                table.add_row(f"[bold]{name}[/bold]", escape(value) or "-")
            self._live.update(table, refresh=True)
        elif now - self._printed_at > _PLAIN_EVERY_S:
            self._printed_at = now
            line = ", ".join(f"{name} {value or '-'}" for name, value in self._rows(phase).items())
            print(line, file=sys.stderr, flush=True)

    def _rows(self, phase: str) -> dict[str, str]:
        (first_s, first), (last_s, last) = self._recent[0], self._recent[-1]
        seconds = max(last_s - first_s, 1e-9)
        produced, read = last.produced - first.produced, max(last.read - first.read, 0)
        answers, latency = self._answers()
        return {
            "phase": phase,
            "ticks/s": f"{produced / seconds:,.0f} produced, {read / seconds:,.0f} consumed",
            "backlog": counted(last.backlog, "tick"),
            "latency": latency,
            "answers": answers,
            "CPU": ", ".join(f"{part} {cores:.0%}" for part, cores in self._sampler.cores().items()),
            "memory": ", ".join(f"{part} {size / 1e6:,.0f} MB" for part, size in self._sampler.memory().items()),
        }

    def _answers(self) -> tuple[str, str]:
        """Return how many answers there are, and their latencies lately, once the sink has told."""
        try:
            sink = SinkRecord.read(self._run.sink_file)
        except (OSError, BadInputError):
            return "", ""
        answers = ", ".join(counted(count, stream.removesuffix("s")) for stream, count in sink.rows.items())
        if sink.refused_connections:
            answers += f", {counted(sink.refused_connections, 'connection')} closed for invalid data"
        return answers, " / ".join(f"{name} {us / 1000:,.0f} ms" for name, us in sink.recent_latency_us.items())
