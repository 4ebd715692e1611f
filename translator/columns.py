"""What the programs that evaluate strategies column-wise cannot hold."""

from collections.abc import Iterator

from pairs.model.strategy import StrategySet

_MAX_STATE = 5_000_000  # ratios, or sums of prices, that one shard can hold: 40 MB


def column_refusals(strategies: StrategySet) -> Iterator[str]:
    """Yield what does not fit: all columns are as wide as the longest strategy."""
    members = strategies.strategies
    longest = max(members, key=lambda strategy: strategy.num_periods)
    if longest.num_periods * len(members) > _MAX_STATE:
        periods = f"{longest.num_periods:,} periods are too many for {len(members):,} strategies"
        yield f"strategy {longest.alias!r}: {periods}"
    periods_ms = {strategy.period_ms for strategy in members}
    symbols = {symbol for strategy in members for symbol in (strategy.symbol1, strategy.symbol2)}
    if len(periods_ms) * len(symbols) > _MAX_STATE:
        yield f"{len(periods_ms):,} different periods on {len(symbols):,} symbols are too many"
