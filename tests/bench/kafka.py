"""`make bench-kafka`: the send delay of one driver over Kafka, beside that over the tick log.

A market of constant rate is played in real time, one record a tick. Over Kafka a broker is started on this machine, and
nobody consumes; the tick log is consumed as fast as it fills. Both are played in turns, so that they meet the same
machine. The question is whether the harness limits a run over Kafka.
"""

import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pairs.dataset.folder import Dataset
from pairs.measure.recorded_files import read_drivers
from pairs.measure.send_delay import summarize
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SendDelaySummary
from pairs.transport.kafka.transport import KafkaTransport, kafka_settings
from tests.bench.driver import market, play
from tests.brokers import running_broker

RATES = (5_000, 100_000)
REPEATS = 2


def play_over_kafka(folder: Path, dataset: Dataset, bootstrap: str) -> SendDelaySummary:
    """Let one driver play a market to a broker; return its send delay."""
    run = Run(folder / "run-over-kafka")
    run.path.mkdir()
    transport = KafkaTransport(run.transport_folder, 1, kafka_settings(bootstrap, 1))
    transport.create()
    try:
        start = time.time_ns() // 1000 + 2_000_000
        command = [sys.executable, "-m", "pairs.harness.driver", str(run.path), str(dataset.path)]
        subprocess.run([*command, "--speed", "1", "--start", str(start)], check=True)
        return summarize(read_drivers(run, 1))
    finally:
        transport.remove()


def main() -> None:
    """Measure at all rates and print."""
    table = Table(
        "ticks/s", "transport", "ticks", "p50 ms", "p99 ms", "max ms", "acknowledged p99 ms", box=None, pad_edge=False
    )
    with tempfile.TemporaryDirectory() as name, running_broker(Path(name) / "broker") as broker:
        markets = {rate: market(Path(name), rate) for rate in RATES}
        for rate, _, transport in product(RATES, range(REPEATS), ("ticklog", "kafka")):
            with tempfile.TemporaryDirectory() as scratch:
                folder, dataset = Path(scratch), markets[rate]
                kafka = transport == "kafka"
                delay = play_over_kafka(folder, dataset, broker.bootstrap) if kafka else play(folder, dataset)
            times = delay.p50_s, delay.p99_s, delay.max_s, delay.acknowledged_p99_s
            values = ("-" if seconds is None else f"{seconds * 1000:.2f}" for seconds in times)
            table.add_row(f"{rate:,}", transport, f"{delay.ticks:,}", *values)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
