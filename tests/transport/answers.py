"""Made-up answers, and a transport that receives them in this process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairs.model.streams import INDICATORS, ORDERS
from pairs.transport.base import Arrival, Refusal
from pairs.transport.ticklog import TickLogTransport
from tests.processes import wait_until

_TYPES = {field.name: field.type for stream in (INDICATORS, ORDERS) for field in stream.schema}
SCHEMA = pa.schema(_TYPES)
EMPTY: dict[str, Any] = dict.fromkeys(_TYPES)


def answers(*tick_ts: int, strategy: str = "st_00001") -> pa.Table:
    """Make an indicator and an order for each time."""
    rows = []
    for time in tick_ts:
        key = {"strategy": strategy, "inputTickTS": time, "inputTS": time * 1000}
        rows.append(EMPTY | key | {"ratio": 1.0, "avgRatio": 2.0, "upperBand": 3.0, "lowerBand": 4.0})
        rows.append(EMPTY | key | {"type": "BUY", "symbol": "AAAAAA", "price": 5, "size": 10})
    return pa.Table.from_pylist(rows, SCHEMA)


@contextmanager
def receiving(
    folder: Path, handle: Callable[[Arrival], None], refuse: Callable[[Refusal], None] = lambda _: None
) -> Iterator[str]:
    """Receive answers in a thread; give the address to send them to. In the end all that was sent is handled."""
    transport, ended = TickLogTransport(folder), threading.Event()
    transport.create()
    receiver = threading.Thread(target=transport.receive, args=(handle, ended, refuse))
    receiver.start()
    try:
        wait_until(lambda: transport.sink is not None)
        yield str(transport.sink)
    finally:
        ended.set()
        receiver.join()
