"""The clocks are honest: an engine of known latency measures as just that, also if it stands still for a while."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from pairs.harness.supervisor import Outcome
from pairs.run_folder.folder import Run
from tests.harness.engines import play_golden
from tests.markets import GOLDEN_TICKS

pytestmark = [pytest.mark.process, pytest.mark.slow]

SPEED = 90.0  # the golden quarter of an hour in ten seconds
ENGINE = """
import sys, time
from collections import deque
from pathlib import Path
import numpy as np
import pyarrow as pa
from pairs.transport.clients import open_sink
from pairs.transport.ticklog_file import TickLogReader
from pairs.model.tuples import INDICATOR, MARKET_ORDER

delay_us, block_at, block_s, source, address = sys.argv[1:]
log, sink = TickLogReader(Path(source)), open_sink(address)
types = {field.name: field.type for schema in (INDICATOR, MARKET_ORDER) for field in schema}
waiting, position, batch, blocked = deque(), 0, 0, False
while not (log.closed and position == log.produced and not waiting):
    seen, produced = time.time_ns() // 1000, log.produced
    for records in log.read(position, produced):
        wanted = records[records["seq"] % 20 == 0]
        waiting.extend((seen + int(delay_us), int(tick["tickTS"]), int(tick["TS"])) for tick in wanted)
    position = produced
    log.mark_consumed(position)
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
        _, tick_ts, ts = zip(*due)
        rows |= {"inputTickTS": pa.array(tick_ts), "inputTS": pa.array(ts)}
        sink.send(batch, pa.table(rows))
        batch += 1
    time.sleep(0.0005)
"""


def measure(tmp_path: Path, delay_us: int = 0, block_at: int = 10**9, block_s: float = 0) -> tuple[Run, Outcome]:
    """Run an engine that answers to every twentieth tick after a fixed time, and may stand still for a while."""
    return play_golden(tmp_path, ENGINE, delay_us, block_at, block_s, speed=SPEED)


def latencies_ms(run: Run) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the latencies of all answers, and when their ticks were due."""
    rows = pq.read_table(run.answers_file("orders"))
    due = rows["inputTS"].to_numpy()
    return (rows["sinkTS"].to_numpy() - due) / 1000, due


def test_a_fixed_delay_measures_as_such(tmp_path: Path) -> None:
    """An engine that answers after 50 ms has a median latency of 50 ms, within 3 ms."""
    run, _ = measure(tmp_path, delay_us=50_000)
    latencies, _ = latencies_ms(run)
    assert len(latencies) == -(-GOLDEN_TICKS // 20)
    assert float(np.median(latencies)) == pytest.approx(50, abs=3)
    assert latencies.min() >= 50


def test_standing_still_counts_for_every_answer_due(tmp_path: Path) -> None:
    """While an engine stands still for 2 s, ticks go on being due: each answer is late by what was left of it."""
    run, outcome = measure(tmp_path, block_at=9_000, block_s=2)
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
