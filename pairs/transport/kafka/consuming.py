"""How records of Kafka are consumed: as soon as they are there."""

from confluent_kafka import Consumer, Message

CONSUMER = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": "100",
}
_POLL_S = 0.05
_MOST = 1_000_000  # that the client hands over at once


def next_messages(consumer: Consumer, most: int) -> list[Message]:
    """Return what has arrived, without waiting for more; wait for the first."""
    first = consumer.poll(_POLL_S)
    return [] if first is None else [first, *consumer.consume(min(most - 1, _MOST), 0)]
