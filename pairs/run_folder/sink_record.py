"""sink.json: what the sink received, and what of it it dropped as a repetition."""

from typing import ClassVar

from pairs.core.records import Record


class SinkRecord(Record):
    """What sink.json says; it is written as the run goes on."""

    FORMAT: ClassVar = 1
    REMEDY: ClassVar = "run it again"

    writers: int
    batches: int
    repeated_batches: int
    repeated_rows: dict[str, int]  # by stream
