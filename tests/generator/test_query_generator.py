"""Tests of the query generator: assignment to markets, pairs and users, and the parameters."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from pairs.config.workload import complete
from pairs.dataset.folder import Correlation
from pairs.generator.market import Market
from pairs.generator.query_generator import assigned_pairs, generate_strategies
from pairs.model.strategy import (
    AVAILABLE_FUNDS_CENTS,
    BANDS_MULTIPLIERS,
    NUMBERS_OF_PERIODS,
    PERIOD_LENGTHS_S,
    STOP_LOSS_FRACTIONS,
    Strategy,
)

CLOSE = 7_200_000


def correlations(scale_factor: int) -> list[Correlation]:
    """Return the pairs of a standard market as its auxiliary file lists them."""
    market = Market(complete({"scale_factor": scale_factor}))
    return [
        Correlation(number + 1, market.symbols[leg1], market.symbols[leg2])
        for number, leg1, leg2 in market.pairs.tolist()
    ]


def standard(scale_factor: int, seed: int = 1) -> tuple[Strategy, ...]:
    """Generate the standard strategies of a scale factor."""
    return generate_strategies(correlations(scale_factor), 25 * scale_factor, seed, CLOSE).strategies


@pytest.mark.parametrize("scale_factor", range(1, 61))
def test_strategies_fill_markets_pairs_and_users(scale_factor: int) -> None:
    """Full markets have 250 strategies, ten a pair; a user has five different pairs of one market."""
    made, pairs = standard(scale_factor), correlations(scale_factor)
    market_of = {pair.symbol1: pair.market for pair in pairs}
    markets = -(-scale_factor // 10)
    by_market = Counter(market_of[strategy.symbol1] for strategy in made)
    last = 25 * ((scale_factor - 1) % 10 + 1)
    assert by_market == {number: 250 if number < markets else last for number in range(1, markets + 1)}

    by_pair, by_user = defaultdict(list), defaultdict(list)
    for strategy in made:
        by_pair[strategy.symbol1, strategy.symbol2].append(strategy)
        by_user[strategy.user].append(strategy)
    assert by_pair.keys() == {(pair.symbol1, pair.symbol2) for pair in pairs}
    for (symbol1, _), mine in by_pair.items():
        wanted = 10 if market_of[symbol1] < markets else (scale_factor - 1) % 10 + 1
        assert len(mine) == len({strategy.user for strategy in mine}) == wanted

    assert len(by_user) == 5 * scale_factor
    for mine in by_user.values():
        assert len(mine) == len({strategy.symbol1 for strategy in mine}) == 5
        assert len({market_of[strategy.symbol1] for strategy in mine}) == 1


def test_aliases_and_users_count_up() -> None:
    """Names follow the order of the strategies."""
    made = standard(2)
    assert [strategy.alias for strategy in made] == [f"st_{number:05d}" for number in range(1, 51)]
    assert [strategy.user for strategy in made] == [f"u_{number // 5 + 1:05d}" for number in range(50)]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(1, 400))
def test_any_count_is_spread_evenly(sizes: list[int], count: int) -> None:
    """For any numbers of pairs and strategies, pairs of a market differ by at most one, and no pair has too many."""
    pairs = [
        Correlation(market, f"A{market}-{n}", f"B{market}-{n}")
        for market, size in enumerate(sizes)
        for n in range(size)
    ]
    watched = Counter(assigned_pairs(pairs, count))
    assert watched.total() == count
    assert max(watched.values()) <= max(10, -(-count // len(pairs)))
    for market in range(len(sizes)):
        numbers = [watched[pair] for pair in pairs if pair.market == market]
        assert max(numbers) - min(numbers) <= 1


def test_more_strategies_only_add_to_those_before() -> None:
    """A larger scale factor keeps the strategies of a smaller scale factor, except for the market's close."""
    assert standard(12)[:25] == standard(1)


@pytest.mark.parametrize(
    ("values", "choices"),
    [
        ([strategy.available_funds_cents for strategy in standard(60)], AVAILABLE_FUNDS_CENTS),
        ([strategy.period_ms // 1000 for strategy in standard(60)], PERIOD_LENGTHS_S),
        ([strategy.num_periods for strategy in standard(60)], NUMBERS_OF_PERIODS),
        ([strategy.bands_multiplier for strategy in standard(60)], BANDS_MULTIPLIERS),
        ([strategy.stop_loss_fraction for strategy in standard(60)], STOP_LOSS_FRACTIONS),
    ],
    ids=["funds", "period", "periods", "multiplier", "stop loss"],
)
def test_parameters_are_uniform_over_their_sets(values: list[float], choices: tuple[float, ...]) -> None:
    """Every value of a set is as likely as any other; false alarm rate 1e-4."""
    counts = Counter(values)
    assert counts.keys() == set(choices)
    assert chisquare([counts[choice] for choice in choices]).pvalue > 1e-4


def test_parameters_are_drawn_independently() -> None:
    """Any two parameters of a strategy are unrelated; false alarm rate 1e-3."""
    made = standard(60)
    table = Counter((strategy.period_ms, strategy.bands_multiplier) for strategy in made)
    assert len(table) == len(PERIOD_LENGTHS_S) * len(BANDS_MULTIPLIERS)
    assert chisquare(list(table.values())).pvalue > 1e-3


def test_the_seed_decides_the_parameters_and_nothing_else() -> None:
    """Same seed, same strategies; another seed changes parameters, not the assignment."""
    assert standard(3, seed=7) == standard(3, seed=7)
    first, other = standard(3, seed=7), standard(3, seed=8)
    assert first != other
    parameters = {"available_funds_cents": 1, "period_ms": 1, "num_periods": 2, "bands_multiplier": 1.0}
    blank = [
        [replace(strategy, **parameters, stop_loss_fraction=0.5) for strategy in made]  # type: ignore[arg-type]
        for made in (first, other)
    ]
    assert blank[0] == blank[1]
