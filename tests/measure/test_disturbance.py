"""What else the machine did, as shares of all its cores, and what is said of it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pairs.measure.findings import disturbance_finding
from pairs.measure.recordings import read_run
from pairs.measure.resources import Disturbance, disturbance, disturbance_over_time
from pairs.run_folder.folder import Run
from tests.report.runs import START_US, golden_run, judge

SECONDS = 10  # of the run, on two cores; the measurement interval is from 2.5 to 7.5 s


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def machine_did(run: Run, outside_s: float, stolen_s: float) -> None:
    """Let others have used so many CPU seconds in each second of the measurement interval, and much more around it."""
    ends = np.arange(1, SECONDS + 1)
    inside = (ends - 1 >= 2.5) & (ends <= 7.5)
    samples = {
        "time": START_US + ends * 1_000_000,
        "outside_seconds": np.where(inside, outside_s, 2.0),
        "stolen_seconds": np.where(inside, stolen_s, 2.0),
        "seconds": np.ones(SECONDS),
    }
    run.write_parquet(run.machine_file, pa.table(samples))


def test_shares_of_the_machine(run: Run) -> None:
    """Of all cores, within the measurement interval."""
    machine_did(run, 0.3, 0.1)
    found = disturbance(read_run(run))
    assert found is not None
    assert [found.outside, found.stolen] == pytest.approx([0.15, 0.05])


def test_what_processes_outside_used_may_be_unknown(run: Run) -> None:
    """That of an engine that somebody else started cannot be told from them; what the host stole is known."""
    machine_did(run, np.nan, 0.1)
    found = disturbance(read_run(run))
    assert found is not None
    assert found.outside is None
    assert found.stolen == pytest.approx(0.05)


def test_over_time(run: Run) -> None:
    """In percent, of the whole run."""
    machine_did(run, 0.3, 0.1)
    found = disturbance_over_time(read_run(run))
    assert found is not None
    seconds, outside, stolen = found
    assert seconds.tolist() == list(range(1, SECONDS + 1))
    assert [outside[4], stolen[4], outside[0]] == pytest.approx([15, 5, 100])


def test_long_runs_are_thinned(run: Run) -> None:
    """To the mean of neighbours, so that nothing is lost of the sum."""
    count = 5_000
    outside = np.random.default_rng(1).uniform(0, 1, count)
    samples = {"time": START_US + np.arange(count) * 1_000_000, "seconds": np.ones(count)}
    samples |= {"outside_seconds": outside, "stolen_seconds": np.zeros(count)}
    run.write_parquet(run.machine_file, pa.table(samples))
    found = disturbance_over_time(read_run(run))
    assert found is not None
    assert len(found[0]) <= 360
    assert found[1].mean() == pytest.approx(outside.mean() * 50, rel=0.01)


@pytest.mark.parametrize(
    ("found", "level", "begin"),
    [
        (Disturbance(0.02, 0.01), "good", "Yes: processes outside the run used 2.0% of the machine"),
        (Disturbance(0.12, 0.01), "warning", "No: processes outside the run used 12.0% of the machine"),
        (Disturbance(0.02, 0.11), "warning", "No: processes outside the run used 2.0% of the machine"),
        (Disturbance(None, 0.01), "note", "Unknown: somebody else started the engine"),
        (Disturbance(None, 0.11), "warning", "No: the host stole 11.0% of the machine"),
        (None, "note", "Unknown"),
    ],
)
def test_what_is_said(found: Disturbance | None, level: str, begin: str) -> None:
    """More than a tenth of the machine for either is a warning, with both figures; what is unknown is noted."""
    finding = disturbance_finding(found)
    assert (finding.level, finding.title) == (level, "Was the machine ours?")
    assert finding.sentence.startswith(begin)


@pytest.mark.parametrize(("outside_s", "warned"), [(0.1, False), (0.5, True)])
def test_the_warning_stands_beside_the_score(run: Run, outside_s: float, warned: bool) -> None:
    """In score.json, among the warnings."""
    machine_did(run, outside_s, 0.0)
    judge(run)
    recorded = read_run(run)
    assert recorded.score is not None
    assert any("outside the run used 25.0%" in warning for warning in recorded.score.warnings) == warned
