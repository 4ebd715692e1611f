"""Scores a run, and does everything that follows a dataset: run, validate, score, report."""

from contextlib import suppress
from pathlib import Path

from pairs.config.run_settings import RunSettings
from pairs.core import locks
from pairs.core.interrupts import keeping
from pairs.core.progress import waiting
from pairs.dataset.folder import Dataset
from pairs.harness.processes import EngineError
from pairs.measure.recordings import read_run
from pairs.measure.score import score_run
from pairs.report.making import make_report
from pairs.run_folder.folder import Run
from pairs.run_folder.records import ScoreRecord
from pairs.stages.generate import Done
from pairs.stages.run import run_program
from pairs.stages.validate import validate


@waiting("scoring")
def score(run: Run) -> ScoreRecord:
    with locks.shared(run.path):
        run.refuse_other_inputs(run.dataset())
        scored = score_run(read_run(run))
        scored.write(run.score_file)
    return scored


def run_to_score(dataset: Dataset, settings: RunSettings, run: Run, master: str) -> None:
    """Run, validate, score and report, replacing what is there; a run whose engine fails is scored as void."""
    with suppress(EngineError):  # the outcome is in the run's folder
        run_program(dataset, settings, run.path, overwrite=True)
    validate(run.path, master)
    score(run)
    make_report([run], None)


def bench(
    dataset: Dataset, settings: RunSettings, output: Path | None, overwrite: bool, master: str, done: Done
) -> ScoreRecord:
    """Run, validate, score and report; `done` is called with the result of each stage when it ends."""
    run = run_program(dataset, settings, output, overwrite)
    done(run)
    with keeping(lambda: f"{run.path} is complete; go on with 'pairs validate {run.path}'"):
        done(validate(run.path, master))
        scored = score(run)
        done(scored)
        done(make_report([run], None))
    return scored
