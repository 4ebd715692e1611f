"""Queries of plans that are partly Java: their source and sink, and real-time mode, with how far a batch is."""

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

MOST_RESTARTS = 3  # of a query that fails in the same batch: in this mode a task is not tried again
NO_SLOTS = "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT"  # the executors of a cluster have not come yet, or one is lost
MOST_WAITS = 240  # for slots
RESTART_AFTER_S = 1.0
IDLE_S = 3.0  # without anything to do for any task, after which all ticks that were read are answered
POLL_S = 0.05

STATE_STORE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
SETTINGS = STATE_STORE | {
    # By default a row may wait 50 ms until the buffer that takes it to its pair is full.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    # Tells how far a batch is while it lasts.
    "spark.plugins": "pairs.spark.TicksRead",
    # Unlike micro-batches, one job runs for minutes: the thorough compiler pays.
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:InitialRAMPercentage=100 -XX:NewRatio=1",
    "spark.executor.defaultJavaOptions": "-XX:+UseSerialGC -XX:InitialRAMPercentage=100 -XX:NewRatio=1",
}


def add_arguments(parser, batch_seconds):
    """Add the settings of real-time mode to a command line."""
    add = parser.add_argument
    add("--batch-seconds", type=int, default=batch_seconds, metavar="N", help=f"default: {batch_seconds}")
    add("--cold", action="store_true", help="do not warm Spark up before ticks come")


def with_slots(arguments, stateful_operators=1):
    """Return the arguments with a local master that has slots for all tasks of a batch: they run all at once."""
    arguments.slots = 1 + stateful_operators * arguments.shards  # the reader, and every shard of every operator
    given = dict(setting.split("=", 1) for setting in arguments.conf).get("spark.master")
    master = arguments.master or given or session.submitted_conf().get("spark.master", "local[*]")
    local = re.match(r"local(\[(\*|\d+)|$)", master)
    if local is not None:
        found = len(os.sched_getaffinity(0)) if local[2] == "*" else int(local[2] or 1)
        arguments.master = f"local[{max(found, arguments.slots)}]"
    return arguments


def read_ticks(spark, arguments, in_batches=False):
    """Return the stream of ticks, a row each; over Kafka of one partition, for time must not go back."""
    found = KafkaSettings.of(arguments.source)
    if found is None:
        partitions = arguments.partitions if in_batches else 1
        return read_log(spark, arguments.source, arguments.max_ticks_per_batch, partitions)
    if found.partitions > 1:
        sys.exit("app.py: this plan needs all ticks in one partition; give --partitions 1, or plan keyed")
    batch = (arguments.partitions, arguments.max_ticks_per_batch) if in_batches else ()
    return kafka.read_ticks(spark, found, *batch)


def read_log(spark, folder, max_ticks_per_batch, partitions=1):
    """Return the stream of ticks of a log, a row each, by the source in Java."""
    source = spark.readStream.format("pairs.spark.TickLogProvider").option("path", folder)
    return source.option("maxTicksPerBatch", max_ticks_per_batch).option("partitions", partitions).load()


def writer_of(spark, answers, market, arguments):
    """Return what writes answers, a dataset of Java's."""
    found, rows = KafkaSettings.of(arguments.source), DataFrame(answers.toDF(), spark)
    if found is None:
        host, _, port = arguments.sink.rpartition(":")
        if not (host and port.isdigit()):
            sys.exit("app.py: --sink: this plan answers to HOST:PORT or over Kafka; give one of them")
        writer = rows.writeStream
        writer._jwrite = spark._jvm.pairs.spark.AnswerSinks.toSink(answers, host, int(port), market)
        writer = writer.option("checkpointLocation", arguments.checkpoint)
    else:
        writer = kafka.writer(rows, arguments, found)
    return writer.outputMode("update")


def run_in_batches(spark, writer, arguments):
    """Answer in micro-batches until no more ticks will come and all are answered."""
    over_kafka = KafkaSettings.of(arguments.source) is not None
    query = kafka.start(writer, arguments) if over_kafka else writer.start()
    streaming.follow(spark, query, arguments, {})


def run(spark, writer, arguments):
    """Answer in real-time mode until the last tick is answered; a query that fails is started again."""
    writer = writer.trigger(realTime=f"{arguments.batch_seconds} seconds")
    ticks, failures, failed_at, waits = streaming.ticks_of(arguments), 0, -1, 0
    while True:
        query = writer.start()
        try:
            _follow(spark, query, ticks, arguments)
            break
        except StreamingQueryException as error:
            if NO_SLOTS in str(error) and waits < MOST_WAITS:
                waits += 1
            else:
                failures = failures + 1 if ticks.consumed == failed_at else 1  # without a batch in between
                failed_at = ticks.consumed
            if failures > MOST_RESTARTS:
                raise
            reason = str(error).splitlines()[0]
            print(f"app.py: the query failed and is started again: {reason}", file=sys.stderr, flush=True)
            time.sleep(RESTART_AFTER_S)
    streaming.end(spark, arguments)


def _follow(spark, query, ticks, arguments):
    """Tell how far the query is, until all ticks are answered."""
    over_kafka = KafkaSettings.of(arguments.source) is not None
    progress, plugin = Progress(spark, query, arguments.progress, {}), spark._jvm.pairs.spark.TicksRead
    if over_kafka and _has_started(spark, query, arguments.slots):
        kafka.tell_ready(arguments)
    while not query.awaitTermination(streaming.PROGRESS_EVERY_S):
        consumed = progress.note()
        ticks.mark_consumed(consumed)
        if over_kafka:  # the source of the tick log itself marks what is read, and its batch ends with the last tick
            ticks.mark_read(plugin.told())
        all_read = over_kafka and plugin.told() == ticks.produced and plugin.idleSeconds() > IDLE_S
        if ticks.closed and (consumed == ticks.produced or all_read):
            query.stop()
            return


def _has_started(spark, query, count):
    """Wait until the first batch runs: so many tasks, all at once. Return False if the query ended instead."""
    tracker = spark.sparkContext.statusTracker()
    while query.isActive:
        stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
        if sum(stage.numActiveTasks for stage in stages) >= count:
            return True
        time.sleep(POLL_S)
    return False
