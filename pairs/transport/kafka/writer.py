"""Sends ticks to Kafka, a record each."""

import sys
import time
from array import array
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from pairs.core.errors import PairsError
from pairs.transport.base import Positions, TickWriter
from pairs.transport.kafka.control import Control
from pairs.transport.kafka.producing import send_record
from pairs.transport.kafka.records import partition_of, tick_values
from pairs.transport.kafka.settings import KafkaSettings
from pairs.transport.tick_records import Records

_TIMEOUT_S = 30.0
_MOST_SAMPLES = 10_000_000  # of acknowledgements, 80 MB; three hours
_PRODUCER = {
    "linger.ms": "0.5",  # ticks that are due together share a request: one each would cost driver and broker more
    "enable.idempotence": "true",  # the order of sending is that of the partition, also after a retry
    "message.timeout.ms": "20000",
    "queue.buffering.max.messages": "2000000",
    "queue.buffering.max.kbytes": "1048576",
}


class KafkaWriter(TickWriter):
    """Sends the ticks of one driver: those of its share of the partitions, each in the order of the stream."""

    def __init__(self, settings: KafkaSettings, control: Control, driver: int) -> None:
        self._settings, self._control, self._driver = settings, control, driver
        self._seen = 0  # ticks of the whole stream
        self._sent = [0] * settings.partitions
        self._producer = Producer(_PRODUCER | settings.for_librdkafka | {"error_cb": _log})
        self._partition_of = cache(lambda symbol: partition_of(symbol, settings.partitions))
        self._acknowledged_us = array("q")
        self._failure: KafkaError | None = None

    def share(self, records: Records) -> Records:
        records["seq"] = np.arange(self._seen, self._seen + len(records))
        self._seen += len(records)
        if self._settings.drivers == 1:
            return records
        symbols, codes = np.unique(records["symbol"], return_inverse=True)
        drivers = np.array([self._partition_of(symbol) % self._settings.drivers for symbol in symbols.tolist()])
        own: Records = records[drivers[codes] == self._driver]
        return own

    def append(self, records: Records) -> None:
        if not len(records):
            return
        producer, topic, sent = self._producer, self._settings.ticks, self._sent
        symbols, times_ms = records["symbol"].tolist(), (records["TS"] // 1000).tolist()
        noted: Callable[[KafkaError | None, Message], None] | None = self._acknowledged_from(time.time_ns())
        for symbol, value, time_ms in zip(symbols, tick_values(records), times_ms, strict=True):
            partition = self._partition_of(symbol)
            sent[partition] += 1
            send_record(producer, topic, value, symbol, partition, noted, time_ms)
            noted = None  # one tick of each call is sampled
        producer.poll(0)
        if self._failure is not None:
            raise PairsError(f"Kafka did not accept a tick: {self._failure.str()}")
        self._control.mark_sent(self._driver, sum(sent), int(records["tickTS"][-1]))

    def _acknowledged_from(self, sent_ns: int) -> Callable[[KafkaError | None, Message], None]:
        def note(error: KafkaError | None, _: Message) -> None:
            self._failure = error or self._failure
            if len(self._acknowledged_us) < _MOST_SAMPLES:
                self._acknowledged_us.append((time.time_ns() - sent_ns) // 1000)

        return note

    @property
    def acknowledged_us(self) -> Sequence[int]:
        return self._acknowledged_us

    @property
    def positions(self) -> Positions:
        control = self._control
        return Positions(
            control.produced, control.read_up_to, control.is_closed(self._settings.drivers), control.consumed
        )

    def trim(self) -> None:
        """Leave it to the broker, which keeps ticks for some minutes; hear of what it has acknowledged."""
        self._producer.poll(0)

    def close(self) -> None:
        """Wait until the broker has all ticks, and check that it has."""
        try:
            if self._producer.flush(_TIMEOUT_S) or self._failure is not None:
                raise PairsError("Kafka did not accept the last ticks; see the log of the broker")
            self._refuse_lost()
        except KafkaException as error:
            raise PairsError(f"Kafka does not answer any more: {error.args[0].str()}") from None
        self._control.mark_closed(self._driver)

    def _refuse_lost(self) -> None:
        consumer = Consumer(self._settings.for_librdkafka | {"group.id": "pairs-driver", "error_cb": _log})
        for partition, sent in enumerate(self._sent):
            place = TopicPartition(self._settings.ticks, partition)
            if sent and consumer.get_watermark_offsets(place, timeout=_TIMEOUT_S)[1] != sent:
                raise PairsError(f"Kafka lost ticks of partition {partition}: {sent:,} were sent")
        consumer.close()


def _log(error: KafkaError) -> None:
    print(f"driver: Kafka: {error.str()}", file=sys.stderr, flush=True)
