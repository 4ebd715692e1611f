"""Warms Spark up: plays a small market of random prices to the same plan, and drops its answers.

The first ticks and the first checkpoints of a cold JVM take a hundred times as long as later ones: it loads classes and
compiles what is called often. This happens before the program says that it is ready for ticks.
"""

import csv
import io
import shutil
import time
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame

from pairs.transport.tick_records import RECORD
from pairs.transport.ticklog_file import create_log

TICKS, BATCHES = 100_000, 10
SIMULATED_MS = 1_800_000  # in which windows of any usual length end many times
CLOSED_LOG = {4: TICKS, 20: 1}  # places of the control file: ticks produced, and that no more will come
POLL_S = 0.05


def is_restart(arguments):
    """Return whether a query of this checkpoint was started before: then ticks wait already."""
    return (Path(arguments.checkpoint) / "metadata").exists()


def warm_up(spark, market, strategies, write_at_end, arguments):
    """Run a query like the real one, through some checkpoints; all that it needs is in the folder of the checkpoint.

    Executors of a cluster may not reach it, so they stay cold.
    """
    if not spark.sparkContext.master.startswith("local"):
        return
    plan, scratch = spark._jvm.pairs.spark.RealTimePlan, Path(arguments.checkpoint) / "warm-up"
    shutil.rmtree(scratch, ignore_errors=True)  # what a program that was killed has left
    log = scratch / "log"
    write_market(log, strategies)
    source = spark.readStream.format("pairs.spark.TickLogProvider").option("path", str(log))
    ticks = source.option("maxTicksPerBatch", TICKS // BATCHES).load()
    answers = plan.answers(ticks._jdf, market, write_at_end)
    writer = DataFrame(answers.toDF(), spark).writeStream
    writer._jwrite = plan.toNowhere(answers)
    writer = writer.outputMode("update").option("checkpointLocation", str(scratch / "checkpoint"))
    query = writer.trigger(realTime="60 seconds").start()
    while query.isActive and len(query.recentProgress) < BATCHES:
        time.sleep(POLL_S)
    query.stop()


def write_market(log, strategies):
    """Write a log of ticks at random prices, of all symbols in turn."""
    rows = list(csv.DictReader(io.StringIO(strategies)))
    symbols = sorted({row[name].encode() for row in rows for name in ("symbol1", "symbol2")})
    ticks = np.zeros(TICKS, RECORD)
    ticks["symbol"] = np.resize(np.array(symbols), TICKS)
    ticks["seq"] = np.arange(TICKS)
    ticks["price"] = np.random.default_rng(0).integers(5_000, 5_100, TICKS)
    ticks["tickTS"] = ticks["seq"] * SIMULATED_MS // TICKS
    create_log(log, segment_records=TICKS)
    (log / "segment-00000000").write_bytes(ticks.tobytes())
    control = np.fromfile(log / "control", np.int64)
    control[list(CLOSED_LOG)] = list(CLOSED_LOG.values())
    control.tofile(log / "control")
