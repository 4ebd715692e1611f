"""Rates and backlog of a run, what it cost, and whether it was sustained."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.measure.recordings import read_run
from pairs.measure.resources import cores_used, cost
from pairs.measure.stability import unsustained
from pairs.measure.throughput import Backlog, backlog, backlog_of, rate_summaries, rates_over_time
from pairs.run_folder.folder import Run
from tests.report.runs import START_US, TICKS, change_market, change_score, golden_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def test_a_growing_backlog() -> None:
    """An engine that falls behind did not sustain the load."""
    times = np.arange(0.0, 100.0)
    found = backlog(times, (times * 1_000).astype(int), 25, 75, per_second=5_000)
    assert found is not None
    assert found.worst_s == pytest.approx(99 / 5)
    assert found.growing


def test_a_steady_backlog() -> None:
    """One batch is always waiting; that is no backlog."""
    found = backlog(np.arange(0.0, 100.0), np.full(100, 900), 25, 75, per_second=5_000)
    assert found == Backlog(0.18, 0.18, 0.18, 0.18)
    assert not found.growing


def test_a_backlog_that_was_not_noted(run: Run) -> None:
    """Unknown is unknown."""
    assert backlog(np.array([1.0]), np.array([5]), 25, 75, 5_000) is None
    run.throughput_file.unlink()
    assert backlog_of(read_run(run)) is None


def test_rates(run: Run) -> None:
    """Planned, produced and consumed; of imported trades nothing was planned; by the drivers' records if need be."""
    assert list(rates_over_time(read_run(run))) == ["planned", "produced", "consumed"]
    change_market(run, trades_by_symbol={"A": 1})
    assert list(rates_over_time(read_run(run))) == ["produced", "consumed"]
    run.throughput_file.unlink()
    seconds, rates = rates_over_time(read_run(run))["produced"]
    assert len(seconds) == 10
    assert rates == pytest.approx(np.full(10, 2_667.0))
    run.driver_file(0).unlink()
    assert rates_over_time(read_run(run)) == {}


def test_rates_in_the_measurement_interval(run: Run) -> None:
    """The ticks of a second are those of the running total; answers are counted as they arrived."""
    found = {rate.name: rate for rate in rate_summaries(read_run(run))}
    assert list(found) == ["ticks produced", "ticks consumed", "indicators received", "orders received"]
    assert found["ticks produced"].mean == pytest.approx(TICKS / 11, rel=0.01)


def test_what_a_run_cost(run: Run) -> None:
    """Cores by all processes, and CPU time of the engine alone for a million ticks; unknown without samples."""
    recorded = read_run(run)
    cores, spent = cores_used(recorded), cost(recorded)
    assert cores is not None
    assert spent is not None
    assert 0 < spent < cores * 11 / TICKS * 1e6
    run.resources_file.unlink()
    assert (cores_used(read_run(run)), cost(read_run(run))) == (None, None)


def test_a_sustained_run(run: Run) -> None:
    """Its latency is below the limit and did not grow, nor did its backlog."""
    assert unsustained(read_run(run), limit_s=1.0) == []
    change_score(run, p99=2.5)
    assert unsustained(read_run(run), limit_s=1.0) == ["p99 is 2.50 s"]


def test_an_overloaded_run(run: Run) -> None:
    """Both its latency and its backlog grew."""
    orders = pq.read_table(run.answers_file("orders"))
    tick_ts = orders["inputTickTS"].to_numpy()
    sink = orders["inputTS"].to_numpy() + tick_ts  # a microsecond later for every millisecond of simulated time
    run.write_parquet(run.answers_file("orders"), orders.set_column(orders.num_columns - 1, "sinkTS", [sink]))
    quarters = np.arange(0, 44)  # of seconds
    produced = quarters * 1_875
    noted = {"time": START_US + quarters * 250_000, "produced": produced, "consumed": produced // 10}
    run.write_parquet(run.throughput_file, pa.table(noted))
    reasons = unsustained(read_run(run), limit_s=1.0)
    assert [reason.split(" ")[0] for reason in reasons] == ["latency", "the"]
