"""The tuples of the benchmark as Arrow schemas, in one place. Knows nothing else of the kit."""

import pyarrow as pa

# One trade as a dataset holds it. The harness adds TS, the wall time, when it sends the tick.
STOCK_TICK = pa.schema(
    [
        pa.field("symbol", pa.string(), nullable=False),
        pa.field("price", pa.int32(), nullable=False),  # cents
        pa.field("size", pa.int32(), nullable=False),  # shares
        pa.field("tickTS", pa.int64(), nullable=False),  # ms of simulated time
    ]
)

# The same in memory: each symbol is stored once, ticks refer to it by number.
STOCK_TICK_CODED = STOCK_TICK.set(0, pa.field("symbol", pa.dictionary(pa.int32(), pa.string()), nullable=False))

# What a strategy's parameters are drawn from.
PERIOD_LENGTHS_S = (5, 10, 20, 30, 60)
NUMBERS_OF_PERIODS = (5, 6, 7, 8, 9, 10, 15, 20, 25, 30)
