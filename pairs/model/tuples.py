"""The tuples of the benchmark, as classes and as Arrow schemas.

Fields keep the benchmark's names (tickTS, avgRatio).
"""

from dataclasses import dataclass

import pyarrow as pa

SYMBOL_BYTES = 16  # the longest symbol, in UTF-8


@dataclass(frozen=True, slots=True)
class StockTick:
    """A trade as stored in a dataset. The harness adds TS, the wall time, when it sends the tick."""

    symbol: str
    price: int  # cents
    size: int  # shares
    tickTS: int  # ms of simulated time


@dataclass(frozen=True, slots=True)
class Indicator:
    """The moving statistics of a strategy's pair when a window closes."""

    strategy: str
    ratio: float
    avgRatio: float
    upperBand: float
    lowerBand: float
    inputTickTS: int  # tickTS of the tick that closed the window
    inputTS: int = 0  # TS of that tick, us of wall time; 0 where ticks were not sent


@dataclass(frozen=True, slots=True)
class MarketOrder:
    """A purchase or sale by a strategy."""

    strategy: str
    type: str  # BUY or SELL
    symbol: str
    price: int  # cents
    size: int  # shares
    inputTickTS: int
    inputTS: int = 0


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


STOCK_TICK = _schema(symbol=pa.string(), price=pa.int32(), size=pa.int32(), tickTS=pa.int64())

# The same in memory, with dictionary-encoded symbols.
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
    size=pa.int64(),  # 32 bits are too few for a rich strategy and a penny stock
    inputTickTS=pa.int64(),
    inputTS=pa.int64(),
)
