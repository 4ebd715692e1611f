"""sink.json: what the sink received, and what it dropped because it had it already."""

from pairs.core.records import Record


class SinkRecord(Record):
    """Counts of batches and answers, kept up to date while the run lasts."""

    FORMAT = 1
    REMEDY = "run it again"

    writers: int
    batches: int  # recorded
    rows: dict[str, int]  # recorded, by stream
    repeated_batches: int  # dropped
    repeated_rows: dict[str, int]  # dropped, by stream
    recent_latency_us: dict[str, int]  # p50, p99 and max of the last seconds, for the live view
