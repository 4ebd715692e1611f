"""Searches for the highest scale factor: runs point after point, keeps every run, and can go on where it was ended.

SEARCH/search.json       what is searched for
SEARCH/runs/sf-N-K/      run K at scale factor N
SEARCH/search.html       all runs compared
"""

import json
import re
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pairs.config.load import RunSettings
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError
from pairs.harness.processes import EngineError
from pairs.measure.recordings import Recorded, read_run
from pairs.measure.search_policy import Outcome, next_point
from pairs.measure.stability import MUCH_BACKLOG_S, trend
from pairs.report.findings import backlog_of, cores_used, cost
from pairs.report.making import make_report
from pairs.run_folder.folder import Run
from pairs.stages import stages

_LIMIT = re.compile(r"p99\s*<\s*(\d+(?:\.\d+)?)\s*(ms|s)")


@dataclass(frozen=True)
class Search:
    """What is searched for, and where its runs are kept."""

    folder: Path
    workload_at: Callable[[int], Workload]
    profile: str
    settings: RunSettings
    limit_s: float
    first: int
    most: int
    suffix: str  # of the tick files, which are removed again

    def outcomes(self) -> list[Outcome]:
        """Return what all runs so far came to, in the order in which they were made."""
        return [self._outcome(run) for run in self.runs()]

    def runs(self) -> list[Run]:
        """Return all runs that came to a score, in the order in which they were made."""
        found = [Run(path) for path in (self.folder / "runs").glob("sf-*")]
        return sorted(filter(_is_whole, found), key=lambda run: run.score_file.stat().st_mtime)

    def run_next(self, scale_factor: int) -> Outcome:
        """Run a point once more."""
        path = next(
            path
            for number in range(1, 1_000)
            if not _is_whole(Run(path := self.folder / "runs" / f"sf-{scale_factor}-{number}"))
        )
        shutil.rmtree(path, ignore_errors=True)
        data = self.folder / "data" / f"sf-{scale_factor}"
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log, redirect_stdout(log):
            try:
                self._execute(scale_factor, data, path)
            finally:
                shutil.rmtree(data, ignore_errors=True)
        return self._outcome(Run(path))

    def _execute(self, scale_factor: int, data: Path, path: Path) -> None:
        stages.dataset_of(self.workload_at(scale_factor), self.profile, data, self.suffix, self.settings.master)
        with suppress(EngineError):  # what became of the run is in its folder
            stages.run(data, path, self.settings, overwrite=True)
        stages.validate(path, None, None, "5", None, self.settings.master)
        stages.score(path, as_json=False)
        make_report([Run(path)], None)

    def _outcome(self, run: Run) -> Outcome:
        recorded = read_run(run)
        scale_factor = int(recorded.parameters["scale_factor"])
        score = recorded.score or {}
        why = "; ".join([*score.get("reasons", []), *unsustained(recorded, self.limit_s)])
        spent = cores_used(recorded), cost(recorded)
        return Outcome(scale_factor, not why, why, score.get("p99"), score.get("p_score"), *spent)

    def next_point(self) -> int | None:
        """Return the scale factor to run next; none when the search is done."""
        return next_point(self.outcomes(), self.first, self.most)

    def make_report(self) -> Path | None:
        """Compare all runs in one report; none if there are too few."""
        runs = self.runs()
        return make_report(runs, self.folder / "search.html") if len(runs) > 1 else None

    def begin(self) -> None:
        """Make the folder, or see that it is one of the same search."""
        plain = {"profile": self.profile, "run": self.settings.as_plain(), "workload": self.workload_at(1).as_plain()}
        file = self.folder / "search.json"
        with suppress(FileNotFoundError):
            if json.loads(file.read_text(encoding="utf-8")) != json.loads(json.dumps(plain)):
                raise BadInputError(f"{self.folder}: holds another search; give another folder with -o")
            return
        try:
            (self.folder / "runs").mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise BadInputError(f"{self.folder}: cannot be written: {error.strerror}; choose another folder") from None


def _is_whole(run: Run) -> bool:
    return run.score_file.is_file()


def unsustained(recorded: Recorded, limit_s: float) -> list[str]:
    """Return why a load was not sustained: latency above the limit or growing, or a backlog that grew."""
    times, latencies = recorded.measured("orders")
    reasons = []
    p99 = (recorded.score or {}).get("p99")
    if p99 is not None and p99 > limit_s:
        reasons.append(f"p99 is {p99:.2f} s")
    if len(latencies):
        moved = trend(times, np.asarray(latencies), *recorded.interval_ms)
        if moved is not None and moved.growing:
            reasons.append(f"latency grew by {moved.growth:.0%}")
    waiting = backlog_of(recorded)
    if waiting is not None and waiting.at_end_s - waiting.at_begin_s > MUCH_BACKLOG_S:
        reasons.append(f"the backlog grew to {waiting.at_end_s:.1f} s of input")
    return reasons


def parse_limit(text: str) -> float:
    """Read a limit such as p99<1s or p99<500ms, in seconds."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise BadInputError(f"--slo: {text!r} is not valid; give a limit such as 'p99<1s' or 'p99<500ms'")
    return float(match[1]) / (1000 if match[2] == "ms" else 1)


HEADINGS = ("SF", "p99, ms", "p_score", "cores", "CPU s/M ticks", "sustained")


def plain_row(one: Outcome) -> list[str]:
    """Return what a table says of a run, under the headings."""
    return [
        f"{one.scale_factor:,}",
        "-" if one.p99_s is None else f"{one.p99_s * 1000:,.0f}",
        "-" if one.p_score is None else f"{one.p_score:,.2f}",
        "-" if one.cores is None else f"{one.cores:.2f}",
        "-" if one.cost is None else f"{one.cost:.2f}",
        "yes" if one.good else f"no: {one.why}",
    ]
