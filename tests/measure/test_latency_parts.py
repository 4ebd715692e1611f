"""Where latency goes: the parts of every answer add up to its latency, whatever was recorded of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from pairs.measure.latency_parts import (
    BATCH,
    SENDING,
    WAITING,
    WAY,
    LatencyParts,
    latency_parts,
    mean_over_time,
    shares_of_slowest,
    where_it_goes,
)
from pairs.measure.recordings import Recorded, read_run
from pairs.model.streams import ORDERS, STREAMS
from pairs.run_folder.folder import Run
from tests.report.runs import START_US, change_manifest, golden_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def write_batches(run: Run, *batches: dict[str, int]) -> None:
    """Let the engine have told of batches, times in us since the first tick was due."""
    told = {"kind": "batch", "rows": 1, "duration_ms": {"total": 1}}
    lines = [told | {moment: START_US + since for moment, since in batch.items()} for batch in batches]
    run.progress_file.write_text("\n".join(map(json.dumps, lines)))


def parts_of(recorded: Recorded) -> LatencyParts:
    """Return the parts of the orders, which there must be."""
    found = latency_parts(recorded, ORDERS)
    assert found is not None
    return found


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("lost", ["nothing", "progress.jsonl", "driver-0.json", "driver-0.parquet"])
def test_the_parts_add_up(run: Run, stream: str, lost: str) -> None:
    """To the microsecond for every answer, and none is negative, also where something was not recorded."""
    if lost != "nothing":
        (run.path / lost).unlink()
    found = latency_parts(read_run(run), STREAMS[stream])
    assert found is not None
    assert np.sum(list(found.parts_us.values()), axis=0) / 1e6 == pytest.approx(found.timed.latency_s, abs=1e-9)
    assert all((values >= 0).all() for values in found.parts_us.values())
    assert (lost == "nothing") == (found.not_recorded == ())


def test_the_moments_of_an_answer(run: Run) -> None:
    """Its batch is the last that began before it arrived; moments that are out of order are put into order."""
    answers = read_run(run).answers[ORDERS.name]
    arrived = int(answers.sink_us[0]) - START_US
    write_batches(run, {"time": 0, "handed": 1}, {"time": arrived - 900, "handed": arrived - 200}, {"time": arrived})
    found = parts_of(read_run(run))
    latency = round(float(found.timed.latency_s[0]) * 1e6)
    expected = {SENDING: 800, WAITING: latency - 800 - 900, BATCH: 700, WAY: 200}
    assert {part: values[0] for part, values in found.parts_us.items()} == expected
    write_batches(run, {"time": 0, "handed": arrived + 5})
    assert [values[0] for values in parts_of(read_run(run)).parts_us.values()] == [800, 0, latency - 800, 0]


@pytest.mark.parametrize(
    ("lost", "parts"),
    [
        (["progress.jsonl"], [SENDING, "engine and way to the sink"]),
        (["driver-0.parquet"], [f"{SENDING} and {WAITING}", BATCH, WAY]),
        (["driver-0.parquet", "progress.jsonl"], [f"{SENDING}, engine and way to the sink"]),
    ],
)
def test_what_is_not_recorded_is_joined_with_what_follows(run: Run, lost: list[str], parts: list[str]) -> None:
    """And it is said to be not recorded."""
    for name in lost:
        (run.path / name).unlink()
    recorded = read_run(run)
    assert list(parts_of(recorded).parts_us) == parts
    assert "Not recorded: when " in (where_it_goes(recorded) or "")


def test_an_engine_that_does_not_tell_when_it_hands_over(run: Run) -> None:
    """Batch and way to the sink are one."""
    write_batches(run, {"time": 0}, {"time": 500_000})
    found = parts_of(read_run(run))
    assert list(found.parts_us) == [SENDING, WAITING, f"{BATCH} and {WAY}"]
    assert found.not_recorded == ("when the engine handed answers to the sink",)


def test_the_mean_of_slots_of_time(run: Run) -> None:
    """Weighted by the orders of each slot, the means are those of all orders."""
    recorded = read_run(run)
    found = parts_of(recorded)
    times, means = mean_over_time(recorded, found)
    assert all(len(values) == len(times) for values in means.values())
    assert (np.diff(times) > 0).all()
    total = np.sum(list(means.values()), axis=0)
    assert found.timed.latency_s.min() * 1000 <= total.min() <= total.max() <= found.timed.latency_s.max() * 1000


def test_the_sentence(run: Run) -> None:
    """Shares of the slowest hundredth of the orders in the measurement interval, the greatest first."""
    recorded = read_run(run)
    found = shares_of_slowest(recorded, parts_of(recorded))
    assert found is not None
    p99_s, shares = found
    assert sum(shares.values()) == pytest.approx(1)
    assert p99_s == recorded.score.p99 if recorded.score else False
    greatest = max(shares, key=lambda part: shares[part])
    said = where_it_goes(recorded)
    assert said is not None
    assert said.startswith(f"{shares[greatest]:.0%} of p99 ({p99_s * 1000:,.1f} ms) is {greatest}, ")
    assert said.endswith(", by the mean of the slowest hundredth of the orders.")


def test_an_unpaced_run(run: Run) -> None:
    """No latency, no parts, no sentence."""
    change_manifest(run, start_us=None)
    recorded = read_run(run)
    assert latency_parts(recorded, ORDERS) is None
    assert where_it_goes(recorded) is None
