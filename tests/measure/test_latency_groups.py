"""Latency by group: the orders of each period, pair and strategy, and no percentile that they are too few for."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.measure.latency_groups import latency_groups
from pairs.measure.recordings import read_run
from pairs.measure.reduce import percentile
from pairs.model.streams import ORDERS
from pairs.run_folder.folder import Run
from tests.report.runs import change_manifest, golden_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def test_every_order_is_in_a_group(run: Run) -> None:
    """The groups of each kind hold all orders of the measurement interval, and the worst of them."""
    recorded = read_run(run)
    measured, groups = recorded.measured(ORDERS), latency_groups(recorded)
    for found in (groups.by_period, groups.by_pair, groups.by_strategy):
        assert sum(group.orders for group in found) == len(measured)
        assert max(group.max_s for group in found) == measured.latency_s.max()
    assert [group.group for group in groups.by_period] == sorted(group.group for group in groups.by_period)
    for found in (groups.by_pair, groups.by_strategy):
        worst = [group.max_s for group in found]
        assert worst == sorted(worst, reverse=True)


def test_the_figures_of_a_strategy(run: Run) -> None:
    """Count, median and maximum are those of its orders; a 99th percentile needs a hundred."""
    recorded = read_run(run)
    answers, timed = recorded.answers[ORDERS.name], recorded.timed(ORDERS)
    assert timed is not None
    group = latency_groups(recorded).by_strategy[0]
    own = timed.latency_s[
        recorded.inside(timed.tick_ts) & (answers.strategy == answers.strategies.index(str(group.group)))
    ]
    assert (group.orders, group.p50_s, group.max_s) == (len(own), percentile(own, 0.5), own.max())
    assert group.p99_s is None


def test_a_percentile_of_a_hundred_orders(run: Run) -> None:
    """It is given from there on."""
    table = pq.read_table(run.answers_file("orders"))
    pq.write_table(pa.concat_tables([table] * 20), run.answers_file("orders"))
    recorded = read_run(run)
    for group in latency_groups(recorded).by_period:
        assert (group.p99_s is None) == (group.orders < 100)
    assert any(group.p99_s is not None for group in latency_groups(recorded).by_period)


def test_strategies_that_are_not_known(run: Run) -> None:
    """They have latencies, but neither a period nor a pair."""
    run.strategies_file.unlink()
    groups = latency_groups(read_run(run))
    assert (groups.by_period, groups.by_pair, groups.strategies) == ([], [], {})
    assert np.sum([group.orders for group in groups.by_strategy]) == len(read_run(run).measured(ORDERS))


def test_no_latency(run: Run) -> None:
    """An unpaced run and a run without orders have no groups."""
    run.answers_file("orders").unlink()
    assert latency_groups(read_run(run)).by_strategy == []
    change_manifest(run, start_us=None)
    assert latency_groups(read_run(run)).by_strategy == []
