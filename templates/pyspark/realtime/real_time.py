"""A query in real-time mode: its settings, source and sink, and how far its batch is while it lasts."""

import os
import re
import sys
import time

import kafka
import session
import streaming
from progress import Progress
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame

from pairs.transport.kafka.settings import KafkaSettings

MOST_RESTARTS = 3  # of a query that failed: in this mode a task is not tried again
RESTART_AFTER_S = 1.0
IDLE_S = 3.0  # without a new tick, after which all that were read are answered
POLL_S = 0.05

SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # By default a row may wait 50 ms until the buffer that takes it to its pair is full.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    # Tells how far a batch is while it lasts.
    "spark.plugins": "pairs.spark.TicksRead",
    # Unlike micro-batches, one job runs for minutes: the thorough compiler pays.
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:InitialRAMPercentage=100 -XX:NewRatio=1",
    "spark.executor.defaultJavaOptions": "-XX:+UseSerialGC -XX:InitialRAMPercentage=100 -XX:NewRatio=1",
}


def with_slots(arguments):
    """Return the arguments with a local master that has slots for the reader and all shards: they run all at once."""
    master = arguments.master or session.submitted_conf().get("spark.master", "local[*]")
    slots = re.match(r"local\[(\*|\d+)", master)
    if slots is not None:
        found = len(os.sched_getaffinity(0)) if slots[1] == "*" else int(slots[1])
        arguments.master = f"local[{max(found, 1 + arguments.shards)}]"
    return arguments


def read_ticks(spark, arguments):
    """Return the stream of ticks, a row each; one partition, for pairs need them in order."""
    found = KafkaSettings.of(arguments.source)
    if found is None:
        source = spark.readStream.format("pairs.spark.TickLogProvider").option("path", arguments.source)
        return source.option("maxTicksPerBatch", arguments.max_ticks_per_batch).load()
    if found.partitions > 1:
        sys.exit("app.py: plan realtime needs all ticks in one partition; give --partitions 1, or plan keyed")
    arguments.partitions, arguments.max_ticks_per_batch = 1, 0
    return kafka.read_ticks(spark, arguments, found)


def writer_of(spark, answers, market, arguments):
    """Return what writes answers, a dataset of Java's, in real-time mode."""
    found, rows = KafkaSettings.of(arguments.source), DataFrame(answers.toDF(), spark)
    if found is None:
        host, _, port = arguments.sink.rpartition(":")
        if not (host and port.isdigit()):
            sys.exit("app.py: --sink: plan realtime answers to HOST:PORT or over Kafka; give one of them")
        writer = rows.writeStream
        writer._jwrite = spark._jvm.pairs.spark.RealTimePlan.toSink(answers, host, int(port), market)
        writer = writer.option("checkpointLocation", arguments.checkpoint)
    else:
        writer = kafka.writer(rows, arguments, found)
    return writer.outputMode("update").trigger(realTime=f"{arguments.batch_seconds} seconds")


def run(spark, writer, arguments):
    """Answer until no more ticks will come and all are answered; a query that fails is started again."""
    ticks = streaming.ticks_of(arguments)
    for restarts in range(MOST_RESTARTS + 1):
        query = writer.start()
        try:
            _follow(spark, query, ticks, arguments)
            break
        except StreamingQueryException as error:
            if restarts == MOST_RESTARTS:
                raise
            print(f"app.py: the query failed and is started again: {error}", file=sys.stderr, flush=True)
            time.sleep(RESTART_AFTER_S)
    streaming.end(spark, arguments)


def _follow(spark, query, ticks, arguments):
    """Tell how far the query is, until all ticks are answered."""
    over_kafka = KafkaSettings.of(arguments.source) is not None
    progress, plugin = Progress(spark, query, arguments.progress, {}), spark._jvm.pairs.spark.TicksRead
    if over_kafka:
        _await_tasks(spark, query, 1 + arguments.shards)
        kafka.tell_ready(arguments)
    read, read_at = -1, time.monotonic()
    while not query.awaitTermination(streaming.PROGRESS_EVERY_S):
        consumed = progress.note()
        ticks.mark_consumed(consumed)
        if over_kafka:  # the source of the tick log itself marks what is read, and its batch ends with the last tick
            before, read = read, consumed + plugin.told()
            read_at = read_at if read == before else time.monotonic()
            ticks.mark_read(read)
        idle = read >= ticks.produced and time.monotonic() - read_at > IDLE_S
        if ticks.closed and (consumed == ticks.produced or idle):
            query.stop()
            return


def _await_tasks(spark, query, count):
    """Wait until the first batch runs: so many tasks, all at once."""
    tracker = spark.sparkContext.statusTracker()
    while query.isActive:
        stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
        if sum(stage.numActiveTasks for stage in stages) >= count:
            return
        time.sleep(POLL_S)
