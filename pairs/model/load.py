"""The load of a run, one half of its score: ticks per wall second, times the work that strategies have with a tick."""

from collections.abc import Mapping, Sequence

from pairs.model.strategy import Strategy

MATCH_WEIGHT = 100  # the work of a strategy that a tick concerns, to that of a strategy that only looks at it
UNIT_OF_LOAD = 125_000  # so that the load of scale factor 1 is 3


def load(ticks_per_second: float, strategies: int, matches: float) -> float:
    """Return the load: ticks per wall second at the basis rate, times the work that a tick makes.

    Every strategy looks at every tick, and those it concerns, `matches` on average, do a hundred times as much.
    """
    return ticks_per_second * (strategies + MATCH_WEIGHT * matches) / UNIT_OF_LOAD


def matches_of(strategies: Sequence[Strategy], symbols: int, trades_by_symbol: Mapping[str, int] | None) -> float:
    """Return how many strategies a tick concerns on average; imported symbols do not trade equally often."""
    watched = [symbol for strategy in strategies for symbol in (strategy.symbol1, strategy.symbol2)]
    if not trades_by_symbol:
        return len(watched) / symbols
    return sum(trades_by_symbol.get(symbol, 0) for symbol in watched) / sum(trades_by_symbol.values())
