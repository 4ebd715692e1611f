"""The phases of a run one by one: rates, latency and backlog of each, from what was recorded."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pairs.config.phases import Phase, PhaseRate
from pairs.measure.phases import Span, by_phase, spans
from pairs.measure.recordings import read_run
from pairs.measure.reduce import percentile
from pairs.model.streams import ORDERS
from pairs.run_folder.folder import Run
from tests.report.runs import DURATION_MS, SPEED, START_US, TICKS, change_manifest, change_market, golden_run

PHASES = (
    Phase("open", 180_000, PhaseRate(Fraction(2), is_share=True)),
    Phase("halt", 360_000, PhaseRate(Fraction(0))),
    Phase("rest", DURATION_MS, PhaseRate(Fraction(30))),
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a run of ten seconds with phases of 2, 2 and 6 seconds, in which ticks and backlog are known."""
    run = golden_run(tmp_path, phases=PHASES)
    change_manifest(run, phases_ms={"open": 0, "halt": 180_000, "rest": 360_000})
    seconds = np.arange(0, 11)
    produced = np.interp(seconds, [0, 2, 4, 10], [0, 30_000, 30_000, 45_000]).astype(np.int64)
    behind = np.array([0, 900, 100, 300, 0, 50, 60, 70, 3_000, 20, 0])
    noted = {"time": START_US + seconds * 1_000_000, "produced": produced, "consumed": produced - behind}
    run.write_parquet(run.throughput_file, pa.table(noted))
    return run


def test_rates_and_backlog_of_each_phase(run: Run) -> None:
    """Planned from the profile, produced from the running total; backlog in ticks and in seconds at the basis rate."""
    found = by_phase(read_run(run))
    assert [phase.span for phase in found] == [
        Span("open", 0, 180_000),
        Span("halt", 180_000, 360_000),
        Span("rest", 360_000, 900_000),
    ]
    basis = 250 / 3 * SPEED
    assert [phase.planned_per_s for phase in found] == pytest.approx([2 * basis, 0, 30 * SPEED])
    assert [phase.produced_per_s for phase in found] == pytest.approx([15_000, 0, 2_500])
    assert [phase.backlog_ticks for phase in found] == [900, 300, 3_000]
    assert [phase.backlog_s for phase in found] == pytest.approx([900 / basis, 300 / basis, 3_000 / basis])


def test_latency_of_the_orders_due_in_each_phase(run: Run) -> None:
    """An order belongs to the phase of its trigger, those at the bell to the last; none is left out."""
    recorded = read_run(run)
    timed, found = recorded.timed(ORDERS), by_phase(recorded)
    assert timed is not None
    due = [timed.tick_ts < 180_000, (timed.tick_ts >= 180_000) & (timed.tick_ts < 360_000), timed.tick_ts >= 360_000]
    assert [phase.orders.count for phase in found] == [int(inside.sum()) for inside in due]
    assert sum(phase.orders.count for phase in found) == len(timed)
    last = timed.latency_s[due[-1]]
    assert (found[-1].orders.p50, found[-1].orders.p99) == (percentile(last, 0.5), percentile(last, 0.99))


def test_the_phases_of_the_benchmark(tmp_path: Path) -> None:
    """Of a ramp-up from zero the mean is planned; by the drivers' own records if need be."""
    run = golden_run(tmp_path)
    found = {phase.span.name: phase for phase in by_phase(read_run(run))}
    assert list(found) == ["ramp-up", "warm-up", "measurement", "cool-down"]
    assert found["ramp-up"].planned_per_s == pytest.approx(0.75 * 250 / 3 * SPEED)
    assert found["measurement"].planned_per_s == pytest.approx(1.25 * 250 / 3 * SPEED)
    assert found["measurement"].produced_per_s == pytest.approx(TICKS / 11, rel=0.01)
    run.throughput_file.unlink()
    by_drivers = {phase.span.name: phase for phase in by_phase(read_run(run))}
    assert by_drivers["measurement"].produced_per_s == pytest.approx(2_667)
    assert by_drivers["measurement"].backlog_ticks is None


def test_a_run_that_ended_early(run: Run) -> None:
    """A phase counts as far as it was recorded; one that was never reached is not known."""
    seconds = np.array([0, 1, 2, 3])
    noted = {"time": START_US + seconds * 1_000_000, "produced": seconds * 1_000, "consumed": seconds * 0}
    run.write_parquet(run.throughput_file, pa.table(noted))
    found = by_phase(read_run(run))
    assert [phase.produced_per_s for phase in found] == [1_000, 1_000, None]
    assert [phase.backlog_ticks for phase in found] == [1_000, 3_000, None]


def test_notes_of_neighbours_do_not_count(run: Run) -> None:
    """A halt has produced nothing, though the ticks before it were noted late; one note alone gives no rate."""
    seconds = np.array([0.3, 1.3, 2.3, 3.3, 4.3])
    times = START_US + (seconds * 1e6).astype(np.int64)
    produced = np.array([4_500, 19_500, 30_000, 30_000, 31_000])
    run.write_parquet(run.throughput_file, pa.table({"time": times, "produced": produced, "consumed": produced}))
    assert [phase.produced_per_s for phase in by_phase(read_run(run))] == [pytest.approx(15_000), 0, None]


def test_what_is_not_known(run: Run) -> None:
    """Nothing was planned for real trades; an unpaced run has no phases; without records there is no rate."""
    change_market(run, trades_by_symbol={"A": 1})
    run.throughput_file.unlink()
    run.driver_file(0).unlink()
    run.answers_file("orders").unlink()
    for phase in by_phase(read_run(run)):
        assert (phase.planned_per_s, phase.produced_per_s, phase.backlog_s, phase.orders.count) == (None, None, None, 0)
    change_manifest(run, start_us=None)
    assert by_phase(read_run(run)) == []


def test_each_phase_ends_where_the_next_begins() -> None:
    """The last ends with the day; without phases there is none."""
    assert spans({"a": 0, "b": 5}, 9) == [Span("a", 0, 5), Span("b", 5, 9)]
    assert spans({}, 9) == []
