"""The transport kafka."""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from pairs.core.errors import BadInputError, PairsError
from pairs.core.interrupts import uninterrupted
from pairs.core.progress import warn
from pairs.model.streams import STREAMS
from pairs.transport.base import Arrival, Positions, Refusal, StartProcess, TickWriter, Transport, no_process
from pairs.transport.kafka.broker import prepare_broker
from pairs.transport.kafka.control import READY_FILE, Control, create_control
from pairs.transport.kafka.settings import KafkaSettings

BROKER = "broker"  # the process of a run that has one of its own
_CLIENT = "client."  # before the names of client settings


def kafka_settings(
    bootstrap: str | None,
    partitions: int,
    keep_topics: bool = False,
    client: Mapping[str, str] | None = None,
    sources: Sequence[int] | None = None,
) -> dict[str, str]:
    """Return the settings of the transport; without a bootstrap address a broker is started for the run.

    `sources` are the partitions that ticks come by, if not all.
    """
    found = {"partitions": str(partitions), "sources": ",".join(map(str, sources or range(partitions)))}
    found |= {f"{_CLIENT}{name}": _absolute(name, value) for name, value in (client or {}).items()}
    found |= {"keep_topics": "true"} if keep_topics else {}
    return found if bootstrap is None else found | {"bootstrap": bootstrap}


def _absolute(name: str, value: str) -> str:
    """Return a setting that names a file such that it holds in any folder."""
    return str(Path(value).absolute()) if name.endswith(".location") else value


class KafkaTransport(Transport):
    """Any broker; one record a tick."""

    name = "kafka"

    def __init__(self, folder: Path, drivers: int = 1, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder, drivers, settings)
        self._keep_topics = "keep_topics" in self.settings
        self._ready_file = folder / READY_FILE
        self._receiving_file = folder / "receiving"

    @cached_property
    def _control(self) -> Control:
        return Control(self.folder)

    @cached_property
    def _kafka(self) -> KafkaSettings:
        settings = KafkaSettings.of(self.folder)
        if settings is None:
            raise PairsError(f"{self.folder}: no run over Kafka there")
        return settings

    def refuse_conflicts(self) -> None:
        if "bootstrap" in self.settings:
            from pairs.transport.kafka.topics import refuse_existing

            refuse_existing(self._of_run(self.settings["bootstrap"]))

    def create(self, start: StartProcess = no_process) -> None:
        """Start a broker if none is given, and create the topics on it."""
        from pairs.transport.kafka.topics import create_topics

        super().create(start)
        create_control(self.folder)
        settings = self._of_run(self.settings.get("bootstrap") or self._start_broker(start))
        with uninterrupted():
            create_topics(settings, self._keep_topics)
            settings.write(self.folder)  # from now on the topics are ours to remove

    def _start_broker(self, start: StartProcess) -> str:
        broker = prepare_broker(self.folder / BROKER)
        broker.wait_until_up(start(BROKER, broker.command))
        return broker.bootstrap

    def _of_run(self, bootstrap: str) -> KafkaSettings:
        name = re.sub(r"[^A-Za-z0-9._-]", "_", self.folder.parent.name)[:200]
        return KafkaSettings(
            bootstrap=bootstrap,
            ticks=f"{name}.ticks",
            answers={stream: f"{name}.{stream}" for stream in STREAMS},
            partitions=int(self.settings["partitions"]),
            sources=[int(number) for number in self.settings["sources"].split(",")],
            drivers=self.drivers,
            client={
                key.removeprefix(_CLIENT): value for key, value in self.settings.items() if key.startswith(_CLIENT)
            },
        )

    def remove(self) -> None:
        """Remove the topics; a broker of the run's own has ended by now, and its topics with it."""
        from pairs.transport.kafka.topics import remove_topics

        if "bootstrap" in self.settings and not self._keep_topics:
            with suppress(PairsError):  # the topics were never created
                settings = self._kafka
                try:
                    remove_topics(settings)
                except BadInputError as error:
                    warn(f"the topics {', '.join(settings.topics)} are still there: {error}")
        super().remove()

    @property
    def source(self) -> str:
        return str(self.folder)

    @property
    def sink(self) -> str | None:
        return str(self.folder) if self._receiving_file.exists() else None

    @property
    def ready(self) -> bool:
        return self._ready_file.exists()

    def writer(self, driver: int) -> TickWriter:
        from pairs.transport.kafka.writer import KafkaWriter

        return KafkaWriter(self._kafka, self._control, driver)

    def positions(self) -> Positions:
        control = self._control
        return Positions(control.produced, control.read_up_to, control.is_closed(self.drivers), control.consumed)

    def next_tick_ts(self) -> int | None:
        """Return how far the drivers are: what the engine reads next, nobody but Kafka and the engine knows."""
        return self._control.tick_ts(self.drivers)

    def receive(
        self,
        handle: Callable[[Arrival], None],
        ended: threading.Event,
        refuse: Callable[[Refusal], None] = lambda _: None,
    ) -> None:
        """Consume the topics of answers; once `ended` is set, what is in them is still received."""
        from pairs.transport.kafka.receiver import Receiver

        receiver = Receiver(self._kafka, refuse)
        self._receiving_file.touch()
        receiver.run(handle, ended)
