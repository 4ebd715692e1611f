"""Warms Spark up: plays a small market of random prices to the same plan, and drops its answers.

The first ticks and the first checkpoints of a cold JVM take a hundred times as long as later ones: it loads classes and
compiles what is called often. This happens before the program says that it is ready for ticks.
"""

import atexit
import csv
import io
import shutil
import time
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from progress import position
from pyspark.sql import DataFrame
from real_time import read_log

from pairs.transport.tick_records import RECORD
from pairs.transport.ticklog_file import CLOSED, NEXT, create_log

TICKS, BATCHES = 100_000, 10
MOST_SIMULATED_MS = 1_800_000  # in which windows of any usual length end many times
POLL_S = 0.05


def warm_up(spark, strategies, market_close_ms, answers_to, arguments):
    """Run a query like the real one, through some checkpoints; its files are removed when the program ends.

    Executors of a cluster may not reach these files, so they stay cold; so does a program that is started again, for
    ticks wait already.
    """
    if arguments.cold or not spark.sparkContext.master.startswith("local") or _is_restart(spark, arguments.checkpoint):
        return
    scratch = Path(mkdtemp(prefix="pairs-warm-up-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    write_market(scratch / "log", strategies, market_close_ms)
    answers = answers_to(read_log(spark, str(scratch / "log"), TICKS // BATCHES))
    writer = DataFrame(answers.toDF(), spark).writeStream
    writer._jwrite = spark._jvm.pairs.spark.AnswerSinks.toNowhere(answers)
    writer = writer.outputMode("update").option("checkpointLocation", str(scratch / "checkpoint"))
    query = writer.trigger(realTime="60 seconds").start()
    while query.isActive and (query.lastProgress is None or position(query.lastProgress, "endOffset") < TICKS):
        time.sleep(POLL_S)
    if query.exception() is not None:
        raise query.exception()
    query.stop()
    spark._jvm.pairs.spark.TicksRead.reset()


def _is_restart(spark, checkpoint):
    """Return whether a query of this checkpoint was started before."""
    metadata = spark._jvm.org.apache.hadoop.fs.Path(checkpoint, "metadata")
    return metadata.getFileSystem(spark._jsc.hadoopConfiguration()).exists(metadata)


def write_market(log, strategies, market_close_ms):
    """Write a log of ticks at random prices, of all symbols in turn."""
    rows = list(csv.DictReader(io.StringIO(strategies)))
    symbols = sorted({row[name].encode() for row in rows for name in ("symbol1", "symbol2")})
    ticks = np.zeros(TICKS, RECORD)
    ticks["symbol"] = np.resize(np.array(symbols), TICKS)
    ticks["seq"] = np.arange(TICKS)
    ticks["price"] = np.random.default_rng(0).integers(5_000, 5_100, TICKS)
    ticks["tickTS"] = ticks["seq"] * min(MOST_SIMULATED_MS, market_close_ms - 1) // TICKS
    create_log(log, segment_records=TICKS)
    (log / "segment-00000000").write_bytes(ticks.tobytes())
    control = np.fromfile(log / "control", np.int64)
    control[[NEXT, CLOSED]] = TICKS, 1
    control.tofile(log / "control")
