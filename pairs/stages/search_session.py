"""Searches for the highest scale factor: runs point after point, keeps every run, and resumes after an interruption.

SEARCH/search.json       the configuration of the search
SEARCH/runs/sf-N-K/      run K at scale factor N
SEARCH/search.html       all runs compared
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from pairs.config.profile import Profile
from pairs.config.run_settings import RunSettings
from pairs.config.values import Plain
from pairs.core import locks
from pairs.core.errors import BadInputError
from pairs.core.interrupts import interruptible, keeping, uninterrupted
from pairs.core.progress import waiting
from pairs.core.records import Record
from pairs.core.units import counted
from pairs.measure.recordings import Recorded, read_run
from pairs.measure.resources import cores_used, cost
from pairs.measure.run_time import run_seconds
from pairs.measure.search_policy import Outcome, next_point
from pairs.measure.stability import unsustained
from pairs.report.making import make_report
from pairs.run_folder.folder import Run
from pairs.stages.bench import run_to_score
from pairs.stages.generate import ensure_dataset
from pairs.stages.run import wall_speed

SEARCH_FILE = "search.json"
_LIMIT = re.compile(r"p99\s*<\s*(\d+(?:\.\d+)?)\s*(ms|s)")


class SearchManifest(Record):
    """The content of search.json."""

    FORMAT = 2
    REMEDY = "give another folder with -o"

    profile: str
    settings: dict[str, Any]
    workload: dict[str, Plain]
    limit_s: float = Field(default=1.0, gt=0)  # on p99, of the last time it was called

    def same_search(self, other: "SearchManifest") -> bool:
        """Whether runs of both may be compared; the limit is applied to all runs alike, so it may differ."""
        return self.model_copy(update={"limit_s": other.limit_s}) == other


def search_folder(profile: str, target: str, plan: str) -> Path:
    """Return the folder of a search, if none is given."""
    return Path("searches") / f"{profile}-{target}-{plan}"


@dataclass(frozen=True)
class SearchSession:
    """The configuration of a search, and the folder of its runs."""

    folder: Path
    profile_at: Callable[[int], Profile]
    settings: RunSettings
    limit_s: float
    first: int
    most: int
    suffix: str  # of the tick files, which are removed after each run
    master: str

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Make the folder, or check that it belongs to the same search; keep others out of it."""
        with locks.exclusive_made(self.folder), keeping(self._kept):
            self._start()
            yield

    def _kept(self) -> str:
        return f"{self.folder} keeps {counted(len(self.runs()), 'finished run')}; called again, the search goes on"

    def _start(self) -> None:
        profile = self.profile_at(1)
        plain = self.settings.as_plain()
        workload = profile.workload.as_plain()
        manifest = SearchManifest(profile=profile.name, settings=plain, workload=workload, limit_s=self.limit_s)
        file = self.folder / SEARCH_FILE
        with suppress(FileNotFoundError):
            if not SearchManifest.read(file).same_search(manifest):
                raise BadInputError(f"{self.folder}: contains another search; give another folder with -o")
        manifest.write(file)

    def runs(self) -> list[Run]:
        return runs_in(self.folder)

    @waiting("reading the runs")
    def outcomes(self) -> list[Outcome]:
        return [outcome_of(read_run(run), self.limit_s) for run in self.runs()]

    @property
    def run_seconds(self) -> float:
        """About how long one run takes, with all that follows it."""
        profile = self.profile_at(self.first)
        return run_seconds(profile.workload.duration, wall_speed(self.settings, profile.speed))

    def next_point(self) -> int | None:
        """Return the scale factor to run next; None when the search is finished."""
        return next_point(self.outcomes(), self.first, self.most)

    def run_next(self, scale_factor: int) -> Outcome:
        numbered = (Run(self.folder / "runs" / f"sf-{scale_factor}-{number}") for number in range(1, 1_000))
        run = next(run for run in numbered if not run.is_scored)
        shutil.rmtree(run.path, ignore_errors=True)
        data = self.folder / "data" / f"sf-{scale_factor}"
        with uninterrupted():
            try:
                with interruptible():
                    dataset = ensure_dataset(self.profile_at(scale_factor), data, self.suffix, self.master, _ignore)
                    run_to_score(dataset, self.settings, run, self.master)
            finally:
                shutil.rmtree(data, ignore_errors=True)
        return outcome_of(read_run(run), self.limit_s)

    def make_report(self) -> Path | None:
        """Compare all runs in a report; None if there are too few."""
        runs = self.runs()
        return make_report(runs, self.folder / "search.html") if len(runs) > 1 else None


def _ignore(_: object) -> None:
    """Show nothing of the stages of a search."""


def runs_in(folder: Path) -> list[Run]:
    """Return the scored runs of a search, in the order in which they were made."""
    scored = [run for path in (folder / "runs").glob("sf-*") if (run := Run(path)).is_scored]
    return sorted(scored, key=lambda run: run.score_file.stat().st_mtime)


def outcome_of(recorded: Recorded, limit_s: float) -> Outcome:
    score = recorded.score
    reasons = [*(score.reasons if score else ["not scored"]), *unsustained(recorded, limit_s)]
    return Outcome(
        scale_factor=recorded.scale_factor or 0,
        good=not reasons,
        why="; ".join(reasons),
        p99_s=score.p99 if score else None,
        p99_interval=score.p99_interval if score else None,
        orders=score.orders if score else 0,
        triggers=score.triggers if score else 0,
        p_score=score.p_score if score else None,
        cores=cores_used(recorded),
        cost=cost(recorded),
    )


def parse_limit(text: str) -> float:
    """Read a limit such as p99<1s or p99<500ms, in seconds."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise BadInputError(f"--slo: {text!r} is not valid; give a limit such as 'p99<1s' or 'p99<500ms'")
    return float(match[1]) / (1000 if match[2] == "ms" else 1)
