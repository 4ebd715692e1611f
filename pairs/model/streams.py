"""The output streams of the workload: one specification for everything the kit knows about a stream.

Transport, sink, validator, measure and report iterate over STREAMS; only code about pairs trading itself, such as the
page of a strategy, names INDICATORS or ORDERS.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pairs.model.tuples import INDICATOR, MARKET_ORDER

TOLERANCE = 1e-9  # relative, of doubles


@dataclass(frozen=True)
class StreamSpec:
    """An output stream: its columns, and how its answers are matched and scored."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]  # answers are matched by key, and by occurrence among equal keys
    scored: bool = False  # whether its latency counts for the score
    tolerance: float = TOLERANCE
    marker: str | None = None  # in a table shared by streams, the column that is not null in rows of this stream

    @property
    def recorded_schema(self) -> pa.Schema:
        """The columns as a run records them: with the time of arrival, us of wall time."""
        return self.schema.append(pa.field("sinkTS", pa.int64(), nullable=False))


INDICATORS = StreamSpec("indicators", INDICATOR, key=("strategy", "inputTickTS"))
ORDERS = StreamSpec("orders", MARKET_ORDER, key=("strategy", "inputTickTS", "type"), scored=True, marker="type")

STREAMS: Mapping[str, StreamSpec] = {stream.name: stream for stream in (INDICATORS, ORDERS)}
SCORED = next(stream for stream in STREAMS.values() if stream.scored)
