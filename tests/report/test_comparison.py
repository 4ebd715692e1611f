"""Comparisons: side by side, what differs, and a caution wherever runs should not be compared."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pairs.measure.recordings import Recorded, read_run
from pairs.measure.resources import cost
from pairs.report.comparison import Compared, by_scale_factor, cautions, comparison_of, differences, named
from pairs.run_folder.folder import Run
from pairs.run_folder.records import Environment
from tests.report.pages import payload_of, text_of
from tests.report.runs import (
    START_US,
    change_manifest,
    change_market,
    change_score,
    change_settings,
    golden_run,
    make_valid,
)


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """Make three runs that differ in nothing but their latencies."""
    return [golden_run(tmp_path, seed) for seed in (1, 2, 3)]


def read(runs: list[Run]) -> list[Recorded]:
    """Read runs."""
    return [read_run(run) for run in runs]


def said(runs: list[Run]) -> list[str]:
    """Return the cautions about runs."""
    return [caution.sentence for caution in cautions(named(read(runs)))]


def test_runs_that_may_be_compared(runs: list[Run]) -> None:
    """Of non-standard runs only that they are so is said; of standard runs, only if they cannot be told apart."""
    for run, middle in zip(runs, (0.1, 0.2, 0.3), strict=True):
        make_valid(run)
        change_score(run, p99_interval=(middle - 0.01, middle + 0.01))
    assert said(runs) == ["None of these runs is standard, so none compares with the published engines X and Y."]
    for run in runs:
        change_score(run, standard=True)
    assert said(runs) == []
    assert "These runs can be compared" in text_of(comparison_of(read(runs)))
    change_score(runs[0], p99_interval=(0.05, 0.2))
    assert said(runs) == ["run-1 and run-2: the 95 % intervals of their 99th percentiles overlap."]


OTHER_MACHINE = Environment(system="a system", processor="another", cores=64, memory_bytes=1, versions={})


@pytest.mark.parametrize(
    ("changes", "caution"),
    [
        ({"environment": OTHER_MACHINE}, "Different machines: "),
        ({"strategies_digest": "other"}, "not the same market or strategies"),
        ({"duration_ms": 7_200_000}, "Different speed or length: "),
        ({"kit_version": "9.9"}, "different versions of the kit"),
        ({"plan_class": "keyed"}, "Different classes of plans: run-1, run-3: block; run-2: keyed."),
    ],
)
def test_what_forbids_a_comparison(runs: list[Run], changes: dict[str, Any], caution: str) -> None:
    """Each of them alone is told, with the names of the runs."""
    change_manifest(runs[1], **changes)
    told = [sentence for sentence in said(runs) if caution in sentence]
    assert len(told) == 1
    if "versions" not in caution:
        assert "run-2" in told[0]


def test_other_markets(runs: list[Run]) -> None:
    """At the same scale factor they forbid a comparison; at another they are others by design."""
    change_market(runs[2], digest="other")
    assert any("not the same market or strategies" in sentence for sentence in said(runs))
    change_market(runs[2], parameters={"scale_factor": 2})
    assert not any("market" in sentence for sentence in said(runs))


def test_void_runs_and_mixed_standards(runs: list[Run]) -> None:
    """Void runs are named with their reasons, and so are runs that were not scored or, unlike others, not standard."""
    change_score(runs[0], valid=False, reasons=("validation FAILED",), standard=True)
    change_score(runs[1], standard=True)
    runs[2].score_file.unlink()
    told = said(runs)
    assert "run-1 is void: validation FAILED. Its number means nothing." in told
    assert "run-3 was not scored." in told
    change_score(runs[1], standard=False)
    assert "Not standard, unlike the others: run-2. Such scores are not comparable." in said(runs)


def test_other_speeds(runs: list[Run]) -> None:
    """A run at another speed is another benchmark."""
    change_settings(runs[0], speed=45)
    assert any("run-1 replayed 15 min at speed 45" in sentence for sentence in said(runs))


def test_what_differs(runs: list[Run]) -> None:
    """Only settings that are not equal in all runs are listed, with each run's value."""
    change_settings(runs[1], settings={"spark.x": "<1>"})
    table = differences(named(read(runs)))
    assert table.heading == ("setting", "run-1", "run-2", "run-3")
    assert ("run: settings.spark.x", "not recorded", "<1>", "not recorded") in table.rows
    assert not [row for row in table.rows if row[0].startswith("environment")]


def test_names_are_short_and_distinct(tmp_path: Path) -> None:
    """Folders of the same name are told apart by their parents; a run that is given twice is named as such."""
    first, second = golden_run(tmp_path / "a"), golden_run(tmp_path / "b")
    assert [run.name for run in named(read([first, second]))] == ["a/run-1", "b/run-1"]
    assert any("is given twice" in sentence for sentence in said([first, first]))


def test_points_by_scale_factor(runs: list[Run]) -> None:
    """A line for each engine and plan, sorted by scale factor, void scores marked; published only beside standard."""
    for run in runs:
        make_valid(run)
    change_market(runs[0], parameters={"scale_factor": 4})
    change_score(runs[1], valid=False)
    assert len(by_scale_factor(named(read(runs)))["series"]) == 1
    for run in runs:
        change_score(run, standard=True)
    own, x, y = by_scale_factor(named(read(runs)))["series"]
    assert [point["sf"] for point in own["points"]] == [1, 1, 4]
    assert [point["valid"] for point in own["points"]] == [False, True, True]
    assert (len(x["points"]), len(y["points"])) == (5, 2)
    assert "absent" in by_scale_factor([Compared("x", read_without_score(runs[0]))])


def test_the_cost_of_ticks(runs: list[Run]) -> None:
    """CPU of the engine's processes in the measurement interval, for a million of the ticks consumed in it."""
    samples = pq.read_table(runs[0].resources_file).to_pandas()
    wall_s = (samples["time"] - START_US) / 1e6
    inside = samples["part"].str.startswith("engine") & (wall_s > 3) & (wall_s < 7.5)  # since the first sample in it
    ticks_a_second = 26_669 / 11
    expected = samples["cpu_seconds"][inside].sum() / 4 / ticks_a_second * 1e6
    assert cost(read_run(runs[0])) == pytest.approx(expected, rel=0.01)
    [own, *_] = by_scale_factor(named(read(runs)))["series"]
    assert [point["cost"] for point in own["points"]] == [cost(recorded) for recorded in read(runs)]


def read_without_score(run: Run) -> Recorded:
    """Read a run that was not scored."""
    run.score_file.unlink()
    return read_run(run)


def test_the_page(runs: list[Run]) -> None:
    """All runs are in the table, and every chart has data."""
    page = comparison_of(read(runs))
    payload = payload_of(page)
    assert [row[0] for row in payload["runs"]] == ["run-1", "run-2", "run-3"]
    assert sorted(payload["charts"]) == ["by-scale-factor", "compared-over-time", "compared-percentiles"]
    assert not [name for name, data in payload["charts"].items() if "absent" in data]


def test_runs_without_anything(runs: list[Run]) -> None:
    """Runs that recorded nothing can be put side by side too."""
    for run in runs:
        for file in run.path.iterdir():
            if file != run.manifest_file:
                file.unlink()
    charts = payload_of(comparison_of(read(runs)))["charts"]
    assert all("absent" in data for data in charts.values())
