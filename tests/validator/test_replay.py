"""Tests that compare the replay of panes with the reference: equal answers to the last bit, however ticks are cut."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from pairs.model.strategy import Strategy, StrategySet
from pairs.model.tuples import Indicator, MarketOrder, StockTick
from pairs.validator.replay import moments
from pairs.validator.state_machine import Answer
from tests.validator.in_process import knife_edges_in_process, reference, reference_knife_edges, replay_in_process
from tests.validator.markets import Market, at_ratios, pair, random_grid, random_walk, ticks_of

SEEDS = 300
PACES_MS = (  # times between ticks, and periods of windows
    ((0, 1, 5), (7, 11, 13)),
    ((0, 3, 7, 11, 13), (7, 13, 60, 333)),
    ((1, 5, 40, 2_000), (7, 333, 1_000)),
    ((0, 100, 333, 500, 1_000), (333, 1_000, 7_000, 11_000)),
    ((0, 0, 1, 1, 2, 3, 90_000), (7, 1_000, 13_000)),
)
PRICES = ((500,), (100, 200), (100, 200, 300, 400), (99, 100, 101), (70, 100, 140, 900), (1, 2**31 - 1))


@st.composite
def strategies(draw: st.DrawFn, number: int, periods_ms: tuple[int, ...]) -> Strategy:
    """Draw a strategy; Z is a symbol that never trades."""
    pairs = [("A", "B"), ("B", "A"), ("A", "C"), ("B", "C"), ("C", "A"), ("A", "B"), ("B", "A"), ("A", "Z")]
    symbol1, symbol2 = draw(st.sampled_from(pairs))
    return Strategy(
        f"s{number}",
        None,
        draw(st.sampled_from([10_000, 1_234, 999, 10**9])),
        symbol1,
        symbol2,
        draw(st.sampled_from(periods_ms)),
        draw(st.sampled_from([2, 2, 3, 3, 4, 5, 6])),
        draw(st.sampled_from([0.5, 0.3, 0.7, 1.0, 1.5])),
        draw(st.sampled_from([0.05, 0.1, 0.5])),
    )


@st.composite
def markets(draw: st.DrawFn) -> Market:
    """Draw a market; X is a symbol that nobody watches."""
    count = draw(st.integers(1, 199) | st.just(200) | st.just(200))
    gaps_ms, periods_ms = draw(st.sampled_from(PACES_MS))
    symbols, prices = draw(st.sampled_from(["ABC", "ABCX", "AABBBB"])), draw(st.sampled_from(PRICES))
    ticks, now = [], draw(st.sampled_from([0, 0, 5_000]))
    for number in np.random.default_rng(draw(st.integers(0, 2**32))).integers(60_000, size=count).tolist():
        number, gap = divmod(number, len(gaps_ms))
        number, symbol = divmod(number, len(symbols))
        now += gaps_ms[gap]
        ticks.append(StockTick(symbols[symbol], prices[number % len(prices)], 100, now))
    close = draw(st.sampled_from([10**7, now + 1, max(now, 1), now // 2 + 1]) | st.integers(1, now + 1))
    watching = tuple(draw(strategies(number, periods_ms)) for number in range(draw(st.integers(1, 4))))
    return Market(StrategySet(close, watching), ticks)


def tally(market: Market, answers: list[Answer]) -> Counter[str]:
    """Count what happened in a market, by what the orders tell."""
    close, found = market.strategies.market_close_ms, Counter[str]()
    first_legs = {strategy.alias: strategy.symbol1 for strategy in market.strategies.strategies}
    together = Counter((answer.strategy, answer.inputTickTS) for answer in answers if isinstance(answer, MarketOrder))
    for answer in answers:
        if isinstance(answer, Indicator):
            found["indicator"] += 1
            wide = answer.lowerBand < answer.upperBand
            found["on a band"] += wide and answer.ratio in (answer.lowerBand, answer.upperBand)
            found["bands without width"] += not wide
            continue
        leg = "symbol1" if answer.symbol == first_legs[answer.strategy] else "symbol2"
        if answer.type == "BUY":
            found[f"buys {leg}"] += 1
        elif answer.inputTickTS >= close:
            found[f"bell sells {leg}"] += 1
        else:
            switches = together[answer.strategy, answer.inputTickTS] == 2
            found[f"{'switches from' if switches else 'only sells'} {leg}"] += 1
    return found


@settings(max_examples=300)
@given(market=markets(), cuts=st.lists(st.integers(1, 200), max_size=8))
def test_any_market_gets_the_same_answers(market: Market, cuts: list[int]) -> None:
    """For any trades, and wherever the ticks are cut, the answers are those of the reference."""
    expected = reference(market.strategies, market.ticks)
    for what, count in tally(market, expected).items():
        if count:
            event(what)
    cuts = [cut for cut in cuts if cut < len(market.ticks)]
    assert replay_in_process(market.strategies, market.ticks, cuts) == expected
    assert replay_in_process(market.strategies, market.ticks) == expected
    edges = reference_knife_edges(market.strategies, market.ticks)
    assert knife_edges_in_process(market.strategies, market.ticks, cuts) == edges
    event("knife edges" if edges else "no knife edge")


def test_random_walks_get_the_same_answers() -> None:
    """A few hundred markets, in which everything happens that can: both directions, stop-losses, switches, bells."""
    found = Counter[str]()
    for seed in range(SEEDS):
        market = random_grid(seed) if seed % 5 == 0 else random_walk(seed)
        expected = reference(market.strategies, market.ticks)
        found += tally(market, expected)
        cuts = np.random.default_rng(seed).integers(len(market.ticks), size=seed % 10).tolist()
        assert replay_in_process(market.strategies, market.ticks, cuts) == expected, f"seed {seed}"
    assert found["indicator"] > 10_000
    assert found["on a band"] > 200
    assert found["bands without width"] > 500
    for leg in ("symbol1", "symbol2"):
        for what, least in (("buys", 1_000), ("switches from", 500), ("only sells", 400), ("bell sells", 100)):
            assert found[f"{what} {leg}"] > least, (what, leg, found)


@pytest.mark.parametrize("seed", range(5))
def test_every_tick_may_come_on_its_own(seed: int) -> None:
    """The smallest pieces are single ticks."""
    market = random_walk(seed)
    every = range(len(market.ticks))
    assert replay_in_process(market.strategies, market.ticks, every) == reference(market.strategies, market.ticks)


@pytest.mark.parametrize("seed", range(5))
def test_many_watched_symbols_change_nothing(seed: int) -> None:
    """With far more symbols than ticks, panes are numbered another way; the answers stay."""
    market = random_walk(seed)
    idle = tuple(pair(f"idle{number}", (f"A{number}", f"Z{number}")) for number in range(500))
    watching = StrategySet(market.strategies.market_close_ms, (*market.strategies.strategies, *idle))
    expected = reference(market.strategies, market.ticks)
    assert replay_in_process(watching, market.ticks, [100, 101, 250]) == expected
    assert replay_in_process(watching, market.ticks) == expected


def agrees(ticks: list[StockTick], *watching: Strategy, close: int = 10**9) -> list[MarketOrder]:
    """Check that both implementations answer alike, wherever the ticks are cut in two; return the orders."""
    strategies = StrategySet(close, watching)
    expected = reference(strategies, ticks)
    for cut in range(len(ticks)):
        assert replay_in_process(strategies, ticks, [cut]) == expected
    return [answer for answer in expected if isinstance(answer, MarketOrder)]


@pytest.mark.parametrize(
    ("ratios", "count"),
    [
        ((4, 1, 2, 3), 1),  # on the upper band
        ((1, 4, 3, 2), 1),  # on the lower band
        ((1, 2, 3, 4, 5), 0),  # on the band already
        ((5, 4, 3, 2, 1), 0),
        ((4, 1, 2, 3, 3, 5), 2),  # beyond the upper band again, and a stop-loss
        ((4, 1, 2, 3, 3, 4.5), 2),  # a stop-loss to the cent
        ((1, 8, 6, 4, 4, 2), 2),
        ((2, 2, 2, 2, 2, 3, 1, 1, 1, 2), 4),  # bands without width
    ],
)
def test_ties_get_the_same_answers(ratios: tuple[float, ...], count: int) -> None:
    """Ratios that lie on a band or at the stop-loss exactly."""
    ticks, strategy = at_ratios(*ratios), pair(periods=3, multiplier=1.0)
    assert len(agrees(ticks, strategy)) == count
    for close in range(2_000, 11_000, 500):
        agrees(ticks, strategy, close=close)


@pytest.mark.parametrize(
    ("stop_loss", "ratios", "sold"),
    [
        (0.1, (0.6, 2, 0.6, 0.54), True),
        (0.3, (1.3, 2, 1.3, 0.91), False),
        (0.1, (2, 1, 1.9, 2.09), True),
        (0.3, (2, 1, 1.5, 1.95), False),
    ],
)
def test_a_stop_loss_that_rounding_decides_gets_the_same_answers(
    stop_loss: float, ratios: tuple[float, ...], sold: bool
) -> None:
    """At the limit to the cent, to divide instead of multiplying would decide otherwise."""
    orders = agrees(at_ratios(*ratios), pair(stop_loss=stop_loss))
    assert [order.type for order in orders] == (["BUY", "SELL"] if sold else ["BUY"])


def test_a_signal_and_a_stop_loss_in_one_window_get_the_same_answers() -> None:
    """The signal goes first."""
    strategy = pair(periods=3, multiplier=0.05, stop_loss=0.05)
    assert [order.type for order in agrees(at_ratios(2, 0.7, 1.25, 1, 1.1), strategy)] == ["BUY", "SELL", "BUY"]


def test_a_bell_among_ticks_of_the_same_time_gets_the_same_answers() -> None:
    """The first is the bell, and the others are ignored, in any piece."""
    ticks = at_ratios(1, 2, 1) + ticks_of("A200@3999 X1@4000 A999@4000 B1@4000 A5@4000 A7@4001")
    orders = agrees(ticks, pair(), close=4_000)
    assert [(order.type, order.price) for order in orders] == [("BUY", 100), ("SELL", 200)]


def test_a_market_that_is_closed_from_the_first_tick_on_answers_nothing() -> None:
    """The first tick is the bell."""
    assert agrees(ticks_of("A1@5 B1@5 A2@8 B2@9 A1@20"), pair(period_ms=1), close=3) == []


@given(values=st.lists(st.floats(1e-9, 1e9), max_size=40), count=st.integers(2, 6))
@example(values=[0.1, 0.2, 0.3], count=3)
def test_moments_are_summed_from_the_oldest_on(values: list[float], count: int) -> None:
    """Mean and sample deviation are those of plain sums, one value after another."""
    mean, deviation = moments(np.array(values, np.float64), count)
    assert len(mean) == len(deviation) == max(len(values) - count + 1, 0)
    for row in range(len(mean)):
        total = squares = 0.0
        for value in values[row : row + count]:
            total += value
        for value in values[row : row + count]:
            squares += (value - total / count) * (value - total / count)
        assert mean[row] == total / count
        assert deviation[row] == np.sqrt(squares / (count - 1))
