"""The score reproduces the published scores, and does not count where it must not."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.config.workload import complete
from pairs.core.errors import BadInputError
from pairs.measure.recordings import read_run
from pairs.measure.score import Measured, load, matches_of, p_score, score_run, void_reasons
from pairs.model.strategy import Strategy
from tests.report.runs import TICKS, change_manifest, change_market, golden_run

# Scale factor, 99th percentile in ms, p_score: the published results of two engines.
PUBLISHED = [
    (1, 63, 47.62),
    (2, 175, 34.29),
    (3, 203, 44.33),
    (4, 351, 34.19),
    (5, 91_862, 0.16),
    (1, 22, 136.36),
    (2, 24, 250.00),
]
GOOD = Measured(passed=True, ticks=100, ticks_sent=100, delay_p99_s=0.001, p99_s=0.2)


def standard_load(scale_factor: int) -> float:
    """Return the load of a standard workload; half the symbols are watched, so a tick concerns 2 S / N strategies."""
    workload = complete({"scale_factor": scale_factor})
    return load(float(workload.basis_rate), workload.strategies, 2 * workload.strategies / workload.symbols)


@pytest.mark.parametrize(("scale_factor", "expected"), [(1, 3), (2, 6), (4, 12), (10, 30), (11, 44), (100, 1_200)])
def test_the_load_of_scale_factors(scale_factor: int, expected: float) -> None:
    """The load of the standard scale factors is that of the specification."""
    assert standard_load(scale_factor) == pytest.approx(expected)


@given(st.integers(1, 3_000))
def test_the_load_has_a_closed_form(scale_factor: int) -> None:
    """The published formula, which knows only the scale factor, gives the same."""
    markets = math.ceil(scale_factor / 10)
    closed = scale_factor * markets + 2 * (10 * (markets - 1) + (scale_factor - 1) % 10 + 1)
    assert standard_load(scale_factor) == pytest.approx(closed)


def test_ticks_of_symbols_that_trade_more_often_concern_more_strategies() -> None:
    """In generated markets all symbols trade alike; in imported markets each counts as often as it trades."""
    strategy = Strategy("st_1", None, 1, "A", "B", 1, 2, 1.0, 0.1)
    assert matches_of([strategy], 4, None) == 0.5
    assert matches_of([strategy], 4, {"A": 6, "B": 1, "C": 2, "D": 1}) == 0.7


@pytest.mark.parametrize(("scale_factor", "p99_ms", "expected"), PUBLISHED)
def test_published_scores(scale_factor: int, p99_ms: int, expected: float) -> None:
    """The scores of the engines X and Y follow from their latencies."""
    assert round(p_score(standard_load(scale_factor), p99_ms / 1000) or 0, 2) == expected


@pytest.mark.parametrize("p99_s", [None, 0.0, -0.1])
def test_no_score_without_latency(p99_s: float | None) -> None:
    """There is no number where there is nothing to divide by."""
    assert p_score(3.0, p99_s) is None


def test_a_good_run_counts() -> None:
    """There is no reason against it."""
    assert void_reasons(GOOD) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"passed": False}, "validation FAILED"),
        ({"ticks_sent": 99}, "99 of 100 ticks were sent"),
        (
            {"delay_p99_s": 0.0201},
            "the driver's send delay was 20.1 ms at the 99th percentile, 20.0 ms are allowed",
        ),
        ({"delay_p99_s": None}, "a driver did not record its send delay"),
        ({"p99_s": None}, "no order was triggered in the measurement interval"),
        ({"p99_s": -0.1}, "latencies are not above zero, so the clocks cannot be trusted"),
        ({"paced": False}, "the run was unpaced"),
        ({"failures": ("the engine ended with exit code 1",)}, "the engine ended with exit code 1"),
    ],
)
def test_what_makes_a_score_void(change: dict[str, object], reason: str) -> None:
    """Each of them alone, with its reason."""
    assert void_reasons(replace(GOOD, **change)) == [reason]  # type: ignore[arg-type]


def test_a_send_delay_of_a_tenth_or_of_ten_milliseconds_is_allowed() -> None:
    """Whichever is more."""
    fast = replace(GOOD, p99_s=0.02)
    assert not void_reasons(replace(fast, delay_p99_s=0.010))
    assert void_reasons(replace(fast, delay_p99_s=0.0101))
    assert not void_reasons(replace(GOOD, delay_p99_s=0.02))


def test_all_reasons_are_given() -> None:
    """A run that fails in two ways says both."""
    assert len(void_reasons(replace(GOOD, passed=False, ticks_sent=1))) == 2


def test_the_score_of_a_run(tmp_path: Path) -> None:
    """Load over the 99th percentile of the orders in the measurement interval, with all that it was computed from."""
    recorded = read_run(golden_run(tmp_path))
    found = score_run(recorded)
    assert recorded.strategies is not None
    strategies = len(recorded.strategies.strategies)
    assert found.load == pytest.approx(load(250 / 3 * 90, strategies, 2 * strategies / 12))
    assert found.p99 == found.latency_s["orders"].p99
    assert found.p_score == pytest.approx(found.load / (found.p99 or 0))
    assert (found.valid, found.reasons) == (True, ())
    assert (found.standard, found.nonstandard) == (False, ("duration", "speed"))
    assert found.send_delay is not None
    assert (found.send_delay.ticks, found.send_delay.p50_s, found.send_delay.max_s) == (TICKS, 0.00011, 0.00091)
    assert found == recorded.score


def test_a_run_that_was_not_validated(tmp_path: Path) -> None:
    """It is refused, with what to do."""
    run = golden_run(tmp_path)
    run.validation_file.unlink()
    with pytest.raises(BadInputError, match="not validated yet; call 'pairs validate"):
        score_run(read_run(run))


def test_a_run_on_a_dataset_made_by_hand(tmp_path: Path) -> None:
    """Nothing is known of its load, so there is no score."""
    run = golden_run(tmp_path)
    change_manifest(run, dataset_manifest=None)
    found = score_run(read_run(run))
    assert (found.load, found.nonstandard) == (0.0, ("no dataset.json", "speed"))
    assert found.reasons == ("the dataset has no dataset.json, so its load is not known",)


def test_a_run_that_did_not_come_to_its_end(tmp_path: Path) -> None:
    """Its reason is among those that make the score void."""
    run = golden_run(tmp_path)
    change_manifest(run, state="failed", reason="the disk is full")
    assert score_run(read_run(run)).reasons == ("the run did not come to its end: the disk is full",)


def test_a_burst_is_part_of_the_score(tmp_path: Path) -> None:
    """Where the market has a burst, score.json says how the engine took it."""
    run = golden_run(tmp_path, curve="burst")
    assert score_run(read_run(run)).adaptivity is not None
    change_market(run, parameters={"scale_factor": 1})
    assert score_run(read_run(run)).adaptivity is None
