"""`make bench-driver`: the send delay of one driver at high rates, on an otherwise idle machine.

A market of constant rate is played in real time into a tick log whose ticks are consumed as fast as they come; the send
delay that the driver recorded is printed. The question is whether the harness limits a run.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pairs.config.profile import Profile
from pairs.config.workload import complete
from pairs.core.spark import session
from pairs.dataset.folder import Dataset
from pairs.measure.recorded_files import read_drivers
from pairs.measure.send_delay import summarize
from pairs.run_folder.folder import Run
from pairs.run_folder.records import SendDelaySummary
from pairs.transport.ticklog import TickLogTransport
from pairs.transport.ticklog_file import TickLogReader
from tests.bench.validate import make_dataset

RATES = (100_000, 300_000, 600_000, 1_000_000)
SECONDS = 20


def market(folder: Path, rate: int) -> Dataset:
    """Generate a market of constant rate."""
    workload = complete({"market_rate": rate, "duration": SECONDS * 1000, "curve": "constant"})
    with session("bench-driver", "local[2]") as spark:
        return make_dataset(spark, Profile("bench", workload), folder / f"market-{rate}")


def play(folder: Path, dataset: Dataset) -> SendDelaySummary:
    """Let one driver play a market; return its send delay."""
    run = Run(folder / f"run-{dataset.path.name}")
    run.path.mkdir()
    transport = TickLogTransport(run.transport_folder)
    transport.create()
    start = time.time_ns() // 1000 + 2_000_000
    command = [sys.executable, "-m", "pairs.harness.driver", str(run.path), str(dataset.path)]
    command += ["--speed", "1", "--start", str(start)]
    driver, log = subprocess.Popen(command), TickLogReader(Path(transport.source))
    while driver.poll() is None:
        log.mark_consumed(log.produced)
        time.sleep(0.05)
    if driver.returncode:
        raise SystemExit("the driver failed")
    return summarize(read_drivers(run, 1))


def main() -> None:
    """Measure at all rates and print."""
    table = Table("ticks/s", "ticks", "p50 ms", "p99 ms", "max ms", box=None, pad_edge=False)
    with tempfile.TemporaryDirectory() as name:
        for rate in RATES:
            delay = play(Path(name), market(Path(name), rate))
            values = (f"{seconds * 1000:.2f}" for seconds in (delay.p50_s, delay.p99_s, delay.max_s))
            table.add_row(f"{rate:,}", f"{delay.ticks:,}", *values)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
