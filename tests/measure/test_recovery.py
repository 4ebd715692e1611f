"""Recovery after faults: its class by what the engine delivered, and when it had caught up."""

from pathlib import Path

import numpy as np
import pytest

from pairs.measure.recorded_files import Throughput
from pairs.measure.recovery import recovery_kind, recovery_time_s
from pairs.run_folder.records import ValidationRecord
from tests.report.runs import golden_run


def test_recovery_is_when_the_backlog_is_gone() -> None:
    """Killed at 20.5 s, back at 30 s, it has caught up when no more than a second of input is left."""
    seconds = np.arange(60)
    produced = seconds * 100
    consumed = np.where(seconds <= 20, produced - 20, 1_980)
    consumed[30:] = np.minimum(1_980 + 300 * (np.arange(30) + 1), produced[30:] - 20)
    noted = Throughput(seconds * 1_000_000, produced, consumed)
    cut_off = Throughput(noted.time_us[:32], produced[:32], consumed[:32])
    assert recovery_time_s(noted, 20_500_000) == pytest.approx(13.5)
    assert recovery_time_s(cut_off, 20_500_000) is None
    assert recovery_time_s(noted, 100_000) is None  # nothing is known of before


def test_an_engine_that_stalls_later_has_not_caught_up_yet() -> None:
    """A worker dies at 20.5 s, what is under way ends at 21 s, then nothing until 27 s; or a fault is first."""
    seconds = np.arange(60)
    produced = seconds * 100
    consumed = np.where(seconds <= 21, produced - 20, np.where(seconds <= 27, 2_080, produced - 20))
    noted = Throughput(seconds * 1_000_000, produced, consumed)
    assert recovery_time_s(noted, 20_500_000) == pytest.approx(7.5)
    assert recovery_time_s(noted, 20_500_000, next_us=21_500_000) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("counts", "kind", "explanation"),
    [
        ({}, "precise", "nothing missing, nothing twice"),
        (
            {"undue": 2, "duplicates": 2},
            "rollback",
            "of the answers 2 came twice, of which the sink dropped 0",
        ),
        ({"repeated": 3}, "rollback", "of the answers 3 came twice, of which the sink dropped 3"),
        ({"missing": 1}, "gap", "of the answers 1 never came"),
        (
            {"missing": 1, "undue": 2, "duplicates": 2, "repeated": 5},
            "gap",
            "of the answers 1 never came, 7 came twice, of which the sink dropped 5",
        ),
        ({"wrong": 1}, "none", "of the answers 1 came wrong"),
        ({"undue": 4}, "none", "of the answers 4 came without being due"),
    ],
)
def test_classes_of_recovery(tmp_path: Path, counts: dict[str, int], kind: str, explanation: str) -> None:
    """Nothing missing and nothing twice is precise; twice is rollback, also what the sink dropped; missing is a gap."""
    validation = ValidationRecord.read(golden_run(tmp_path).validation_file)
    orders = validation.streams["orders"].model_copy(update=counts)
    changed = validation.model_copy(update={"streams": validation.streams | {"orders": orders}})
    assert recovery_kind(changed) == (kind, explanation)
