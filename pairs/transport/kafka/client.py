"""What a program without an engine of its own needs to read ticks from Kafka, in their order, and to answer."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from pairs.core.errors import PairsError
from pairs.transport.answers import split_streams
from pairs.transport.kafka.consuming import CONSUMER, next_messages
from pairs.transport.kafka.control import READY_FILE, Control
from pairs.transport.kafka.producing import send_record
from pairs.transport.kafka.records import answer_values, read_ticks
from pairs.transport.kafka.settings import KafkaSettings
from pairs.transport.tick_records import RECORD, Records

_TIMEOUT_S = 15.0
_PRODUCER = {"linger.ms": "0.5", "enable.idempotence": "true"}  # the answers to a tick share a request


class KafkaTicks:
    """The ticks of a run, in the order of the stream, from however many partitions."""

    def __init__(self, folder: Path, settings: KafkaSettings) -> None:
        self._control, self._drivers = Control(folder), settings.drivers
        self._consumer = Consumer(settings.for_librdkafka | CONSUMER | {"group.id": "pairs-engine"})
        partitions = range(settings.partitions)
        self._consumer.assign([TopicPartition(settings.ticks, number, OFFSET_BEGINNING) for number in partitions])
        self._held = np.empty(0, RECORD)  # behind a gap
        self._next = 0

    def batches(self, max_ticks: int) -> Iterator[Records]:
        """Yield ticks as they come, without a gap, until no more will come."""
        while not (self._control.is_closed(self._drivers) and self._next == self._control.produced):
            messages = next_messages(self._consumer, max_ticks)
            if failed := next((message.error() for message in messages if message.error()), None):
                raise KafkaException(failed)
            ticks = self._in_order(read_ticks([m.key() for m in messages], [m.value() for m in messages]))
            if len(ticks):
                yield ticks
                self._control.mark_consumed(self._next)

    def _in_order(self, ticks: Records) -> Records:
        """Return what continues the stream without a gap; hold the rest back."""
        if len(self._held) or (np.diff(ticks["seq"]) != 1).any():
            ticks = np.concatenate([self._held, ticks])
            ticks = ticks[np.argsort(ticks["seq"])]
        gaps = np.flatnonzero(ticks["seq"] != np.arange(self._next, self._next + len(ticks)))
        whole = int(gaps[0]) if len(gaps) else len(ticks)
        self._held = ticks[whole:]
        self._next += whole
        return ticks[:whole]


class KafkaSink:
    """The topics of answers. They are on their way when `send` returns; in the end all are there."""

    def __init__(self, folder: Path, settings: KafkaSettings) -> None:
        self._topics = settings.answers
        self._failure: KafkaError | None = None
        self._producer = Producer(settings.for_librdkafka | _PRODUCER | {"on_delivery": self._note})
        (folder / READY_FILE).touch()

    def _note(self, error: KafkaError | None, _: Message) -> None:
        self._failure = error or self._failure

    def send(self, batch: int, answers: pa.Table) -> None:
        _produce(self._producer, self._topics, answers)
        self._producer.poll(0)
        if self._failure is not None:
            raise PairsError(f"Kafka did not accept an answer: {self._failure.str()}")

    def close(self) -> None:
        if self._producer.flush(_TIMEOUT_S) or self._failure is not None:
            raise PairsError("Kafka did not accept the last answers; see the log of the broker")


class KafkaOnceSink:
    """The topics of answers; a batch is a transaction, and one that was sent before a crash is not sent again.

    With the answers the transaction has the number of the batch, as an offset of a group of consumers: both are there,
    or none of them.
    """

    def __init__(self, folder: Path, settings: KafkaSettings) -> None:
        name = f"{settings.ticks}.answers"
        self._topics, self._place = settings.answers, TopicPartition(settings.ticks, 0)
        self._producer = Producer(settings.for_librdkafka | _PRODUCER | {"transactional.id": name})
        self._producer.init_transactions(_TIMEOUT_S)  # aborts what a killed program left
        self._group = Consumer(settings.for_librdkafka | CONSUMER | {"group.id": name})
        self._next = max(self._group.committed([self._place], _TIMEOUT_S)[0].offset, 0)
        (folder / READY_FILE).touch()

    def send(self, batch: int, answers: pa.Table) -> None:
        if batch < self._next:
            return
        self._producer.begin_transaction()
        _produce(self._producer, self._topics, answers)
        sent = [TopicPartition(self._place.topic, self._place.partition, batch + 1)]
        self._producer.send_offsets_to_transaction(sent, self._group.consumer_group_metadata(), _TIMEOUT_S)
        self._producer.commit_transaction(_TIMEOUT_S)

    def close(self) -> None:
        self._group.close()


def _produce(producer: Producer, topics: Mapping[str, str], answers: pa.Table) -> None:
    for stream, rows in split_streams(answers).items():
        for strategy, value in answer_values(stream, rows):
            send_record(producer, topics[stream], value, strategy)
