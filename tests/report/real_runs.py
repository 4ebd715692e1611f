"""Real runs for the tests in a browser: passed, with wrong answers, and with a driver that was held up."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from pairs.run_folder.folder import Run

_MARKET = ("--profile", "quick", "--duration", "20m")  # twenty seconds at the profile's speed
_MASTER = ("--master", "local[2]")
_HALF_S = 9.0  # into the run, within the measurement interval


def pairs(folder: Path, *arguments: str) -> str:
    """Run `pairs` in a folder; return what it printed. Exit code 1 says that a score does not count."""
    done = subprocess.run(
        [sys.executable, "-m", "pairs.cli", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def passed(folder: Path) -> Run:
    """Do the whole benchmark with Spark."""
    printed = pairs(folder, "bench", *_MARKET, *_MASTER, "--data", "market", "-o", "passed")
    run = Run(folder / "passed")
    assert f"{run.report_file.name}: " in printed
    return run


def failed(folder: Path, original: Run) -> Run:
    """Spoil the answers of a run in every way there is, and judge it again."""
    run = Run(folder / "failed")
    shutil.copytree(original.path, run.path)
    orders = pq.read_table(run.answers_file("orders"))
    price = orders["price"].to_numpy().copy()
    price[::9] += 3
    orders = orders.set_column(orders.schema.get_field_index("price"), "price", pa.array(price))
    kept = np.arange(len(orders)) % 11 != 5
    pq.write_table(pa.concat_tables([orders.filter(pa.array(kept)), orders.slice(3, 4)]), run.answers_file("orders"))
    indicators = pq.read_table(run.answers_file("indicators"))
    ratio = indicators["ratio"].to_numpy().copy()
    ratio[100::7] *= 1 + 1e-6
    place = indicators.schema.get_field_index("ratio")
    pq.write_table(indicators.set_column(place, "ratio", pa.array(ratio)), run.answers_file("indicators"))
    for verb in (("validate", "failed", *_MASTER), ("score", "failed"), ("report", "failed")):
        pairs(folder, *verb)
    return run


def void(folder: Path) -> Run:
    """Run with a driver that stands still for three seconds of the measurement interval."""
    run = Run(folder / "void")
    command = [sys.executable, "-m", "pairs.cli", "run", "market", "--target", "bare", "-o", "void"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        driver = _driver_of(process)
        time.sleep(max(_start_s(run, process) + _HALF_S - time.time(), 0))
        os.kill(driver, signal.SIGSTOP)
        time.sleep(3)
        os.kill(driver, signal.SIGCONT)
    assert process.returncode == 0
    for verb in (("validate", "void", *_MASTER), ("score", "void"), ("report", "void")):
        pairs(folder, *verb)
    return run


def _start_s(run: Run, process: subprocess.Popen[bytes]) -> float:
    """Wait until it is known when the first tick is due; return the wall time."""
    while process.poll() is None:
        if run.manifest_file.exists() and run.manifest.start_us is not None:
            return run.manifest.start_us / 1e6
        time.sleep(0.05)
    raise AssertionError("the run ended before it began")


def _driver_of(process: subprocess.Popen[bytes]) -> int:
    """Wait for the driver of a run to be there; return its process id."""
    while process.poll() is None:
        for child in psutil.Process(process.pid).children(recursive=True):
            if "pairs.harness.driver" in child.cmdline():
                return child.pid
        time.sleep(0.05)
    raise AssertionError("the run ended before it had a driver")
