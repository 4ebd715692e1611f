"""The score reproduces the published scores, and does not count where it must not."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.config.run_settings import RunSettings
from pairs.config.workload import complete
from pairs.core.errors import BadInputError
from pairs.measure.recordings import read_run
from pairs.measure.score import p_score, score_run
from pairs.model.load import load, matches_of
from pairs.model.strategy import Strategy
from pairs.model.streams import SCORED
from pairs.run_folder.folder import Run
from tests.report.runs import SETTINGS, TICKS, change_manifest, change_market, change_settings, golden_run

ROOT = Path(__file__).parents[2]

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
STRANGE = ("duration", "basis_rate", "symbols", "correlations", "speed")  # of the golden run


def standard_load(scale_factor: int) -> float:
    """Return the load of a standard workload; half the symbols are watched, so a tick concerns 2 S / N strategies."""
    workload = complete({"scale_factor": scale_factor})
    return load(float(workload.basis_rate), workload.strategies, 2 * workload.strategies / workload.symbols)


@pytest.mark.parametrize(("scale_factor", "expected"), [(1, 3), (2, 6), (4, 12), (10, 30), (11, 44), (100, 1_200)])
def test_the_load_of_scale_factors(scale_factor: int, expected: float) -> None:
    """The load of the standard scale factors is that of the specification."""
    assert standard_load(scale_factor) == pytest.approx(expected)


def test_the_specification_shows_loads_as_they_are() -> None:
    """Its table has the load of five scale factors with all that it is computed from."""
    lines = (ROOT / "docs" / "specification.md").read_text().partition("| SF | X | S | N | Smatch | load |")[2]
    rows = [line.strip("| ").replace(",", "").split(" | ") for line in lines.partition("\n\n")[0].splitlines()[2:]]
    assert [row[0] for row in rows] == ["1", "2", "4", "10", "100"]
    for scale_factor, *shown in rows:
        made = complete({"scale_factor": int(scale_factor)})
        matches = 2 * made.strategies / made.symbols
        found = (float(made.basis_rate), made.strategies, made.symbols, matches, standard_load(int(scale_factor)))
        assert found == pytest.approx([float(value) for value in shown])


@given(st.integers(1, 3_000))
def test_the_load_has_a_closed_form(scale_factor: int) -> None:
    """The published formula, which knows only the scale factor, gives the same; and it is SF (M + 2)."""
    markets = math.ceil(scale_factor / 10)
    closed = scale_factor * markets + 2 * (10 * (markets - 1) + (scale_factor - 1) % 10 + 1)
    assert standard_load(scale_factor) == pytest.approx(closed)
    assert closed == scale_factor * (markets + 2)


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


def test_the_score_of_a_run(tmp_path: Path) -> None:
    """Load over the 99th percentile of the orders in the measurement interval, with all that it was computed from."""
    recorded = read_run(golden_run(tmp_path))
    found = score_run(recorded)
    assert recorded.strategies is not None
    strategies = len(recorded.strategies.strategies)
    assert found.load == pytest.approx(load(250 / 3 * 90, strategies, 2 * strategies / 12))
    assert found.p99 == found.latency_s["orders"].p99
    assert found.p_score == pytest.approx(found.load / (found.p99 or 0))
    orders = recorded.measured(SCORED)
    assert (found.orders, found.triggers) == (len(orders), len(set(orders.tick_ts.tolist())))
    assert found.p99_interval is not None
    assert found.p99 is not None
    assert found.p99_interval[0] <= found.p99 <= found.p99_interval[1]
    assert found.p_score_interval == pytest.approx(tuple(found.load / end for end in reversed(found.p99_interval)))
    assert not found.valid
    assert found.reasons == (
        f"a 99th percentile needs 100 orders in the measurement interval, the run has {found.orders}",
        f"the measurement interval has {found.orders} orders of {found.triggers} triggers, 100 triggers are needed",
        "the measurement interval takes 5 s of wall time, 20 s are needed; give a lower --speed",
    )
    assert (found.standard, found.nonstandard) == (False, STRANGE)
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
    change_manifest(run, dataset_manifest=None, load=0.0)
    found = score_run(read_run(run))
    assert (found.load, found.p_score, found.nonstandard) == (0.0, 0.0, ("no dataset.json",))
    assert found.reasons[0] == "the dataset has no dataset.json, so its load is not known"


def test_a_run_that_did_not_come_to_its_end(tmp_path: Path) -> None:
    """Its reason is among those that make the score void."""
    run = golden_run(tmp_path)
    change_manifest(run, state="failed", reason="the disk is full")
    found = score_run(read_run(run))
    assert found.reasons[0] == "the run did not come to its end: the disk is full"
    assert "a run that did not come to its end" in found.nonstandard


def standard_run(folder: Path) -> Run:
    """Return a run that says of itself that it is standard."""
    run = golden_run(folder)
    known = run.manifest.dataset_manifest
    assert known is not None
    change_market(run, parameters=complete({"scale_factor": 1}).as_plain(), nonstandard=(), standard=True)
    change_settings(run, speed=1)
    return run


def test_a_standard_run(tmp_path: Path) -> None:
    """All parameters at their defaults, the generator's own strategies, speed 1, no fault, and it went to its end."""
    found = score_run(read_run(standard_run(tmp_path)))
    assert (found.standard, found.nonstandard) == (True, ())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"strategies_generated": False}, "strategies that the query generator does not write"),
        ({"state": "failed"}, "a run that did not come to its end"),
        ({"settings": RunSettings.from_plain(SETTINGS | {"speed": 2}, "test")}, "speed"),
        ({"settings": RunSettings.from_plain(SETTINGS | {"speed": 1, "faults": ["kill@1m"]}, "test")}, "faults"),
    ],
)
def test_what_is_not_standard(tmp_path: Path, change: dict[str, object], why: str) -> None:
    """Each of them alone, whatever dataset.json says."""
    run = standard_run(tmp_path)
    change_manifest(run, **change)
    found = score_run(read_run(run))
    assert (found.standard, found.nonstandard) == (False, (why,))


def test_a_dataset_that_only_says_that_it_is_standard(tmp_path: Path) -> None:
    """Its parameters count, not its word; and its ticks must be those that the generator gives."""
    run = standard_run(tmp_path)
    changed = complete({"scale_factor": 1, "volatility": 0.001}).as_plain()
    change_market(run, parameters=changed)
    assert score_run(read_run(run)).nonstandard == ("volatility",)
    run = standard_run(tmp_path / "other")
    record = run.validation.model_copy(update={"dataset_confirmed": False})
    record.write(run.validation_file)
    assert score_run(read_run(run)).nonstandard == ("ticks that the generator does not give",)


def test_a_burst_is_part_of_the_score(tmp_path: Path) -> None:
    """Where the market has a burst, score.json says how the engine took it."""
    run = golden_run(tmp_path, curve="burst")
    assert score_run(read_run(run)).adaptivity is not None
    change_market(run, parameters={"scale_factor": 1})
    assert score_run(read_run(run)).adaptivity is None
