"""The transports that there are, and how the processes of a run open theirs."""

from collections.abc import Mapping
from pathlib import Path

from pairs.core.errors import BadInputError
from pairs.transport.base import RECORD_FILE, Transport, TransportRecord
from pairs.transport.kafka.transport import KafkaTransport
from pairs.transport.ticklog import TickLogTransport

TRANSPORTS: Mapping[str, type[Transport]] = {"ticklog": TickLogTransport, "kafka": KafkaTransport}


def load_transport(folder: Path) -> Transport:
    record = TransportRecord.read(folder / RECORD_FILE)
    if record.name not in TRANSPORTS:
        known = ", ".join(TRANSPORTS)
        raise BadInputError(f"{folder / RECORD_FILE}: name: {record.name!r} is not one of {known}; {record.REMEDY}")
    return TRANSPORTS[record.name](folder, record.drivers, record.settings)
