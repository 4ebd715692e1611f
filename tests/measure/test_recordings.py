"""What a run recorded is read as it is; what is missing, cut off or broken is not known, and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from pairs.measure.recordings import read_run
from pairs.run_folder.folder import Run
from tests.report.runs import SPEED, START_US, change_facts, golden_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def test_latency_counts_from_the_scheduled_time(run: Run) -> None:
    """What the sink saw minus start + tickTS / speed; the driver's lateness is kept apart."""
    orders = read_run(run).answers["orders"]
    assert orders is not None
    assert orders.due_us is not None
    assert orders.late_s is not None
    due = START_US + np.rint(orders.tick_ts * (1000 / SPEED))
    assert (orders.latency_s == (orders.sink_us - due) / 1e6).all()
    assert set(orders.late_s.tolist()) == {0.0008}


def test_a_cut_off_line_is_left_out(run: Run) -> None:
    """An engine that died left half a line; all others count."""
    recorded = read_run(run)
    assert (len(recorded.batches), len(recorded.heaps)) == (20, 20)
    first = recorded.batches[0]
    assert (first.total_ms, first.parts_ms) == (60.0, {"addBatch": 40.0, "walCommit": 8.0})


def test_an_unpaced_run_has_no_latency(run: Run) -> None:
    """There was no time at which ticks were due."""
    change_facts(run, start_us=None)
    recorded = read_run(run)
    assert recorded.speed is None
    assert len(recorded.measured("orders")[1]) == 0
    assert recorded.origin_us == START_US - 1_000_000  # the first thing that was noted


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("score.json", "score"),
        ("validation.json", "validation"),
        ("resources.parquet", "resources"),
        ("throughput.parquet", "throughput"),
        ("progress.jsonl", "batches"),
        ("driver-0.json", "drivers"),
    ],
)
@pytest.mark.parametrize("content", [None, b"", b"not what it should be", b"{}", b"\xff\xfe[]"])
def test_what_is_missing_or_broken_is_not_known(run: Run, name: str, attribute: str, content: bytes | None) -> None:
    """None or nothing, never an error."""
    file = run.path / name
    file.unlink() if content is None else file.write_bytes(content)
    assert not getattr(read_run(run), attribute)


@pytest.mark.parametrize("stream", ["indicators", "orders"])
@pytest.mark.parametrize("content", [None, b"", b"PAR1"])
def test_answers_that_cannot_be_read(run: Run, stream: str, content: bytes | None) -> None:
    """The stream is not known; the other one is."""
    file = run.answers_file(stream)
    file.unlink() if content is None else file.write_bytes(content)
    answers = read_run(run).answers
    assert [one for one, found in answers.items() if found is None] == [stream]


def test_a_driver_without_slots(run: Run) -> None:
    """Lateness on the whole is known, that of single ticks is not."""
    run.send_delay_file(0).unlink()
    recorded = read_run(run)
    assert len(recorded.drivers) == 1
    assert recorded.answers["orders"] is not None
    assert recorded.answers["orders"].late_s is None
