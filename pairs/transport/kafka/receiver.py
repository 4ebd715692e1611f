"""Receives answers from Kafka, a record each, and stamps them when the consumer hands them over."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import SimpleQueue

import pyarrow as pa
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from pairs.core.errors import PairsError, one_line
from pairs.run_folder.records import InvalidRow
from pairs.transport.answer_lines import InvalidLineError
from pairs.transport.base import Arrival, Refusal
from pairs.transport.kafka.consuming import CONSUMER, next_messages
from pairs.transport.kafka.records import read_answers
from pairs.transport.kafka.settings import KafkaSettings

_OWN = {"group.id": "pairs-sink", "enable.partition.eof": "true"}  # the end of a partition counts its transactions
_TIMEOUT_S = 15.0
_MOST_TOGETHER = 10_000


class Receiver:
    """Consumes all partitions of the topics of answers from their beginning."""

    def __init__(self, settings: KafkaSettings, refuse: Callable[[Refusal], None]) -> None:
        self._streams = {topic: stream for stream, topic in settings.answers.items()}
        self._refuse = refuse
        self._arrived: SimpleQueue[tuple[list[Message], int] | None] = SimpleQueue()  # with the time; None: the end
        self._failure: PairsError | None = None
        self._consumer = Consumer(settings.for_librdkafka | CONSUMER | _OWN | {"error_cb": _log})
        self._places = [
            TopicPartition(topic, number, OFFSET_BEGINNING)
            for topic in self._streams
            for number in range(settings.partitions)
        ]
        self._consumer.assign(self._places)

    def run(self, handle: Callable[[Arrival], None], ended: threading.Event) -> None:
        """Call `handle` with what arrives together; once `ended` is set, until all that is there has arrived.

        A thread consumes and stamps, so that no answer waits for others to be recorded.
        """
        thread = threading.Thread(target=self._consume, args=(ended,), daemon=True)
        thread.start()
        batch = 0
        while (arrived := self._arrived.get()) is not None:
            messages, arrived_us = arrived
            handle(Arrival(0, batch, self._read(messages), arrived_us))
            batch += 1
        thread.join()
        if self._failure is not None:
            raise self._failure

    def _consume(self, ended: threading.Event) -> None:
        try:
            for messages in self._until_drained(ended):
                self._arrived.put((messages, time.time_ns() // 1000))
        except KafkaException as error:
            self._failure = PairsError(f"Kafka does not answer any more: {one_line(error.args[0].str())}")
        finally:
            self._consumer.close()
            self._arrived.put(None)

    def _until_drained(self, ended: threading.Event) -> Iterator[list[Message]]:
        reached = {(place.topic, place.partition): 0 for place in self._places}
        while True:
            ending = ended.is_set()
            found = [message for message in next_messages(self._consumer, _MOST_TOGETHER) if not _is_failure(message)]
            messages = [message for message in found if message.error() is None]
            for message in found:
                reached[message.topic(), message.partition()] = _position_after(message)
            if messages:
                yield messages
            elif ending and all(self._end_of(place) <= reached[place.topic, place.partition] for place in self._places):
                return

    def _end_of(self, place: TopicPartition) -> int:
        return int(self._consumer.get_watermark_offsets(place, timeout=_TIMEOUT_S)[1])

    def _read(self, messages: Sequence[Message]) -> Mapping[str, pa.Table]:
        found: dict[str, list[Message]] = {}
        for message in messages:
            found.setdefault(self._streams[message.topic()], []).append(message)
        return {stream: self._answers(stream, records) for stream, records in found.items()}

    def _answers(self, stream: str, messages: list[Message]) -> pa.Table:
        """Read the answers of a stream; refuse those that are none, one by one."""
        try:
            return read_answers(stream, ((message.key(), message.value()) for message in messages))
        except InvalidLineError:
            valid = [message for message in messages if self._is_valid(stream, message)]
        return read_answers(stream, ((message.key(), message.value()) for message in valid))

    def _is_valid(self, stream: str, message: Message) -> bool:
        try:
            read_answers(stream, [(message.key(), message.value())])
        except InvalidLineError as error:
            print(f"sink: {message.topic()}, offset {message.offset()}: {error.problem}", file=sys.stderr, flush=True)
            self._refuse(
                Refusal(stream, InvalidRow(file=message.topic(), line=message.offset(), problem=error.problem))
            )
            return False
        return True


def _is_failure(message: Message) -> bool:
    return message.error() is not None and message.error().code() != KafkaError._PARTITION_EOF


def _position_after(message: Message) -> int:
    """Return where its partition goes on: after a record, or at the end, which has an offset of its own."""
    return int(message.offset()) + (message.error() is None)


def _log(error: KafkaError) -> None:
    print(f"sink: Kafka: {error.str()}", file=sys.stderr, flush=True)
