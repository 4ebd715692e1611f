"""Ticks from Kafka and answers to Kafka by Spark's own source and sink, a record each."""

import time
from pathlib import Path

import blocks

from pairs.transport.kafka.control import READY_FILE, Control

POLL_S = 0.05

TICK = (
    "bigint(part[0]) AS seq",
    "symbol",
    "int(part[1]) AS price",
    "int(part[2]) AS size",
    "bigint(part[3]) AS tickTS",
    "bigint(part[4]) AS TS",
    "partition AS source",
)
INDICATOR = "concat_ws(',', ratio, avgRatio, upperBand, lowerBand, inputTickTS, inputTS)"
ORDER = "concat_ws(',', type, price, size, inputTickTS, inputTS, symbol)"


def read_ticks(spark, settings, partitions=1, max_ticks_per_batch=0):
    """Return the stream of ticks, a row each, with the partition they came by."""
    source = (
        spark.readStream.format("kafka")
        .options(**client_options(settings))
        .option("subscribe", settings.ticks)
        .option("startingOffsets", "earliest")
    )
    if partitions > settings.partitions:
        source = source.option("minPartitions", partitions)
    if max_ticks_per_batch:
        source = source.option("maxOffsetsPerTrigger", max_ticks_per_batch)
    records = source.load()
    parts = records.selectExpr("partition", "string(key) AS symbol", "split(string(value), ',') AS part")
    return parts.selectExpr(*TICK)


def read_blocks(spark, settings, partitions, max_ticks_per_batch):
    """Return the stream of ticks in blocks of records, with the partition they came by and how far it is."""
    return read_ticks(spark, settings, partitions, max_ticks_per_batch).mapInArrow(blocks.pack, blocks.SCHEMA)


def start(writer, arguments):
    """Start a query; when the first batch is done, an empty one, say that ticks may come."""
    query = writer.start()
    while query.lastProgress is None and query.isActive:
        time.sleep(POLL_S)
    tell_ready(arguments)
    return query


def writer(answers, arguments, settings):
    """Return what writes answers to their topics."""
    topics = settings.answers
    is_order = "type IS NOT NULL"
    records = answers.selectExpr(
        f"if({is_order}, '{topics['orders']}', '{topics['indicators']}') AS topic",
        "strategy AS key",
        f"if({is_order}, {ORDER}, {INDICATOR}) AS value",
    )
    sink = records.writeStream.format("kafka").options(**client_options(settings))
    return sink.option("checkpointLocation", arguments.checkpoint)


def tell_ready(arguments):
    """Tell the harness that ticks may come."""
    (Path(arguments.source) / READY_FILE).touch()


def client_options(settings):
    """Return how Kafka is reached, as Spark names it."""
    return {f"kafka.{name}": value for name, value in settings.for_java.items()}


class Ticks:
    """How many ticks there are, and whether more will come."""

    def __init__(self, folder, settings):
        self._control, self._drivers = Control(Path(folder)), settings.drivers
        self.mark_consumed, self.mark_read = self._control.mark_consumed, self._control.mark_read

    @property
    def produced(self):
        """How many ticks were sent."""
        return self._control.produced

    @property
    def consumed(self):
        """How many ticks are answered for good."""
        return self._control.consumed

    @property
    def closed(self):
        """Whether no more ticks will come."""
        return self._control.is_closed(self._drivers)
