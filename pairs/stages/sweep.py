"""Runs a grid of settings on one dataset, each point several times, interleaved; keeps every run, and resumes.

SWEEP/sweep.json          the points of the sweep
SWEEP/data/               the dataset, unless another was given
SWEEP/runs/POINT-K/       run K of a point
SWEEP/sweep.html          all points and runs compared
"""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from pairs.config.grid import MOST_REPETITIONS, GridPoint
from pairs.config.profile import Profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.values import Plain
from pairs.core import locks
from pairs.core.errors import BadInputError
from pairs.core.interrupts import keeping
from pairs.core.progress import waiting
from pairs.core.records import Model, Record
from pairs.core.spark import DEFAULT_MASTER
from pairs.core.units import counted
from pairs.dataset.folder import Dataset
from pairs.measure.recordings import read_run
from pairs.measure.repetition import Point, RunFigures, interleaved
from pairs.measure.resources import cost, harness_cores
from pairs.measure.run_time import run_seconds
from pairs.model.plan import PlanClass
from pairs.report.making import make_sweep_report
from pairs.run_folder.folder import Run
from pairs.stages.bench import run_to_score
from pairs.stages.generate import Done, ensure_dataset
from pairs.stages.run import check_settings, wall_speed, with_master

_LONGEST_NAME = 80


class SweepPoint(Model):
    """A point of a sweep: its name, what is special about it, and its settings in full."""

    name: str  # of the folders of its runs
    varied: dict[str, str]
    settings: dict[str, Any]
    plan_class: PlanClass

    @property
    def label(self) -> str:
        told = " ".join(f"{name}={value}" for name, value in self.varied.items())
        return told or f"{self.settings['target']}, plan {self.settings['plan']}"


class SweepManifest(Record):
    """The content of sweep.json."""

    FORMAT = 1
    REMEDY = "give another folder with -o"

    profile: str
    workload: dict[str, Plain]
    points: tuple[SweepPoint, ...]
    repeat: int = Field(ge=1, le=MOST_REPETITIONS)


def _sweep_point(name: str, point: GridPoint, run: str, master: str | None, profile: Profile) -> SweepPoint:
    settings = with_master(load_run(run, point.flags), master)
    target, plan = check_settings(settings, profile.workload.duration)
    full = replace(settings, plan=plan, speed=wall_speed(settings, profile.speed))
    plain, plan_class = full.as_plain(), target.plans[plan].plan_class
    return SweepPoint(name=name or f"{target.name}-{plan}", varied=point.varied, settings=plain, plan_class=plan_class)


def _names(grid: Sequence[GridPoint]) -> list[str]:
    """Return names for folders, made of what varies; numbered if they would not be distinct."""
    told = ("-".join(f"{name}-{value}" for name, value in point.varied.items()) for point in grid)
    names = [_file_name(text) for text in told]
    distinct = len(set(names)) == len(names)
    return names if distinct else [f"{number}-{name}" for number, name in enumerate(names, start=1)]


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:_LONGEST_NAME]


@dataclass(frozen=True)
class SweepSession:
    """The configuration of a sweep, and the folder of its runs."""

    folder: Path
    profile: Profile
    points: tuple[SweepPoint, ...]
    repeat: int
    data: Path | None  # folder of the dataset; None: in the folder of the sweep
    suffix: str
    master: str
    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)  # may be secrets: not in sweep.json

    @property
    def seconds(self) -> float:
        """About how long the runs take that are still to be made, after the dataset is there."""
        settings = [self._settings(point) for point, _ in self.remaining()]
        duration_ms = self.profile.workload.duration
        return sum(run_seconds(duration_ms, wall_speed(known, self.profile.speed)) for known in settings)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Refuse the folder of another sweep, or of anything else; keep others out of it."""
        with locks.exclusive_made(self.folder), keeping(self._kept):
            self._refuse_other_folder()
            yield

    def _kept(self) -> str:
        finished = len(self.points) * self.repeat - len(self.remaining())
        return f"{self.folder} keeps {counted(finished, 'finished run')}; called again, the sweep goes on"

    def _refuse_other_folder(self) -> None:
        if self._found() is None and not self._is_new():
            raise BadInputError(f"{self.folder}: exists and is not a sweep; choose another folder with -o")

    def start(self, done: Done) -> Dataset:
        """Make the dataset, or find it, and write what is planned; return the dataset."""
        dataset = ensure_dataset(self.profile, self.data or self.folder / "data", self.suffix, self.master, done)
        found = self._found()
        repeat = self.repeat if found is None else max(self.repeat, found.repeat)
        self._manifest(repeat).write(self.folder / "sweep.json")
        return dataset

    def remaining(self) -> list[tuple[SweepPoint, int]]:
        """Return what is still to be run, in order."""
        planned = interleaved(self.points, self.repeat)
        return [(point, number) for point, number in planned if not self._run(point, number).is_scored]

    def run_once(self, dataset: Dataset, point: SweepPoint, number: int) -> RunFigures:
        run = self._run(point, number)
        shutil.rmtree(run.path, ignore_errors=True)
        run_to_score(dataset, self._settings(point), run, self.master)
        return figures(run)

    @waiting("reading the runs")
    def results(self) -> list[Point]:
        """Return what the runs of every point came to, of all that are scored."""
        return [
            Point(point.label, point.varied, point.plan_class, tuple(map(figures, self._scored(point))))
            for point in self.points
        ]

    def make_report(self, points: Sequence[Point]) -> Path:
        runs = [run for point in self.points for run in self._scored(point)]
        return make_sweep_report(points, runs, self.folder / "sweep.html")

    def _scored(self, point: SweepPoint) -> Iterator[Run]:
        found = self._found()
        most = self.repeat if found is None else max(self.repeat, found.repeat)
        runs = (self._run(point, number) for number in range(1, most + 1))
        return (run for run in runs if run.is_scored)

    def _settings(self, point: SweepPoint) -> RunSettings:
        return replace(RunSettings.from_plain(point.settings, "sweep.json"), kafka=dict(self.kafka))

    def _run(self, point: SweepPoint, number: int) -> Run:
        return Run(self.folder / "runs" / f"{point.name}-{number}")

    def _manifest(self, repeat: int) -> SweepManifest:
        workload = self.profile.workload.as_plain()
        return SweepManifest(profile=self.profile.name, workload=workload, points=self.points, repeat=repeat)

    def _found(self) -> SweepManifest | None:
        """Return the manifest in the folder, if there is one; refuse that of another sweep."""
        with suppress(FileNotFoundError):
            found = SweepManifest.read(self.folder / "sweep.json")
            if found != self._manifest(found.repeat):
                raise BadInputError(f"{self.folder}: contains another sweep; give another folder with -o")
            return found
        return None

    def _is_new(self) -> bool:
        """Return whether there is nothing in the folder but a dataset that an interrupted sweep made."""
        return all(path.name in ("data", "runs") or path.name.startswith(".") for path in self.folder.iterdir())


def sweep_session(
    profile: Profile,
    grid: Sequence[GridPoint],
    run: str,
    *,
    repeat: int,
    output: Path | None,
    data: Path | None,
    suffix: str,
    master: str | None,
) -> SweepSession:
    """Plan a sweep over a grid, into a folder or one under sweeps/; refuse points that a target does not accept."""
    named = zip(_names(grid), grid, strict=True)
    points = tuple(_sweep_point(name, point, run, master, profile) for name, point in named)
    folder = output or Path("sweeps") / _default_name(profile, points)
    kafka = load_run(run, grid[0].flags).kafka
    return SweepSession(folder, profile, points, repeat, data, suffix, master or DEFAULT_MASTER, kafka)


def _default_name(profile: Profile, points: Sequence[SweepPoint]) -> str:
    what = _file_name("-".join(points[0].varied)) or points[0].name
    return f"{profile.name}-sf{profile.workload.scale_factor}-{what}"


def figures(run: Run) -> RunFigures:
    """Return what a scored run came to."""
    recorded = read_run(run)
    score = recorded.score
    if score is None:
        return RunFigures(run.path.name, valid=False, reasons=("its score cannot be read",))
    return RunFigures(
        name=run.path.name,
        valid=score.valid,
        reasons=score.reasons,
        p99_s=score.p99,
        p99_interval=score.p99_interval,
        p_score=score.p_score,
        cost=cost(recorded),
        machine_cores=recorded.manifest.environment.cores,
        harness_cores=harness_cores(recorded),
    )
