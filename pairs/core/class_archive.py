"""Halves the start of Spark's JVM: an archive of its classes (Java's class data sharing), made once per installation.

`python -m pairs.core.class_archive`, part of `make setup`, makes it. A JVM that cannot use the archive, because Java or
Spark has changed since, starts without it.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairs.core.files import temporary_for

ARCHIVE = Path(sys.prefix) / "share" / "pairs" / f"spark-{version('pyspark')}.jsa"
_OPTION = "spark.driver.extraJavaOptions"


def settings() -> dict[str, str]:
    """Return the Spark settings that make its JVM use the archive, if it exists."""
    return {_OPTION: f"-XX:SharedArchiveFile={ARCHIVE} -Xshare:auto -Xlog:disable"} if ARCHIVE.is_file() else {}


def make() -> None:
    """Run a little of everything that the kit and its programs do on Spark, and archive the classes it loaded."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    conf = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "1"}
    with temporary_for(ARCHIVE) as partial:
        conf[_OPTION] = f"-XX:ArchiveClassesAtExit={partial} -Xlog:disable"
        spark = SparkSession.builder.master("local[2]").config(map={**conf}).getOrCreate()
        gateway: Any = spark.sparkContext._gateway
        spark.sparkContext.parallelize([1, 2], 2).map(lambda number: number + 1).collect()
        _stream(spark)
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()


def _stream(spark: Any) -> None:
    """Run a streaming query with the operators of the generated programs."""

    def same(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    def count(key: Any, pieces: Iterator[Any], state: Any) -> Iterator[Any]:
        state.update((b"",))
        yield from pieces

    columns = "key LONG, value LONG"
    done: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        rows = spark.readStream.format("rate").load().selectExpr("value % 2 AS key", "value")
        groups = rows.mapInArrow(same, columns).groupBy("key")
        counted = groups.applyInPandasWithState(count, columns, "state BINARY", "append", "NoTimeout")
        writer = counted.writeStream.foreachBatch(lambda frame, _: done.append(frame.toArrow().num_rows))
        query = writer.option("checkpointLocation", folder).start()
        while len(done) < 2 and query.isActive:
            time.sleep(0.1)
        query.stop()


if __name__ == "__main__":
    make()
