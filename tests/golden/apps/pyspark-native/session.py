"""Starts Spark with the settings that low latency needs, and ships the program to the executors."""

import os
import sys
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

HERE = Path(__file__).resolve().parent
STRATEGIES = "strategies.csv"
SHIPPED = ("trading.py", "merging.py", "blocks.py")  # what executors need of the program, if it has it
JAR = HERE / "pairs.jar"  # the Java part of a program that has one

# By default large buffers go back to the system at once, and new buffers are cleared page by page: keep some.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:InitialRAMPercentage=100 -XX:NewRatio=1"

# What spark-submit or --conf sets takes precedence.
SETTINGS = {
    "spark.app.name": "pairs",
    "spark.master": "local[*]",
    **{f"spark.executorEnv.{name}": value for name, value in KEEP_MEMORY.items()},
    # Nobody looks at pages, and rendering progress costs the driver.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    # Spark's own, and what logs in to Kafka.
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|keystore[.]key|jaas",
    # JVM and Python talk through sockets of the file system: over TCP an exchange may wait 40 ms to be acknowledged.
    "spark.python.unix.domain.socket.enabled": "true",
    # Batches are many and small: the quick compiler is done with them in seconds, the thorough takes a core from them
    # for minutes. The same holds for the collector. What a batch leaves behind is young garbage: with half the
    # heap for it, and all the heap from the start, it stays out of the old half, whose collections stop everything
    # for 0.2 s.
    "spark.driver.defaultJavaOptions": JAVA_OPTIONS,
    "spark.executor.defaultJavaOptions": JAVA_OPTIONS,
    # Plans are small and always the same: adapting them costs more than it gains.
    "spark.sql.adaptive.enabled": "false",
    # Offsets, commits and state as files that are renamed by the file system, without checksums.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Hand blocks over to Python as they come, not all at once when the last is there.
    "spark.sql.execution.arrow.maxBytesPerBatch": "1m",
    # Look for new ticks at once after a batch.
    "spark.sql.streaming.pollingDelay": "1ms",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    # What is kept of past batches; it is asked for twice a second.
    "spark.sql.streaming.numRecentProgressUpdates": "20",
}


def start(arguments, plan_settings):
    """Start Spark with our settings and those of the plan, and ship the strategies and their steps."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in KEEP_MEMORY.items():
        os.environ.setdefault(name, value)  # for the JVM and the Python processes that it starts
    conf = submitted_conf()
    for name, value in (SETTINGS | plan_settings).items():
        conf.setIfMissing(name, value)
    for setting in arguments.conf:
        conf.set(*setting.split("=", 1))
    if arguments.master:
        conf.setMaster(arguments.master)
    if JAR.exists():
        conf.set("spark.jars", ",".join(filter(None, [conf.get("spark.jars", ""), str(JAR)])))
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    without_checksums(spark.sparkContext)
    for module in filter(Path.exists, map(HERE.joinpath, SHIPPED)):
        spark.sparkContext.addPyFile(str(module))
    spark.sparkContext.addFile(str(HERE / STRATEGIES))
    return spark


def submitted_conf():
    """Return what spark-submit has set; if nobody submitted the program, nothing."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # otherwise Python does not know it
    return SparkConf()


def without_checksums(context):
    """Let files be written without a second file for their checksums: for each, Hadoop starts a process."""
    context._jvm.org.apache.hadoop.fs.FileSystem.get(context._jsc.hadoopConfiguration()).setWriteChecksum(False)


def remove(spark, folder):
    """Remove a folder of any file system that Spark reaches."""
    path = spark._jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)
