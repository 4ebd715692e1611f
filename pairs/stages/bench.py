"""The whole benchmark: generate, strategies, run, validate, score, report."""

from dataclasses import dataclass
from pathlib import Path

from pairs.config.profile import Profile
from pairs.config.run_settings import RunSettings
from pairs.report.making import make_report
from pairs.run_folder.records import ScoreRecord
from pairs.stages.generate import Done, ensure_dataset
from pairs.stages.run import run_program
from pairs.stages.score import score
from pairs.stages.validate import validate


@dataclass(frozen=True)
class ReportResult:
    """A written report."""

    file: Path


def bench(
    profile: Profile,
    settings: RunSettings,
    *,
    data: Path | None,
    suffix: str,
    output: Path | None,
    overwrite: bool,
    master: str,
    done: Done,
) -> ScoreRecord:
    """Run all stages; `done` is called with the result of each stage when it ends."""
    dataset = ensure_dataset(profile, data, suffix, master, done)
    result = run_program(dataset, settings, output, overwrite)
    done(result)
    done(validate(result.run.path, master=master))
    scored = score(result.run.path)
    done(scored)
    done(ReportResult(make_report([result.run], None)))
    return scored.score
