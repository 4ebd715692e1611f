"""Tests of the decisions that rounding may decide: which count, alike in both implementations, and what is said."""

from collections import Counter
from collections.abc import Callable

import pytest

from pairs.model.strategy import Strategy, StrategySet
from pairs.model.tuples import Indicator, StockTick
from pairs.validator.knife_edges import knife_edge_count, knife_edge_remarks
from tests.validator.in_process import knife_edges_in_process, reference, reference_knife_edges
from tests.validator.markets import Market, at_ratios, pair, random_calm, random_grid, random_walk

SEEDS = range(100)
CLOSE = 10**9
TEN = "s1, s2, s3, s4, s5, s6, s7, s8, s9, s10"


def on_a_band(market: Market) -> Counter[str]:
    """Count the indicators before the bell, by strategy, whose ratio is within the tolerance of a band."""
    return Counter(
        answer.strategy
        for answer in reference(market.strategies, market.ticks)
        if isinstance(answer, Indicator)
        and answer.inputTickTS < market.strategies.market_close_ms
        and any(abs(answer.ratio - band) <= 1e-9 * abs(band) for band in (answer.upperBand, answer.lowerBand))
    )


@pytest.mark.parametrize(("make", "least"), [(random_walk, 100), (random_grid, 500), (random_calm, 5_000)])
def test_both_implementations_count_alike(make: Callable[[int], Market], least: int) -> None:
    """In any market, also where most decisions lie on a knife edge."""
    total = 0
    for seed in SEEDS:
        market = make(seed)
        edges = reference_knife_edges(market.strategies, market.ticks)
        assert knife_edges_in_process(market.strategies, market.ticks) == edges, f"seed {seed}"
        total += sum(edges.values())
    assert total > least


def test_calm_markets_hit_bands_and_stops() -> None:
    """What is counted beyond the indicators on a band is decisions about a stop-loss."""
    bands = stops = 0
    for seed in SEEDS:
        market = random_calm(seed)
        found = on_a_band(market)
        edges = Counter(reference_knife_edges(market.strategies, market.ticks))
        bands += found.total()
        stops += (edges - found).total()
    assert bands > 5_000
    assert stops > 200


def counted(ticks: list[StockTick], strategy: Strategy, close: int = CLOSE) -> int:
    """Count the decisions of a strategy on a knife edge; both implementations must agree."""
    strategies = StrategySet(close, (strategy,))
    edges = reference_knife_edges(strategies, ticks)
    assert knife_edges_in_process(strategies, ticks) == edges
    return edges.get(strategy.alias, 0)


@pytest.mark.parametrize(
    ("ratios", "close", "count"),
    [
        ((1, 1, 1, 1), CLOSE, 3),
        ((1, 1, 2), CLOSE, 1),  # the first indicator, with which the second is compared
        ((1, 1), CLOSE, 0),  # nothing is compared with the first and only indicator
        ((1, 1, 1, 1), 4_000, 2),  # the last indicator comes with the bell
        ((1, 1, 1), 3_000, 0),
        ((1, 2, 1, 2, 1), CLOSE, 0),
    ],
)
def test_bands_without_width(ratios: tuple[float, ...], close: int, count: int) -> None:
    """Every indicator counts whose bands are compared with its ratio, then or at the next indicator."""
    assert counted(at_ratios(*ratios), pair(), close) == count


@pytest.mark.parametrize(
    ("stop_loss", "ratios", "count"),
    [
        (0.1, (0.6, 2, 0.6, 0.54), 1),  # sold at the limit
        (0.3, (1.3, 2, 1.3, 0.91), 1),  # not sold, as rounding decides
        (0.1, (2, 1, 1.9, 2.09), 1),
        (0.3, (2, 1, 1.5, 1.95), 1),
        (0.1, (0.6, 2, 0.6, 0.55), 0),
        (0.1, (0.6, 2, 0.6, 0.53), 0),
        (0.1, (2, 0.6, 0.54), 0),  # no position
    ],
)
def test_stop_losses_to_the_cent(stop_loss: float, ratios: tuple[float, ...], count: int) -> None:
    """A stop counts while a position is held, whichever way it is decided."""
    assert counted(at_ratios(*ratios), pair(stop_loss=stop_loss)) == count


def test_a_window_counts_once() -> None:
    """Though its ratio lies on a band and on the stop; another window lies on a band before."""
    assert counted(at_ratios(4, 1, 2, 3, 3.75, 4.5), pair(periods=3, multiplier=1.0)) == 2


def test_a_stop_is_not_checked_where_a_signal_changes_the_position() -> None:
    """The ratio lies at the limit exactly, but the strategy has switched."""
    strategy = pair(periods=3, multiplier=0.05, stop_loss=0.1)
    ticks = at_ratios(2, 0.7, 1.25, 1, 1.1)
    orders = [
        answer for answer in reference(StrategySet(CLOSE, (strategy,)), ticks) if not isinstance(answer, Indicator)
    ]
    assert [order.type for order in orders] == ["BUY", "SELL", "BUY"]
    assert counted(ticks, strategy) == 0


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ({"a": 1}, "1 decision of 1 strategy lies within 1e-9 of a band or a stop"),
        ({"a": 2}, "2 decisions of 1 strategy lie within 1e-9 of a band or a stop"),
        ({"a": 1_000, "b": 11}, "1,011 decisions of 2 strategies lie within 1e-9 of a band or a stop"),
    ],
)
def test_the_count_in_words(edges: dict[str, int], said: str) -> None:
    """Singular and plural."""
    assert knife_edge_count(edges) == said


@pytest.mark.parametrize(
    ("decisions", "said"),
    [(0, []), (1, ["1 decision lies within 1e-9"]), (418, ["418 decisions lie within 1e-9"])],
)
def test_the_remark_on_a_validation_that_passed(decisions: int, said: list[str]) -> None:
    """How many there are, and what that means; nothing if there are none."""
    why = "of a band or a stop, where an engine that sums in another order may decide otherwise"
    assert list(knife_edge_remarks(decisions, [], passed=True)) == [f"{count} {why}" for count in said]


@pytest.mark.parametrize(
    ("strategies", "said"),
    [
        (0, "No strategy with incorrect answers has such decisions"),
        (1, "1 strategy with incorrect answers has such decisions: s1"),
        (2, "2 strategies with incorrect answers have such decisions: s1, s2"),
        (10, f"10 strategies with incorrect answers have such decisions: {TEN}"),
        (12, f"12 strategies with incorrect answers have such decisions: {TEN} and 2 more"),
    ],
)
def test_remarks_on_a_validation_that_failed(strategies: int, said: str) -> None:
    """Also the strategies with incorrect answers that are concerned, ten of them by name."""
    names = [f"s{number + 1}" for number in range(strategies)]
    [count, touched] = knife_edge_remarks(12, names, passed=False)
    assert count.startswith("12 decisions lie")
    assert touched == said
    assert list(knife_edge_remarks(0, [], passed=False)) == []
