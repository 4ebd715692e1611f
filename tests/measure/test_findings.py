"""The sentences about trust: said where they must be, and not where they must not."""

import numpy as np
import pytest

from pairs.measure import findings
from pairs.measure.findings import Finding, latency_findings
from pairs.measure.resources import Usage
from pairs.measure.throughput import Backlog
from pairs.run_folder.records import Adaptivity, LatencySummary, Recovery
from tests.measure.latencies import BEGIN, END, drawn_latencies, timed


def level_of(found: list[Finding], title: str) -> str:
    """Return how the finding with a title is judged."""
    return next(finding.level for finding in found if finding.title.startswith(title))


@pytest.mark.parametrize(
    ("slope", "sentence"),
    [(0.6, "Yes: the median grew by"), (-0.6, "still warming up when the measurement began")],
)
def test_latency_that_moves(slope: float, sentence: str) -> None:
    """Growth says that a longer run would be worse; a fall, that the engine was still warming up."""
    finding = next(latency_findings(drawn_latencies(slope), BEGIN, END))
    assert finding.level == "warning"
    assert sentence in finding.sentence


def test_an_outage() -> None:
    """It is no trend, but the quarters do not agree."""
    answers = drawn_latencies(0.0)
    outage = timed(answers.tick_ts, np.where(answers.tick_ts > END - 100, 50, 1) * answers.latency_s)
    assert level_of(list(latency_findings(outage, BEGIN, END)), "Do the quarters") == "warning"


def test_too_few_orders() -> None:
    """Nothing is claimed that cannot be seen."""
    found = list(latency_findings(timed(np.full(3, BEGIN), np.array([0.1, 0.2, 0.3])), BEGIN, END))
    assert level_of(found, "Is latency growing") == "note"
    assert level_of(found, "Do the quarters") == "warning"


def test_no_orders_at_all() -> None:
    """Nothing is said about their latency; that there are none makes the score void."""
    assert not list(latency_findings(timed(np.empty(0), np.empty(0)), BEGIN, END))


def test_steady_runs_are_called_so() -> None:
    """Two good sentences for a steady run of thousands of orders."""
    found = latency_findings(drawn_latencies(0.0), BEGIN, END)
    assert [finding.level for finding in found] == ["good"] * 2


@pytest.mark.parametrize(
    ("found", "level"),
    [
        (Backlog(9.0, 0.1, 4.0, 4.0), "warning"),
        (Backlog(9.0, 0.1, 0.1, 5.0), "note"),
        (Backlog(0.18, 0.18, 0.18, 0.18), "good"),
        (None, "note"),
    ],
)
def test_a_backlog(found: Backlog | None, level: str) -> None:
    """Growing is a warning, staying is noted, unknown is said to be unknown."""
    assert findings.backlog_finding(found).level == level


@pytest.mark.parametrize(
    ("cores", "level"),
    [
        ({"engine JVM": 1.0, "sink": 0.1}, "good"),
        ({"engine JVM": 1.0, "driver-0": 0.5}, "note"),
        ({"engine JVM": 1.8, "driver-0": 0.1}, "warning"),
    ],
)
def test_a_busy_machine(cores: dict[str, float], level: str) -> None:
    """A machine that is full is measured along with the engine."""
    assert [finding.level for finding in findings.machine_findings(Usage(cores, 1.0), 2)] == [level]


def test_a_machine_that_stood_still() -> None:
    """A gap in the samples says that something held the machine."""
    found = findings.machine_findings(Usage({"engine": 0.5}, 8.0), 2)
    assert [finding.level for finding in found] == ["good", "warning"]


@pytest.mark.parametrize(("sent", "level"), [(None, "note"), (0.095, "good"), (0.05, "warning")])
def test_a_late_driver(sent: float | None, level: str) -> None:
    """More than a tenth of the latency from the driver is too much."""
    assert findings.send_delay_finding(0.1, sent).level == level


def test_a_burst() -> None:
    """It is said how long the engine took to recover, or that it did not."""
    taken = Adaptivity(
        max_peak_latency_s=2.0, peak_degradation_ratio=20.0, recovery_time_s=2.6, post_peak_variation_ratio=1.2
    )
    said = (
        "It took 2.6 s to recover, and mean latency was then 1.20 times that before; at worst an answer took 2,000 ms"
    )
    assert findings.burst_finding(taken).sentence.startswith(said)
    assert findings.burst_finding(taken.model_copy(update={"recovery_time_s": None})).level == "warning"


def test_a_recovery() -> None:
    """Only a precise recovery in time is good; what came twice is said."""
    precise = Recovery(
        kind="precise",
        explanation="nothing missing, nothing twice",
        faults=1,
        times_s=(3.0,),
        latency_s={"orders": LatencySummary(count=0)},
    )
    assert findings.recovery_finding(precise).level == "good"
    twice = precise.model_copy(update={"kind": "rollback", "explanation": "of the answers 5 came twice"})
    assert findings.recovery_finding(twice).level == "warning"
    assert "of the class rollback: of the answers 5 came twice." in findings.recovery_finding(twice).sentence
    late = findings.recovery_finding(precise.model_copy(update={"times_s": (None,)}))
    assert (late.level, "1 time it did not catch up" in late.sentence) == ("warning", True)
