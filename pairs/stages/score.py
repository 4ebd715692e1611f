"""Scores a validated run, and writes score.json."""

from dataclasses import dataclass
from pathlib import Path

from pairs.measure.recordings import read_run
from pairs.measure.score import score_run
from pairs.run_folder.folder import Run
from pairs.run_folder.records import ScoreRecord


@dataclass(frozen=True)
class ScoreResult:
    """The score of a run."""

    run: Run
    score: ScoreRecord


def score(path: Path) -> ScoreResult:
    """Score a run."""
    run = Run(path)
    scored = score_run(read_run(run))
    scored.write(run.score_file)
    return ScoreResult(run, scored)
