"""A Kafka broker for one machine: one KRaft node on loopback, with a bounded heap, its data in a folder of its own."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pairs.core.errors import BadInputError, PairsError, one_line
from pairs.core.files import write_text
from pairs.core.jars import ensure_first
from pairs.core.progress import waiting
from pairs.core.spark import check_java, find_java
from pairs.transport.kafka.jars import BROKER

HOST = "127.0.0.1"
_HEAP = ("-Xms512m", "-Xmx512m")
# The thorough compiler would take a core from the engine for the first half minute.
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_TIME_TO_START_S = 60
_POLL_S = 0.05
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
# One node, topics only by request, and no more disk than half an hour of ticks, or 4 GiB a partition, take.
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.segment.bytes=67108864
log.retention.ms=1800000
log.retention.bytes=4294967296
log.retention.check.interval.ms=5000
file.delete.delay.ms=1000
"""


@dataclass(frozen=True)
class Broker:
    """A broker whose files are in a folder; it is a process of whoever starts its command."""

    folder: Path
    port: int

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def command(self) -> list[str]:
        return _java(*_HEAP, "kafka.Kafka", str(self.folder / "server.properties"))

    def wait_until_up(self, check: Callable[[], None]) -> None:
        """Wait until it listens; `check` raises if its process has ended."""
        for _ in range(int(_TIME_TO_START_S / _POLL_S)):
            check()
            if _listens(self.port):
                return
            time.sleep(_POLL_S)
        raise PairsError(f"the broker did not listen on {self.bootstrap} within {_TIME_TO_START_S} s; see its log")


def require_broker() -> None:
    """Refuse to go on without what a broker needs, or install it."""
    check_java()
    ensure_first([BROKER])


@waiting("preparing a Kafka broker")
def prepare_broker(folder: Path, port: int | None = None) -> Broker:
    """Write the properties of a broker, on a free port if none is given, and format its data folder."""
    require_broker()
    port, controller_port = _free_ports(port)
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    properties = folder / "server.properties"
    write_text(properties, _PROPERTIES.format(host=HOST, port=port, controller_port=controller_port, data=data))
    command = _java("kafka.tools.StorageTool", "format", "-t", uuid4().hex[:22], "-c", str(properties))
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=_TIME_TO_START_S, check=True)  # noqa: S603
    except subprocess.CalledProcessError as error:
        raise PairsError(f"{data}: the broker cannot format its folder: {one_line(error.stderr)}") from None
    except subprocess.TimeoutExpired:
        raise PairsError(f"{data}: the broker did not format its folder within {_TIME_TO_START_S} s") from None
    return Broker(folder, port)


def _java(*words: str) -> list[str]:
    """Return the command that calls Java with the broker's classes: options, main class and its arguments."""
    return [find_java(), *_JVM, "-cp", str(BROKER.jars()[0].parent / "*"), *words]


def _free_ports(port: int | None) -> tuple[int, int]:
    """Return a port for clients and one for the controller; both were free a moment ago."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for listening, wanted in zip(sockets, (port or 0, 0), strict=True):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what a stopped broker left is no harm
            try:
                listening.bind((HOST, wanted))
            except OSError as error:
                raise BadInputError(f"--port: {wanted} cannot be used: {error.strerror}; give another") from None
        first, second = (listening.getsockname()[1] for listening in sockets)
    return first, second


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(_POLL_S)
        return probe.connect_ex((HOST, port)) == 0
