"""The market as it opens: names, pairs and initial prices, and how they grow with the scale factor."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pairs.config.workload import complete
from pairs.generator.market import Market

ALARM = 1e-4  # false-alarm rate of every statistical test here, had its seed not been fixed

PROPERTY = settings(derandomize=True, deadline=None)
SEEDS = st.integers(0, 2**64 - 1)


@st.composite
def odd_markets(draw: st.DrawFn) -> Market:
    """Draw a market with any scale factor, any number of symbols and any possible number of pairs."""
    symbols = draw(st.integers(2, 700))
    values = {
        "scale_factor": draw(st.integers(1, 60)),
        "seed": draw(SEEDS),
        "symbols": symbols,
        "correlations": draw(st.integers(1, symbols // 2) | st.just(symbols // 2)),
    }
    return Market(complete(values))


def market(**values: Any) -> Market:
    """Return the market of a workload with these settings."""
    return Market(complete(values))


@PROPERTY
@given(anything=odd_markets())
def test_symbols_are_unique_words_of_six_letters(anything: Market) -> None:
    """Every symbol is six letters A-Z, there are as many as asked for, and none appears twice."""
    assert all(re.fullmatch("[A-Z]{6}", symbol) for symbol in anything.symbols)
    assert len(anything.symbols) == len(set(anything.symbols)) == anything.workload.symbols


def test_drawn_twice_symbols_appear_once() -> None:
    """With so many symbols that some word must be drawn twice, they are still unique."""
    symbols = market(symbols=200_000).symbols  # about 65 pairs of equal draws among as many
    assert len(set(symbols)) == 200_000


@PROPERTY
@given(seed=SEEDS, fewer=st.integers(2, 300), more=st.integers(0, 300))
def test_fewer_symbols_are_a_prefix_of_more(seed: int, fewer: int, more: int) -> None:
    """A market with more symbols begins with the symbols and initial prices of a smaller market."""
    small, large = market(seed=seed, symbols=fewer), market(seed=seed, symbols=fewer + more)
    assert large.symbols[:fewer] == small.symbols
    assert large.initial_prices[:fewer].tolist() == small.initial_prices.tolist()


@pytest.mark.parametrize("scale_factor", range(1, 61))
def test_standard_markets_have_25_pairs_among_100_symbols(scale_factor: int) -> None:
    """Each market of a scale factor has its own 100 symbols, 25 pairs of them, and no symbol in two pairs."""
    standard = market(scale_factor=scale_factor, seed=scale_factor)
    markets = -(-scale_factor // 10)
    number, legs = standard.pairs[:, 0], standard.pairs[:, 1:]
    assert len(standard.symbols) == 100 * markets
    assert number.tolist() == np.repeat(np.arange(markets), 25).tolist()
    assert (legs // 100 == number[:, None]).all()
    assert len(np.unique(legs)) == legs.size == 50 * markets


@PROPERTY
@given(anything=odd_markets())
def test_pairs_are_disjoint_couples_of_one_market(anything: Market) -> None:
    """All pairs asked for exist, share no symbol, name the leg that trades first first, and stay in one market."""
    workload = anything.workload
    number, legs = anything.pairs[:, 0], anything.pairs[:, 1:]
    assert len(legs) == workload.correlations
    assert len(np.unique(legs)) == legs.size
    assert ((legs >= 0) & (legs < workload.symbols)).all()
    assert (legs[:, 0] < legs[:, 1]).all()
    assert (np.diff(number) >= 0).all()
    borders = np.flatnonzero(np.diff(number)) + 1
    assert all(legs[:border].max() < legs[border:].min() for border in borders)


@PROPERTY
@given(anything=odd_markets())
def test_pairs_are_shared_out_evenly_among_markets(anything: Market) -> None:
    """No market has two pairs more than another."""
    each = np.bincount(anything.pairs[:, 0], minlength=anything.workload.markets)
    assert len(each) == anything.workload.markets
    assert each.max() - each.min() <= 1


@PROPERTY
@given(seed=SEEDS, scale_factor=st.integers(11, 60))
def test_first_market_is_that_of_scale_factor_1(seed: int, scale_factor: int) -> None:
    """A second market does not change the symbols, pairs and initial prices of the first."""
    alone, among_others = market(seed=seed), market(seed=seed, scale_factor=scale_factor)
    assert among_others.symbols[:100] == alone.symbols
    assert among_others.initial_prices[:100].tolist() == alone.initial_prices.tolist()
    assert among_others.pairs[:25].tolist() == alone.pairs.tolist()


def test_markets_are_paired_differently() -> None:
    """The second market's pairs are not those of the first, shifted by 100."""
    legs = market(scale_factor=11).pairs[:, 1:]
    assert (legs[25:] - 100).tolist() != legs[:25].tolist()


@PROPERTY
@given(seed=SEEDS)
def test_another_seed_is_another_market(seed: int) -> None:
    """Two neighbouring seeds agree in no place of the cycle, nor in their pairs, nor in their initial prices."""
    first, second = market(seed=seed), market(seed=(seed + 1) % 2**64)
    assert all(name != other for name, other in zip(first.symbols, second.symbols, strict=True))
    assert first.pairs.tolist() != second.pairs.tolist()
    assert first.initial_prices.tolist() != second.initial_prices.tolist()


@pytest.mark.parametrize("place", range(6))
def test_letters_are_uniform(place: int) -> None:
    """Each of the six letters is any of 26 equally often (chi-square over 20,000 symbols, alarm 1e-4)."""
    letters = [symbol[place] for symbol in market(symbols=20_000, seed=6).symbols]
    counts = np.unique(letters, return_counts=True)[1]
    assert len(counts) == 26
    assert stats.chisquare(counts).pvalue > ALARM


def test_any_two_symbols_are_equally_often_a_pair() -> None:
    """Over 2,000 seeds all 4,950 couples of a market are drawn equally often (chi-square, alarm 1e-4)."""
    legs = np.concatenate([market(seed=seed).pairs[:, 1:] for seed in range(2_000)])
    table = np.zeros((100, 100), np.int64)
    np.add.at(table, (legs[:, 0], legs[:, 1]), 1)
    assert stats.chisquare(table[np.triu_indices(100, k=1)]).pvalue > ALARM


def test_initial_prices_are_uniform_whole_cents() -> None:
    """Initial prices are 3,000, 3,001, ... 16,000 cents, equally often (chi-square over 13,001 values, alarm 1e-4)."""
    prices = market(symbols=400_000, seed=2).initial_prices
    values, counts = np.unique(prices, return_counts=True)
    assert values.tolist() == list(range(3_000, 16_001))
    assert stats.chisquare(counts).pvalue > ALARM
