"""A pairs-trading strategy, a set of strategies, and how many there are at a scale factor, with which parameters."""

from dataclasses import dataclass

from pairs.core.units import show_duration

_LONG_BEFORE_MS = 1_000  # the last tick may come a little after the close, as the bell


@dataclass(frozen=True, slots=True)
class Strategy:
    """A pairs-trading strategy: the symbols it watches and how it decides."""

    alias: str
    user: str | None  # hand-written sets may leave it out
    available_funds_cents: int
    symbol1: str
    symbol2: str
    period_ms: int
    num_periods: int
    bands_multiplier: float
    stop_loss_fraction: float

    @property
    def pair(self) -> tuple[str, str]:
        """The two symbols, in the order of the alphabet."""
        return min(self.symbol1, self.symbol2), max(self.symbol1, self.symbol2)

    @property
    def warm_up_ms(self) -> int:
        """Time until the first indicator."""
        return self.period_ms * self.num_periods


@dataclass(frozen=True, slots=True)
class StrategySet:
    """All strategies of a run, and when the market closes."""

    market_close_ms: int
    strategies: tuple[Strategy, ...]

    @property
    def symbols(self) -> set[str]:
        return {symbol for strategy in self.strategies for symbol in (strategy.symbol1, strategy.symbol2)}

    def late_close(self, last_ts: int) -> str | None:
        """Return what is wrong if no tick of a dataset, with its last one at `last_ts`, closes the market."""
        if self.market_close_ms <= last_ts:
            return None
        wrong = f"marketClose is {self.market_close_ms}, after the dataset's last tick at {last_ts}"
        return f"{wrong}, so the bell never rings; give {last_ts} or less"

    def premature_close(self, last_ts: int) -> str | None:
        """Return what is wrong if the market closes before any strategy can answer, although the dataset is longer."""
        first = min((strategy.warm_up_ms for strategy in self.strategies), default=0)
        if not self.market_close_ms < first <= last_ts:
            return None
        wrong = f"marketClose is {self.market_close_ms}, before the first strategy can answer at {first}"
        return f"{wrong}; give {last_ts}, the dataset's last tick"

    def early_close(self, last_ts: int) -> str | None:
        """Return a remark on a market that closes long before the last tick."""
        if last_ts - self.market_close_ms < _LONG_BEFORE_MS:
            return None
        close, end = show_duration(self.market_close_ms), show_duration(last_ts)
        return (
            f"the market closes at {close} (marketClose), the dataset ends at {end}: ticks after the close are ignored"
        )


AVAILABLE_FUNDS_CENTS = (1_000_000, 2_000_000, 5_000_000)
PERIOD_LENGTHS_S = (5, 10, 20, 30, 60)
NUMBERS_OF_PERIODS = (5, 6, 7, 8, 9, 10, 15, 20, 25, 30)
BANDS_MULTIPLIERS = (1.2, 1.5, 1.8, 2.0)
STOP_LOSS_FRACTIONS = (0.1, 0.2, 0.3)

SYMBOLS_PER_MARKET = 100
STRATEGIES_PER_UNIT = 25  # of scale factor
STRATEGIES_PER_USER = 5
UNITS_PER_MARKET = 10


def markets_of(scale_factor: int) -> int:
    return -(-scale_factor // UNITS_PER_MARKET)
