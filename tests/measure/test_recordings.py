"""What a run recorded is read as it is; what is missing, cut off or broken is not known, and nothing else."""

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.measure.recordings import read_run
from pairs.measure.score import score_run
from pairs.model.streams import ORDERS
from pairs.run_folder.folder import Run
from tests.report.runs import SPEED, START_US, change_manifest, golden_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def test_latency_counts_from_the_scheduled_time(run: Run) -> None:
    """What the sink saw minus start + tickTS / speed; the driver's send delay is kept apart."""
    recorded = read_run(run)
    orders, timed = recorded.answers[ORDERS.name], recorded.timed(ORDERS)
    assert timed is not None
    assert timed.delay_s is not None
    due = START_US + np.rint(orders.tick_ts * (1000 / SPEED))
    assert (timed.latency_s == (orders.sink_us - due) / 1e6).all()
    assert set(timed.delay_s.tolist()) == {0.0008}
    assert timed.from_send_time is not None
    assert (timed.from_send_time.latency_s == timed.latency_s - 0.0008).all()


def test_a_cut_off_line_is_left_out(run: Run) -> None:
    """An engine that died left half a line; all others count."""
    recorded = read_run(run)
    assert (len(recorded.batches), len(recorded.heaps)) == (20, 20)
    first = recorded.batches[0]
    assert (first.total_ms, first.parts_ms) == (60.0, {"addBatch": 40.0, "walCommit": 8.0})
    assert recorded.engine_settings == {"spark.example": "7"}


def test_an_unpaced_run_has_no_latency(run: Run) -> None:
    """There was no time at which ticks were due."""
    change_manifest(run, start_us=None)
    recorded = read_run(run)
    assert recorded.speed is None
    assert recorded.timed(ORDERS) is None
    assert len(recorded.measured(ORDERS)) == 0
    assert recorded.origin_us == START_US - 1_000_000  # the first thing that was noted


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("score.json", "score"),
        ("validation.json", "validation"),
        ("resources.parquet", "resources"),
        ("machine.parquet", "machine"),
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
    """The stream is not known; the other is."""
    file = run.answers_file(stream)
    file.unlink() if content is None else file.write_bytes(content)
    assert {"indicators", "orders"} - read_run(run).answers.keys() == {stream}


def test_a_driver_without_slots(run: Run) -> None:
    """The send delay of all ticks together is known, that of single ticks is not."""
    run.send_delay_file(0).unlink()
    recorded = read_run(run)
    timed = recorded.timed(ORDERS)
    assert recorded.every_driver_recorded
    assert timed is not None
    assert timed.delay_s is None


@pytest.mark.parametrize(
    ("name", "column", "values"),
    [
        ("throughput.parquet", "produced", pa.array(["many"] * 12)),
        ("throughput.parquet", "produced", pa.nulls(12, pa.int64())),
        ("throughput.parquet", "time", pa.array([2**62] * 12)),
        ("resources.parquet", "part", pa.nulls(48, pa.string())),
        ("machine.parquet", "outside_seconds", pa.array([float("inf")] * 12)),
    ],
)
def test_columns_of_impossible_values_are_not_known(run: Run, name: str, column: str, values: pa.Array) -> None:
    """Another type, nothing where a number must be, infinity: the file counts as broken, and the run is read."""
    table = pq.read_table(run.path / name)
    pq.write_table(table.set_column(table.column_names.index(column), column, values), run.path / name)
    assert getattr(read_run(run), name.removesuffix(".parquet")) is None


def test_slots_that_no_run_has_are_not_known(run: Run) -> None:
    """A slot before the start or years after it: the delay of single ticks is not known, that of seconds is."""
    for slot in (-1, 2**40):
        pq.write_table(pa.table({"slot": [slot], "delay_us": [1]}), run.send_delay_file(0))
        (driver,) = read_run(run).drivers
        assert driver.by_slot is None
        assert len(driver.seconds) == 10


def test_numbers_that_are_too_large_do_not_make_a_record_of_a_driver(run: Run) -> None:
    """It counts as missing."""
    run.driver_file(0).write_text(run.driver_file(0).read_text().replace('"step_us": 10', f'"step_us": {2**64}'))
    assert read_run(run).drivers == []


def test_an_answer_to_any_time_can_be_scored(run: Run) -> None:
    """An engine may answer to a tick at the end of all numbers: it is undue, and no warning of numpy appears."""
    orders = pq.read_table(run.answers_file("orders"))
    ticks = pa.array([2**63 - 1, -(2**63), *orders["inputTickTS"].to_pylist()[2:]])
    place = orders.column_names.index("inputTickTS")
    pq.write_table(orders.set_column(place, "inputTickTS", ticks), run.answers_file("orders"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = score_run(read_run(run))
    assert score.orders > 0
