"""The output streams of the workload: everything that the kit must know of a stream, in one place.

Transport, sink, validator, measure and report take streams from STREAMS; only what is about pairs trading itself, such
as the page of a strategy, names INDICATORS or ORDERS.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pairs.model.tuples import INDICATOR, MARKET_ORDER

TOLERANCE = 1e-9  # relative, of doubles


@dataclass(frozen=True)
class StreamSpec:
    """An output stream: what an engine sends, and how it is matched and scored."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]  # an answer is matched by it, and by its occurrence among equal keys
    scored: bool = False  # whether its latency is the score's
    tolerance: float = TOLERANCE
    marker: str | None = None  # the column that tells its rows where streams share a table; null in those of others

    @property
    def recorded_schema(self) -> pa.Schema:
        """The columns as a run records them: with the time of arrival, us of wall time."""
        return self.schema.append(pa.field("sinkTS", pa.int64(), nullable=False))


INDICATORS = StreamSpec("indicators", INDICATOR, key=("strategy", "inputTickTS"))
ORDERS = StreamSpec("orders", MARKET_ORDER, key=("strategy", "inputTickTS", "type"), scored=True, marker="type")

STREAMS: Mapping[str, StreamSpec] = {stream.name: stream for stream in (INDICATORS, ORDERS)}
SCORED = next(stream for stream in STREAMS.values() if stream.scored)
