"""The tuples of the benchmark, as classes and as Arrow schemas; fields keep the benchmark's names (tickTS)."""

from dataclasses import dataclass, fields
from typing import Any

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


_ARROW_TYPES: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64()}


def _schema(tuple_class: type, **narrower: pa.DataType) -> pa.Schema:
    """Return the columns of a class, with other types where they are given."""
    types = {column.name: narrower.get(column.name, _ARROW_TYPES[column.type]) for column in fields(tuple_class)}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in types.items()])


STOCK_TICK = _schema(StockTick, price=pa.int32(), size=pa.int32())
# The same in memory, with dictionary-encoded symbols.
STOCK_TICK_CODED = STOCK_TICK.set(0, pa.field("symbol", pa.dictionary(pa.int32(), pa.string()), nullable=False))
INDICATOR = _schema(Indicator)
MARKET_ORDER = _schema(MarketOrder)  # with sizes of 64 bits: 32 are too few for a rich strategy and a penny stock
