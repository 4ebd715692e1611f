"""Finds the symbols of a market that move together: correlations of their returns, no symbol in two pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BARS = 240  # that a day is cut into; of each the last price counts
FEWEST_BARS = BARS // 4  # in which a symbol must trade to be looked at
MOST_CANDIDATES = 1_000  # symbols that are looked at, those with most trades


@dataclass(frozen=True)
class FoundPair:
    """Two symbols, by their places among the candidates, and the correlation of their returns."""

    first: int
    second: int
    correlation: float


def candidates(trades_by_symbol: dict[str, int]) -> list[str]:
    """Return the symbols that trade often enough to be looked at, those with most trades first."""
    enough = [symbol for symbol, trades in trades_by_symbol.items() if trades >= FEWEST_BARS]
    return sorted(enough, key=lambda symbol: (-trades_by_symbol[symbol], symbol))[:MOST_CANDIDATES]


def most_correlated(closes: NDArray[np.int64]) -> list[FoundPair]:
    """Return pairs, the most correlated first; `closes` has a row a symbol, a column a bar, 0 where it has no trade.

    Greedy: whoever is in a pair is out of the question for the next ones.
    """
    often = np.flatnonzero((closes > 0).sum(axis=1) >= FEWEST_BARS)
    returns = np.diff(np.log(_filled(closes[often])), axis=1)
    returns -= returns.mean(axis=1, keepdims=True)
    lengths = np.sqrt((returns**2).sum(axis=1))
    moving = lengths > 0  # a price that stands still goes with nobody
    often, returns = often[moving], returns[moving] / lengths[moving, None]
    first, second = np.triu_indices(len(often), 1)
    correlations = (returns @ returns.T)[first, second]
    pairs: list[FoundPair] = []
    taken: set[int] = set()
    for place in np.argsort(-correlations, kind="stable").tolist():
        one, other = int(often[first[place]]), int(often[second[place]])
        if not {one, other} & taken:
            taken |= {one, other}
            pairs.append(FoundPair(one, other, float(correlations[place])))
    return pairs


def _filled(closes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Let a price stand until the next trade, and the first one since the beginning."""
    traded = closes > 0
    bars = np.broadcast_to(np.arange(closes.shape[1]), closes.shape)
    first = np.argmax(traded, axis=1)[:, None]
    last = np.maximum.accumulate(np.where(traded, bars, first), axis=1)
    filled: NDArray[np.int64] = np.take_along_axis(closes, np.maximum(last, first), axis=1)
    return filled
