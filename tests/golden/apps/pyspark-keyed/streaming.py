"""What all plans have in common: the command line, the stream of ticks, and the way of answers to the sink."""

import argparse
import os
import time
from functools import cache, partial
from pathlib import Path

import kafka
import session
from progress import Progress

from pairs.transport.clients import open_sink
from pairs.transport.kafka.settings import KafkaSettings
from pairs.transport.ticklog_file import TickLogReader
from pairs.transport.ticklog_spark import TickLogSource

PROGRESS_EVERY_S = 0.5
ONCE = "once"
KEPT_BATCHES = 500  # whose times are remembered until Spark has told of them


def argument_parser(description, shards, max_ticks_per_batch):
    """Return the parser of the command line of a plan with micro-batches, with its defaults."""
    parser = common_parser(description, shards, max_ticks_per_batch)
    add = parser.add_argument
    add("--partitions", type=int, default=1, metavar="N", help="tasks that read a batch; default: 1")
    add("--ticks-per-read", type=int, default=32768, metavar="N", help="ticks handed over at a time")
    delivery = "answers over Kafka: by Spark's own sink, or once, each batch in a transaction"
    add("--delivery", choices=["spark", ONCE], default="spark", help=delivery)
    return parser


def common_parser(description, shards, max_ticks_per_batch):
    """Return what all plans have of the command line."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("--source", required=True, metavar="FOLDER", help="a tick log, or a folder with kafka.json")
    add("--sink", required=True, metavar="HOST:PORT|FOLDER", help="where answers go; with Kafka the same folder")
    add("--checkpoint", required=True, metavar="FOLDER", help="where Spark keeps offsets and state")
    add("--remove-checkpoint", action="store_true", help="when all ticks are answered")
    add("--master", metavar="URL", help="Spark master; default: spark-submit's, or local[*]")
    add("--shards", type=int, default=shards, metavar="N", help=f"tasks that hold the state; default: {shards}")
    add("--max-ticks-per-batch", type=int, default=max_ticks_per_batch, metavar="N", help="0: no limit")
    add("--progress", metavar="FILE", default=os.devnull, help="where to write what Spark tells of its batches")
    add("--conf", action="append", default=[], metavar="KEY=VALUE", help="Spark setting; repeatable")
    return parser


def read_ticks(spark, arguments):
    """Return the stream of ticks, a row each; with several sources, `source` says by which a tick came."""
    settings, batch = KafkaSettings.of(arguments.source), (arguments.partitions, arguments.max_ticks_per_batch)
    return kafka.read_ticks(spark, settings, *batch) if settings else _read_log(spark, arguments, blocks=False)


def read_blocks(spark, arguments):
    """Return the stream of ticks in blocks of records; with several sources, by which they came and how far it is."""
    settings, batch = KafkaSettings.of(arguments.source), (arguments.partitions, arguments.max_ticks_per_batch)
    return kafka.read_blocks(spark, settings, *batch) if settings else _read_log(spark, arguments, blocks=True)


def sources_of(arguments):
    """Return the partitions that ticks come by: each is in order, but any of them may be ahead of the others."""
    settings = KafkaSettings.of(arguments.source)
    return settings.sources if settings else [0]


def _read_log(spark, arguments, blocks):
    spark.dataSource.register(TickLogSource)
    return (
        spark.readStream.format("ticklog")
        .option("path", arguments.source)
        .option("partitions", arguments.partitions)
        .option("maxTicksPerBatch", arguments.max_ticks_per_batch)
        .option("ticksPerRead", arguments.ticks_per_read)
        .option("blocks", blocks)
        .load()
    )


def sender_to(address, handed, once=False):
    """Return what sends the answers of a batch to a sink, and notes in `handed` when it did, by batch, in us.

    Spark's first batch is empty and starts all processes. The sink is opened after it, which tells the harness
    that the program is ready for ticks.
    """
    sink = cache(partial(open_sink, address, once=once))

    def send(rows, batch):
        answers = rows.toArrow()
        opened = sink()
        handed.pop(batch - KEPT_BATCHES, None)
        if answers.num_rows:
            handed[batch] = time.time_ns() // 1000
            opened.send(batch, answers)

    return send


def run(spark, answers, arguments):
    """Answer in micro-batches until no more ticks will come and all are answered."""
    settings, handed = KafkaSettings.of(arguments.source), {}
    if settings and arguments.delivery != ONCE:
        query = kafka.start(kafka.writer(answers, arguments, settings), arguments)
    else:
        query = _start(answers, arguments, handed)
    follow(spark, query, arguments, handed)


def follow(spark, query, arguments, handed):
    """Tell how far a query is, until no more ticks will come and all are answered."""
    ticks, progress = ticks_of(arguments), Progress(spark, query, arguments.progress, handed)
    while not query.awaitTermination(PROGRESS_EVERY_S):
        consumed = progress.note()
        ticks.mark_consumed(consumed)
        if ticks.closed and consumed == ticks.produced:
            query.stop()
            break
    end(spark, arguments)


def ticks_of(arguments):
    """Return what tells how many ticks there are, and is told how many are consumed."""
    settings = KafkaSettings.of(arguments.source)
    return kafka.Ticks(arguments.source, settings) if settings else TickLogReader(Path(arguments.source))


def end(spark, arguments):
    """Stop Spark; nobody will need the checkpoint any more."""
    if arguments.remove_checkpoint:
        session.remove(spark, arguments.checkpoint)
    spark.stop()


def _start(answers, arguments, handed):
    sender = sender_to(arguments.sink, handed, once=arguments.delivery == ONCE)
    return answers.writeStream.foreachBatch(sender).option("checkpointLocation", arguments.checkpoint).start()
