"""Lets Spark's JVM start in half the time: an archive of its classes, made once for an installation, used where it is.

`python -m pairs.core.class_archive` makes it; `make setup` does so. It is Java's own class data sharing: a JVM that
cannot use the archive, because Java or Spark has changed since, starts without it.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

ARCHIVE = Path(sys.prefix) / "share" / "pairs" / f"spark-{version('pyspark')}.jsa"
_OPTION = "spark.driver.extraJavaOptions"


def settings() -> dict[str, str]:
    """Return the settings of Spark that make its JVM use the archive, if there is one."""
    return {_OPTION: f"-XX:SharedArchiveFile={ARCHIVE} -Xshare:auto -Xlog:disable"} if ARCHIVE.is_file() else {}


def make() -> None:
    """Let Spark do a little of all that the kit and its programs do, and keep the classes it needed."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    partial = ARCHIVE.with_name(f".{ARCHIVE.name}")
    partial.unlink(missing_ok=True)
    conf = {
        _OPTION: f"-XX:ArchiveClassesAtExit={partial} -Xlog:disable",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    gateway: Any = spark.sparkContext._gateway
    spark.sparkContext.parallelize([1, 2], 2).map(lambda one: one + 1).collect()
    _stream(spark)
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    partial.rename(ARCHIVE)


def _stream(spark: Any) -> None:
    """Run a query with the operators of the generated programs."""

    def same(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    def count(key: Any, pieces: Iterator[Any], state: Any) -> Iterator[Any]:
        state.update((b"",))
        yield from pieces

    done: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        rows = spark.readStream.format("rate").load().selectExpr("value % 2 AS key", "value")
        counted = (
            rows.mapInArrow(same, "key LONG, value LONG")
            .groupBy("key")
            .applyInPandasWithState(count, "key LONG, value LONG", "state BINARY", "append", "NoTimeout")
        )
        query = (
            counted.writeStream.foreachBatch(lambda frame, _: done.append(frame.toArrow().num_rows))
            .option("checkpointLocation", folder)
            .start()
        )
        while len(done) < 2 and query.isActive:
            time.sleep(0.1)
        query.stop()


if __name__ == "__main__":
    make()
