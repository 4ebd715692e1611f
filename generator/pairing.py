"""Chooses the pairs that strategies watch: those of a list, or the symbols whose returns are most correlated."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairs.core.errors import BadInputError
from pairs.core.progress import waiting
from pairs.core.units import counted

BARS = 240  # of a day; a bar's price is its last trade's
MIN_BARS = BARS // 4  # in which a symbol must trade to be a candidate
MAX_CANDIDATES = 1_000  # symbols, those with most trades
_DEFAULT_PAIRS = 25  # as in a standard market

SymbolPair = tuple[str, str]


@dataclass(frozen=True)
class PairsWanted:
    """The pairs of a list or, without a list, how many of the most correlated pairs."""

    listed: tuple[SymbolPair, ...] = ()
    top: int | None = None


@dataclass(frozen=True)
class FoundPair:
    """Two symbols, by their positions among the candidates, and the correlation of their returns."""

    first: int
    second: int
    correlation: float


def candidates(trades_by_symbol: dict[str, int]) -> list[str]:
    """Return the symbols that trade often enough to be correlated, those with most trades first."""
    enough = [symbol for symbol, trades in trades_by_symbol.items() if trades >= MIN_BARS]
    return sorted(enough, key=lambda symbol: (-trades_by_symbol[symbol], symbol))[:MAX_CANDIDATES]


@waiting("looking for correlated pairs")
def most_correlated(closes: NDArray[np.int64]) -> list[FoundPair]:
    """Return pairs, the most correlated first; `closes` has a row a symbol, a column a bar, 0 where it has no trade.

    Greedy: a symbol of a pair is not considered for the next pairs.
    """
    rows = np.flatnonzero((closes > 0).sum(axis=1) >= MIN_BARS)
    returns = np.diff(np.log(_filled(closes[rows])), axis=1)
    returns -= returns.mean(axis=1, keepdims=True)
    norms = np.sqrt((returns**2).sum(axis=1))
    moving = norms > 0  # a constant price has no correlation
    rows, returns = rows[moving], returns[moving] / norms[moving, None]
    left, right = np.triu_indices(len(rows), 1)
    correlations = (returns @ returns.T)[left, right]
    pairs: list[FoundPair] = []
    paired: set[int] = set()
    for place in np.argsort(-correlations, kind="stable").tolist():
        first, second = int(rows[left[place]]), int(rows[right[place]])
        if not {first, second} & paired:
            paired |= {first, second}
            pairs.append(FoundPair(first, second, float(correlations[place])))
    return pairs


def _filled(closes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fill bars without a trade with the price before or, at the beginning, with the first price."""
    traded = closes > 0
    bars = np.broadcast_to(np.arange(closes.shape[1]), closes.shape)
    first = np.argmax(traded, axis=1)[:, None]
    last = np.maximum.accumulate(np.where(traded, bars, first), axis=1)
    filled: NDArray[np.int64] = np.take_along_axis(closes, np.maximum(last, first), axis=1)
    return filled


def top_pairs(found: list[FoundPair], symbols: Sequence[str], top: int | None) -> list[SymbolPair]:
    """Return the symbols of the first pairs, sorted within a pair; refuse to return fewer than wanted."""
    if not found or (top is not None and len(found) < top):
        raise BadInputError(
            f"--top-pairs: {top or 1:,} wanted, found {counted(len(found), 'pair')} of symbols that trade in at least "
            f"{MIN_BARS} of {BARS} parts of the day; give a lower number, or the pairs with --pairs"
        )
    names = [sorted((symbols[pair.first], symbols[pair.second])) for pair in found[: top or _DEFAULT_PAIRS]]
    return [(first, second) for first, second in names]


def read_pairs(file: Path) -> tuple[SymbolPair, ...]:
    """Read a list of pairs: CSV with the columns symbol1 and symbol2."""
    pairs: dict[frozenset[str], SymbolPair] = {}
    for number, row in enumerate(_rows(file), 1):
        first, second = row.get("symbol1"), row.get("symbol2")
        if not first or not second:
            raise BadInputError(f"{file}: row {number}: no symbol1 or no symbol2; give CSV with symbol1,symbol2")
        if first == second or frozenset((first, second)) in pairs:
            wrong = "the same symbol twice" if first == second else "this pair is there already"
            raise BadInputError(f"{file}: row {number}: {first!r}, {second!r}: {wrong}; remove the row")
        pairs[frozenset((first, second))] = (first, second)
    if not pairs:
        raise BadInputError(f"{file}: no pair in it; give CSV with symbol1,symbol2")
    return tuple(pairs.values())


def _rows(file: Path) -> Iterator[dict[str, str]]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as source:
            yield from csv.DictReader(source)
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInputError(f"{file}: cannot be read: {reason}; give CSV with symbol1,symbol2") from None
