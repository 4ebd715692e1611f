"""Executors of a cluster: what the engine tells of them is counted, what it does not tell is not recorded."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairs.measure.findings import findings
from pairs.measure.recordings import Recorded, read_run
from pairs.measure.resources import cores_used, cost, executors_sentence, harness_cores, usage
from pairs.report.single import report_of
from pairs.run_folder.folder import Run
from tests.report.pages import payload_of, text_of
from tests.report.runs import START_US, change_manifest, golden_run

CLUSTER = "spark://host:7077"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run of ten seconds, measured from 2.5 to 7.5 s, on a cluster."""
    run = golden_run(tmp_path)
    change_manifest(run, cluster=CLUSTER)
    return run


def note(run: Run, *executors: Callable[[int], dict[str, Any] | None]) -> Recorded:
    """Let the engine tell of executors every second; of one that returns None, it tells nothing at that second."""
    lines = []
    for second in range(11):
        living = [found for executor in executors if (found := executor(second)) is not None]
        lines.append({"kind": "executors", "time": START_US + second * 1_000_000, "executors": living})
    with run.progress_file.open("a") as file:
        file.write("\n" + "\n".join(map(json.dumps, lines)))
    return read_run(run)


def executor(
    name: str, tasks: float, python: float | None = None, until: int = 99
) -> Callable[[int], dict[str, Any] | None]:
    """Return an executor that uses so many cores, as far as that is known, until it dies."""

    def told(second: int) -> dict[str, Any] | None:
        cpu = {"JVM tasks": tasks * second, "Python": None if python is None else python * second}
        memory = {"JVM": 3e8 + second, "Python": None}
        return {"id": name, "host": "host", "cpu_seconds": cpu, "most_bytes": memory} if second <= until else None

    return told


def test_cores_of_executors(run: Run) -> None:
    """They are added up; what Spark does not tell is None, and never part of the machine of the driver."""
    before = usage(read_run(run))
    used = usage(note(run, executor("0", 0.5), executor("1", 0.25)))
    assert used is not None
    assert before is not None
    assert used.executors == {"JVM tasks": pytest.approx(0.75), "Python": None}
    assert (used.cores, used.of_executors) == (before.cores, None)


def test_cost_never_leaves_executors_out(run: Run) -> None:
    """It is not recorded while anything of them is unknown, and has all of them once all is known."""
    assert (cost(read_run(run)), cores_used(read_run(run))) == (None, None)
    assert cost(note(run, executor("0", 0.5))) is None
    change_manifest(run, cluster=None)
    alone, own = cost(read_run(run)), usage(read_run(run))
    assert alone is not None
    assert own is not None
    change_manifest(run, cluster=CLUSTER)
    run.progress_file.write_text("")
    recorded = note(run, executor("0", 0.5, python=0.25))
    assert cost(recorded) == pytest.approx(alone * (own.engine + 0.75) / own.engine)
    assert cores_used(recorded) == pytest.approx(own.total + 0.75)
    assert harness_cores(recorded) is None  # they share no cores that are known


def test_an_executor_that_dies(run: Run) -> None:
    """What it had used still counts; what it would have used does not."""
    recorded = note(run, executor("0", 0.5), executor("1", 1.0, until=5))
    assert recorded.resources is not None
    column = recorded.resources.parts.index("executors' JVM tasks")
    by_second = recorded.resources.cpu_seconds[:, column]
    assert by_second[recorded.resources.time_us == START_US + 4_000_000] == pytest.approx(1.5)
    assert by_second[recorded.resources.time_us == START_US + 8_000_000] == pytest.approx(0.5)
    memory = recorded.resources.rss_bytes[:, recorded.resources.parts.index("executors' JVM")]
    assert memory[-1] == pytest.approx(3e8 + 10)
    assert memory[recorded.resources.time_us == START_US + 4_000_000] == pytest.approx(2 * (3e8 + 4))


def test_an_engine_that_is_restarted(run: Run) -> None:
    """Its executors have the same names and count from zero; nothing is used backwards."""

    def restarted(second: int) -> dict[str, Any] | None:
        return executor("0", 0.5)(second if second < 5 else second - 5)

    recorded = note(run, restarted)
    assert recorded.resources is not None
    used = recorded.resources.cpu_seconds[:, recorded.resources.parts.index("executors' JVM tasks")]
    assert used.min() == 0
    assert np.sum(used) == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("executors", "told"),
    [
        ((), "What they used of CPU and memory is not recorded, so there is no CPU cost."),
        (
            (executor("0", 0.5),),
            "By the engine's own metrics: CPU of JVM tasks 0.50 cores, CPU of Python not recorded, "
            "memory of JVM at most 0.30 GB. Without all CPU there is no CPU cost.",
        ),
    ],
)
def test_the_report_says_what_is_known(run: Run, executors: tuple[Any, ...], told: str) -> None:
    """In the trust section and beside the chart; parts that are not known are not drawn."""
    recorded = note(run, *executors) if executors else read_run(run)
    sentence = f"Executors on {CLUSTER} did the engine's work, outside the processes of the run. {told}"
    assert executors_sentence(recorded) == sentence
    assert [found.level for found in findings(recorded, None) if found.sentence == sentence] == ["note"]
    page = report_of(recorded)
    assert text_of(page).count(sentence) == 2
    charts = payload_of(page)["charts"]
    known = ["executors' JVM tasks"] if executors else []
    assert [part for part in charts["cpu"]["parts"] if part.startswith("executors")] == known
    assert ("executors' JVM" in charts["memory"]["parts"]) is bool(executors)


def test_a_run_without_a_cluster_says_nothing_of_executors(tmp_path: Path) -> None:
    """Its engine is in its own processes."""
    run = golden_run(tmp_path)
    assert executors_sentence(read_run(run)) is None
    assert "xecutors" not in text_of(report_of(read_run(run)))
    assert harness_cores(read_run(run)) is not None
