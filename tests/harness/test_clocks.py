"""The clocks are honest: an engine of known latency measures as just that, also one that stands still for a while."""

import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from pairs.config.load import RunSettings
from pairs.dataset.folder import Dataset
from pairs.harness.supervisor import Job, Outcome, execute
from pairs.run_folder.folder import Run, new_run
from pairs.translator.target import Launch, Target
from tests.markets import golden_market

SPEED = 90.0  # the golden quarter of an hour in ten seconds
ENGINE = """
import sys, time
from collections import deque
from pathlib import Path
import numpy as np
import pyarrow as pa
from pairs.transport.answers import open_sink
from pairs.transport.ticklog import TickLogReader
from pairs.model.tuples import INDICATOR, MARKET_ORDER

source, address, delay_us, block_at, block_s = sys.argv[1:]
log, sink = TickLogReader(Path(source)), open_sink(address)
types = {one.name: one.type for schema in (INDICATOR, MARKET_ORDER) for one in schema}
waiting, position, batch, blocked = deque(), 0, 0, False
while not (log.closed and position == log.written and not waiting):
    seen, written = time.time_ns() // 1000, log.written
    for records in log.read(position, written):
        wanted = records[records["seq"] % 20 == 0]
        waiting.extend((seen + int(delay_us), int(one["tickTS"]), int(one["TS"])) for one in wanted)
    position = written
    log.mark_done(position)
    if not blocked and position >= int(block_at):
        blocked = True
        time.sleep(float(block_s))
    due = []
    while waiting and waiting[0][0] <= time.time_ns() // 1000:
        due.append(waiting.popleft())
    if due:
        rows = {name: pa.nulls(len(due), kind) for name, kind in types.items()}
        rows |= {name: pa.array(["BUY"] * len(due)) for name in ("strategy", "type", "symbol")}
        rows |= {name: pa.array([1] * len(due)) for name in ("price", "size")}
        rows |= {"inputTickTS": pa.array([one[1] for one in due]), "inputTS": pa.array([one[2] for one in due])}
        sink.send(batch, pa.table(rows))
        batch += 1
    time.sleep(0.0005)
"""


class KnownEngine(Target):
    """An engine that answers to every twentieth tick after a fixed time, and may stand still for a while."""

    name = "known"
    summary = "an engine of known latency"
    plans: ClassVar = {"shared": ""}
    options: ClassVar = {}
    templates = Path()

    def __init__(self, script: Path, delay_us: int, block_at: int, block_s: float) -> None:
        self._script = script
        self._more = [str(delay_us), str(block_at), str(block_s)]

    def command(self, launch: Launch) -> list[str]:
        """Run the script."""
        return [sys.executable, str(self._script), str(launch.source), launch.sink, *self._more]


def measure(tmp_path: Path, delay_us: int = 0, block_at: int = 10**9, block_s: float = 0) -> tuple[Outcome, Run]:
    """Run such an engine in real time."""
    script = tmp_path / "engine.py"
    script.write_text(ENGINE)
    dataset = Dataset(golden_market(tmp_path / "market"))
    run = new_run(tmp_path / "run", overwrite=False)
    run.app_folder.mkdir()
    phases = {"measurement": 0, "cool-down": 900_000}
    settings = RunSettings("known", "shared", SPEED, 1, "", 60_000, 120_000, (), {})
    target = KnownEngine(script, delay_us, block_at, block_s)
    return execute(run, Job(dataset, target, settings, None, phases, 900_000)), run


def latencies_ms(run: Run) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the latencies of all answers, and when their ticks were due."""
    rows = pq.read_table(run.answers_file("orders"))
    due = rows["inputTS"].to_numpy()
    return (rows["sinkTS"].to_numpy() - due) / 1000, due


@pytest.mark.slow
def test_a_fixed_delay_measures_as_such(tmp_path: Path) -> None:
    """An engine that answers after 50 ms has a median latency of 50 ms, within 3 ms."""
    _, run = measure(tmp_path, delay_us=50_000)
    latencies, _ = latencies_ms(run)
    assert len(latencies) == -(-26_669 // 20)
    assert float(np.median(latencies)) == pytest.approx(50, abs=3)
    assert latencies.min() >= 50


@pytest.mark.slow
def test_standing_still_counts_for_every_answer_due(tmp_path: Path) -> None:
    """While an engine stands still for 2 s, ticks go on being due: each answer is late by what was left of it."""
    outcome, run = measure(tmp_path, block_at=9_000, block_s=2)
    latencies, due = latencies_ms(run)
    assert outcome.start_us is not None
    worst = int(np.argmax(latencies))
    assert 1_950 <= latencies[worst] <= 2_300
    ends = due[worst] + latencies[worst] * 1000  # when it went on
    within = (due >= due[worst]) & (due <= ends - 50_000)
    assert within.sum() > 100
    left_ms = (ends - due[within]) / 1000
    assert (latencies[within] >= left_ms - 1).all()
    assert (latencies[within] <= left_ms + 100).all()
    assert float(np.median(latencies[~within])) < 20
