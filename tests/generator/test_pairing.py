"""Tests of finding the most correlated pairs."""

import numpy as np

from pairs.generator.pairing import BARS, MAX_CANDIDATES, MIN_BARS, candidates, most_correlated


def test_correlated_symbols_are_found_greedily() -> None:
    """The most correlated first, no symbol twice; no pair with rare trades or a constant price."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=(3, BARS))
    noise = rng.normal(size=(6, BARS)) * np.array([[0.1], [0.1], [0.5], [0.5], [1.0], [1.0]])
    prices = 10_000 * np.exp(np.cumsum(np.repeat(common, 2, axis=0) + noise, axis=1) * 0.01)
    closes = np.vstack([np.rint(prices), prices[0], np.full(BARS, 5_000)]).astype(np.int64)
    closes[6, MIN_BARS - 1 :] = 0  # the same prices as symbol 0, but it stops trading
    closes[2, ::10] = 0  # trades less often, and is found
    found = most_correlated(closes)
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (2, 3), (4, 5)]
    assert found[0].correlation > 0.97
    assert found[0].correlation > found[1].correlation > found[2].correlation > 0


def test_no_pair_is_found() -> None:
    """No symbol, a single symbol, constant prices."""
    for closes in (np.zeros((0, BARS)), np.ones((1, BARS)), np.ones((3, BARS)), np.zeros((2, BARS))):
        assert most_correlated(closes.astype(np.int64)) == []


def test_the_work_is_bounded() -> None:
    """Candidates are the symbols with most trades, and none with few trades."""
    trades = {f"S{number:05d}": MIN_BARS - 1 + number for number in range(3_000)}
    assert candidates(trades)[:2] == ["S02999", "S02998"]
    assert len(candidates(trades)) == MAX_CANDIDATES
    assert candidates({"A": MIN_BARS - 1}) == []
