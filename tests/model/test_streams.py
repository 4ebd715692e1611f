"""Tests of the streams: one specification for everything that the kit knows about a stream."""

import pyarrow as pa

from pairs.model.streams import INDICATORS, ORDERS, SCORED, STREAMS


def test_keys_are_columns_and_only_one_stream_is_scored() -> None:
    """Every specification is complete."""
    for name, stream in STREAMS.items():
        assert stream.name == name
        assert set(stream.key) <= set(stream.schema.names)
        assert stream.marker is None or stream.marker in stream.schema.names
    assert [stream for stream in STREAMS.values() if stream.scored] == [SCORED] == [ORDERS]


def test_a_run_records_the_time_of_arrival() -> None:
    """After the columns that the engine sends."""
    for stream in (INDICATORS, ORDERS):
        assert stream.recorded_schema.names == [*stream.schema.names, "sinkTS"]
        assert stream.recorded_schema.field("sinkTS").type == pa.int64()


def test_answers_are_matched_as_specified() -> None:
    """Indicators by strategy and trigger, orders by type in addition; doubles within 1e-9."""
    assert INDICATORS.key == ("strategy", "inputTickTS")
    assert ORDERS.key == ("strategy", "inputTickTS", "type")
    assert {stream.tolerance for stream in STREAMS.values()} == {1e-9}
