"""Opens what a program reads ticks from and answers to, whatever the transport. Imported by generated programs."""

import time
from collections.abc import Iterator
from pathlib import Path

from pairs.transport.answers import AnswerSink, FolderSink, SocketSink
from pairs.transport.kafka.settings import KafkaSettings
from pairs.transport.tick_records import Records
from pairs.transport.ticklog_file import TickLogReader

_PAUSE_S = 0.0005  # when there are no new ticks


def open_sink(address: str, writer: int = 0, once: bool = False) -> AnswerSink:
    """Open the sink at HOST:PORT, the topics of a run over Kafka by its folder, or a folder to write to.

    What was sent before a crash is dropped by the receiver, or, over Kafka with `once`, not sent again.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        return SocketSink(host, int(port), writer)
    if kafka := KafkaSettings.of(address):
        from pairs.transport.kafka.client import KafkaOnceSink, KafkaSink

        return (KafkaOnceSink if once else KafkaSink)(Path(address), kafka)
    return FolderSink(Path(address), writer)


def tick_batches(source: str, max_ticks: int) -> Iterator[Records]:
    """Yield the ticks of a run in the order of the stream, as they come, until no more will come."""
    if kafka := KafkaSettings.of(source):
        from pairs.transport.kafka.client import KafkaTicks

        return KafkaTicks(Path(source), kafka).batches(max_ticks)
    return _logged_batches(TickLogReader(Path(source)), max_ticks)


def _logged_batches(log: TickLogReader, max_ticks: int) -> Iterator[Records]:
    position = 0
    while True:
        closed, produced = log.closed, log.produced
        for records in log.read(position, min(produced, position + max_ticks)):
            yield records
            position += len(records)
            log.mark_consumed(position)
        if closed and position == produced:
            return
        if position == produced:
            time.sleep(_PAUSE_S)
