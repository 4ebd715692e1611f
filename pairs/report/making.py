"""Makes reports: reads runs, renders the page, writes the file whole or not at all."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pairs.core import locks
from pairs.core.errors import BadInputError
from pairs.core.files import atomic_write
from pairs.core.progress import waiting
from pairs.measure.recordings import Recorded, read_run
from pairs.measure.repetition import Point
from pairs.report.comparison import comparison_of
from pairs.report.single import report_of
from pairs.report.sweep import sweep_report_of
from pairs.run_folder.folder import Run


@waiting("making the report")
def make_report(runs: Sequence[Run], output: Path | None) -> Path:
    """Write the report of a run, or the comparison of several; return where it is."""
    if len(runs) > 1 and output is None:
        raise BadInputError("--output: missing; a comparison of runs belongs to none of them, so give -o FILE")
    target = output or runs[0].report_file
    if target.is_dir():
        raise BadInputError(f"{target}: is a folder; give the file to write")
    with _unchanged(runs):
        recorded = _read(runs)
        return _written(target, report_of(recorded[0]) if len(recorded) == 1 else comparison_of(recorded))


@waiting("making the report")
def make_sweep_report(points: Sequence[Point], runs: Sequence[Run], target: Path) -> Path:
    """Write the report of a sweep; return where it is."""
    with _unchanged(runs):
        return _written(target, sweep_report_of(points, _read(runs)))


@contextmanager
def _unchanged(runs: Sequence[Run]) -> Iterator[None]:
    """Refuse runs in progress, and let none be overwritten meanwhile."""
    with ExitStack() as locked:
        for run in runs:
            locked.enter_context(locks.shared(run.path))
        yield


def _read(runs: Sequence[Run]) -> list[Recorded]:
    for run in runs:
        run.refuse_other_inputs(run.dataset())
    return [read_run(run) for run in runs]


def _written(target: Path, page: str) -> Path:
    with suppress(OSError):  # what is wrong with the folder shows when the file is written
        target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as partial:
        partial.write_text(page, encoding="utf-8")
    return target
