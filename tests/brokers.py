"""Kafka brokers for tests: real ones, on a free port, that end with the test."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient

from pairs.core.process_tree import end_tree, end_with_parent
from pairs.transport.kafka.broker import prepare_broker


@dataclass(frozen=True)
class RunningBroker:
    """A broker and its process."""

    bootstrap: str
    pid: int


@contextmanager
def running_broker(folder: Path) -> Iterator[RunningBroker]:
    """Start a broker; end it whatever happens."""
    broker = prepare_broker(folder)
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen(broker.command, stdout=log, stderr=log, preexec_fn=end_with_parent)
    try:
        broker.wait_until_up(lambda: None)
        yield RunningBroker(broker.bootstrap, process.pid)
    finally:
        end_tree(process.pid)
        process.wait()


def topics_of(bootstrap: str) -> set[str]:
    """Return the topics of a broker, but for those of its own."""
    known = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics
    return {topic for topic in known if not topic.startswith("__")}
