"""The tuples of the benchmark, as classes and as Arrow schemas, in one place. Knows nothing else of the kit.

Data keeps the benchmark's names (tickTS, avgRatio); units are in the comments, or in the name where it is ours.
"""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class StockTick:
    """One trade as a dataset holds it. The harness adds TS, the wall time, when it sends the tick."""

    symbol: str
    price: int  # cents
    size: int  # shares
    tickTS: int  # ms of simulated time


@dataclass(frozen=True, slots=True)
class Indicator:
    """What a strategy knows of its pair when a window closes."""

    strategy: str
    ratio: float
    avgRatio: float
    upperBand: float
    lowerBand: float
    inputTickTS: int  # tickTS of the tick that closed the window
    inputTS: int = 0  # TS of that tick, us of wall time; 0 where ticks were not sent


@dataclass(frozen=True, slots=True)
class MarketOrder:
    """What a strategy buys or sells."""

    strategy: str
    type: str  # BUY or SELL
    symbol: str
    price: int  # cents
    size: int  # shares
    inputTickTS: int
    inputTS: int = 0


@dataclass(frozen=True, slots=True)
class Strategy:
    """One pairs-trading strategy: what it watches and how it decides."""

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
    def warm_up_ms(self) -> int:
        """Time until the first indicator."""
        return self.period_ms * self.num_periods


@dataclass(frozen=True, slots=True)
class StrategySet:
    """All strategies of a run, and when the market closes."""

    market_close_ms: int
    strategies: tuple[Strategy, ...]


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


STOCK_TICK = _schema(symbol=pa.string(), price=pa.int32(), size=pa.int32(), tickTS=pa.int64())

# The same in memory: each symbol is stored once, ticks refer to it by number.
STOCK_TICK_CODED = STOCK_TICK.set(0, pa.field("symbol", pa.dictionary(pa.int32(), pa.string()), nullable=False))

INDICATOR = _schema(
    strategy=pa.string(),
    ratio=pa.float64(),
    avgRatio=pa.float64(),
    upperBand=pa.float64(),
    lowerBand=pa.float64(),
    inputTickTS=pa.int64(),
    inputTS=pa.int64(),
)

MARKET_ORDER = _schema(
    strategy=pa.string(),
    type=pa.string(),
    symbol=pa.string(),
    price=pa.int64(),
    size=pa.int64(),  # a strategy that got rich on a penny stock owns many
    inputTickTS=pa.int64(),
    inputTS=pa.int64(),
)

STREAMS = {"indicators": INDICATOR, "orders": MARKET_ORDER}

# What the parameters of a generated strategy are drawn from.
AVAILABLE_FUNDS_CENTS = (1_000_000, 2_000_000, 5_000_000)
PERIOD_LENGTHS_S = (5, 10, 20, 30, 60)
NUMBERS_OF_PERIODS = (5, 6, 7, 8, 9, 10, 15, 20, 25, 30)
BANDS_MULTIPLIERS = (1.2, 1.5, 1.8, 2.0)
STOP_LOSS_FRACTIONS = (0.1, 0.2, 0.3)
