"""Kafka as a transport, on a real broker: what drivers send and what the sink receives."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from confluent_kafka import Producer

from pairs.core.errors import BadInputError
from pairs.transport.base import Arrival, Refusal
from pairs.transport.clients import open_sink, tick_batches
from pairs.transport.kafka.settings import KafkaSettings
from pairs.transport.kafka.transport import KafkaTransport, kafka_settings
from pairs.transport.registry import load_transport
from pairs.transport.tick_records import RECORD, Records
from tests.brokers import topics_of
from tests.transport.answers import answers


@contextmanager
def transport(folder: Path, bootstrap: str, drivers: int = 1, partitions: int = 1) -> Iterator[KafkaTransport]:
    """Create a transport; remove it in the end."""
    made = KafkaTransport(folder / "transport", drivers, kafka_settings(bootstrap, partitions))
    made.create()
    try:
        yield made
    finally:
        made.remove()


def ticks(count: int) -> Records:
    """Make ticks of 20 symbols."""
    records = np.zeros(count, RECORD)
    records["symbol"] = [f"SYM{number * 7 % 20}" for number in range(count)]
    records["price"], records["size"] = np.arange(1, count + 1), 100
    records["tickTS"] = np.arange(count) // 3
    records["TS"] = 1_700_000_000_000_000 + records["tickTS"] * 1000
    return records


@pytest.mark.parametrize(("drivers", "partitions"), [(1, 1), (1, 3), (2, 3), (3, 5)])
def test_ticks_arrive_in_their_order(tmp_path: Path, kafka_broker: str, drivers: int, partitions: int) -> None:
    """Whatever the number of drivers and partitions: each once, in the order of the stream, and then an end."""
    sent = ticks(3_000)
    with transport(tmp_path, kafka_broker, drivers, partitions) as made:
        for driver in range(drivers):
            with load_transport(made.folder).writer(driver) as writer:
                for first in range(0, len(sent), 700):
                    writer.append(writer.share(sent[first : first + 700].copy()))
        assert (made.positions().produced, made.positions().closed) == (len(sent), True)
        found = np.concatenate(list(tick_batches(made.source, 1_000)))
        assert made.positions().backlog == 0
    sent["seq"] = np.arange(len(sent))
    assert (found == sent).all()


def test_every_append_is_acknowledged(tmp_path: Path, kafka_broker: str) -> None:
    """A tick of each call is sampled; the time is known when the writer has closed."""
    with transport(tmp_path, kafka_broker) as made:
        with made.writer(0) as writer:
            for _ in range(5):
                writer.append(writer.share(ticks(10)))
        assert len(writer.acknowledged_us) == 5
        assert min(writer.acknowledged_us) > 0


def received(made: KafkaTransport, send: "threading.Thread") -> tuple[list[Arrival], list[Refusal]]:
    """Receive until a thread that sends has ended; all that it sent is received."""
    arrivals: list[Arrival] = []
    refusals: list[Refusal] = []
    ended = threading.Event()
    receiver = threading.Thread(target=made.receive, args=(arrivals.append, ended, refusals.append))
    receiver.start()
    send.start()
    send.join()
    ended.set()
    receiver.join()
    return arrivals, refusals


def test_answers_are_received_whole(tmp_path: Path, kafka_broker: str) -> None:
    """All that is in the topics when the end comes is received, of both streams and all partitions."""
    sent = answers(200)
    with transport(tmp_path, kafka_broker, partitions=3) as made:

        def send() -> None:
            sink = open_sink(str(made.folder))
            for batch in range(4):
                sink.send(batch, sent)
            sink.close()

        arrivals, refusals = received(made, threading.Thread(target=send))
        assert made.ready
    assert not refusals
    rows = {
        stream: sum(len(a.streams[stream]) for a in arrivals if stream in a.streams)
        for stream in ("indicators", "orders")
    }
    assert sum(rows.values()) == 4 * len(sent)
    assert all(rows.values())


def test_records_that_are_no_answers_are_counted(tmp_path: Path, kafka_broker: str) -> None:
    """Each is refused with its offset and the reason; the others count."""
    with transport(tmp_path, kafka_broker) as made:
        topics = (KafkaSettings.of(made.folder) or pytest.fail("no settings")).answers

        def send() -> None:
            producer = Producer({"bootstrap.servers": kafka_broker})
            producer.produce(topics["orders"], b"BUY,5,10,7,8,A,B", b"st_1")
            producer.produce(topics["orders"], b"BUY,five,10,7,8,A", b"st_1")
            producer.produce(topics["indicators"], b"garbage", b"st_2")
            producer.flush(10)

        arrivals, refusals = received(made, threading.Thread(target=send))
    orders = pa.concat_tables([a.streams["orders"] for a in arrivals if "orders" in a.streams]).to_pylist()
    assert [(row["strategy"], row["symbol"]) for row in orders] == [("st_1", "A,B")]
    told = [(refusal.stream, refusal.row.line, refusal.row.problem) for refusal in refusals if refusal.row]
    assert ("orders", 1, "price is 'five', not a whole number") in told
    assert ("indicators", 0, "has 1 values, not 6 for ratio,avgRatio,upperBand,lowerBand,inputTickTS,inputTS") in told


def test_topics_come_and_go_with_the_run(tmp_path: Path, kafka_broker: str) -> None:
    """They have the name of the run's folder, and are gone after it; those that exist are refused and stay."""
    folder = tmp_path / "my run"
    with transport(folder, kafka_broker) as made:
        assert {"my_run.ticks", "my_run.indicators", "my_run.orders"} <= topics_of(kafka_broker)
        again = KafkaTransport(folder / "transport", 1, made.settings)
        with pytest.raises(BadInputError, match=r"topic my_run\.ticks: exists on .*; remove it, or give another -o"):
            again.refuse_conflicts()
    assert not {topic for topic in topics_of(kafka_broker) if topic.startswith("my_run")}
