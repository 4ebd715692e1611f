"""Ticks and answers as records of Kafka."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.model.streams import STREAMS
from pairs.transport.answer_lines import InvalidLineError
from pairs.transport.kafka.records import answer_values, partition_of, read_answers, read_ticks, tick_values
from pairs.transport.kafka.settings import java_settings
from pairs.transport.tick_records import RECORD

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
WHOLE = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1)), max_size=20))
def test_ticks_are_read_as_they_were_written(rows: list[tuple[int, int, int]]) -> None:
    """A record a tick: the symbol is the key, the numbers are text."""
    ticks = np.zeros(len(rows), RECORD)
    ticks["symbol"] = [f"S{number}".encode() for number in range(len(rows))]
    for name, values in zip(("tickTS", "price", "size"), zip(*rows, strict=True), strict=bool(rows)):
        ticks[name] = values
    ticks["seq"], ticks["TS"] = np.arange(len(rows)), ticks["tickTS"] * 1000
    written = list(tick_values(ticks))
    assert (read_ticks(ticks["symbol"].tolist(), written) == ticks).all()
    if rows:
        assert written[0] == f"0,{rows[0][1]},{rows[0][2]},{rows[0][0]},{rows[0][0] * 1000}".encode()


@given(st.lists(st.tuples(NAMES, *[st.floats(allow_nan=False, allow_infinity=False)] * 4, WHOLE, WHOLE), max_size=9))
def test_indicators_read_back_the_same(rows: list[tuple[object, ...]]) -> None:
    """Doubles are written so that no bit is lost, whatever a strategy is called."""
    assert_read_back("indicators", rows)


@given(st.lists(st.tuples(NAMES, st.sampled_from(["BUY", "SELL"]), NAMES, WHOLE, WHOLE, WHOLE, WHOLE), max_size=9))
def test_orders_read_back_the_same(rows: list[tuple[object, ...]]) -> None:
    """A symbol may hold commas: it comes last."""
    assert_read_back("orders", rows)


def assert_read_back(stream: str, rows: list[tuple[object, ...]]) -> None:
    """Write answers and read them."""
    schema = STREAMS[stream].schema
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    answers = pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)
    found = read_answers(stream, answer_values(stream, answers))
    assert found.equals(answers)
    for name in ("ratio", "avgRatio") if stream == "indicators" else ():
        signs = [[math.copysign(1, value) for value in table[name].to_pylist()] for table in (found, answers)]
        assert signs[0] == signs[1]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"1,2,3", "has 3 values, not 6"),
        (b"x,1.0,1.0,1.0,5,5", "ratio is 'x'"),
        (b"1.0,1.0,1.0,1.0,5,5.5", "inputTS is '5.5'"),
        (b"\xff,1,1,1,1,1", "is not UTF-8"),
        (None, "has 1 values"),
    ],
)
def test_what_is_not_an_answer_is_refused(value: bytes | None, problem: str) -> None:
    """The error says what is wrong with the record."""
    with pytest.raises(InvalidLineError) as error:
        read_answers("indicators", [(b"st_1", value)])
    assert problem in error.value.problem


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"abc", 479470107),
    ],
)
def test_partitions_are_those_of_kafkas_clients(key: bytes, hashed: int) -> None:
    """The hash is Kafka's murmur2, with the values that Kafka's own tests have."""
    for partitions in (1, 2, 3, 7, 1000):
        assert partition_of(key, partitions) == (hashed & 0x7FFFFFFF) % partitions


def test_settings_are_named_for_java() -> None:
    """Logins and certificates of librdkafka become those of Kafka's Java client; what both know stays."""
    given = {"security.protocol": "SASL_SSL", "sasl.mechanisms": "SCRAM-SHA-512"}
    found = java_settings({**given, "sasl.username": "me", "sasl.password": 'a"b\\c'})
    assert found["sasl.mechanism"] == "SCRAM-SHA-512"
    assert found["security.protocol"] == "SASL_SSL"
    assert found["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a\\"b\\\\c";'
    )
    plain = java_settings({"sasl.mechanism": "PLAIN", "sasl.username": "me", "sasl.password": "secret"})
    assert "plain.PlainLoginModule" in plain["sasl.jaas.config"]
    assert java_settings({"ssl.endpoint.identification.algorithm": "none"}) == {
        "ssl.endpoint.identification.algorithm": ""
    }
