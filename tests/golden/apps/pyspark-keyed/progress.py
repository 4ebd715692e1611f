"""Writes what Spark tells of itself to a file, a JSON object a line: its settings, its batches, its garbage."""

import json
import time
from datetime import datetime
from pathlib import Path


class Progress:
    """The progress of a query; `handed` says when the answers of batches were handed to the sink."""

    def __init__(self, spark, query, path, handed):
        self._query, self._path, self._handed, self._last_batch = query, Path(path), handed, -1
        management = spark.sparkContext._jvm.java.lang.management.ManagementFactory
        self._collectors, self._memory = list(management.getGarbageCollectorMXBeans()), management.getMemoryMXBean()
        settings = dict(sorted(spark.sparkContext.getConf().getAll()))
        self._write({"kind": "settings", "time": time.time_ns() // 1000, "settings": settings})

    def note(self):
        """Write what is new; return how many ticks Spark has read."""
        batches = self._query.recentProgress
        new = [batch for batch in batches if batch["batchId"] > self._last_batch and batch["numInputRows"]]
        self._write(*(_batch_line(batch, self._handed.get(batch["batchId"])) for batch in new), self._jvm_line())
        if new:
            self._last_batch = new[-1]["batchId"]
        return _position(batches[-1], "endOffset") if batches else 0

    def _write(self, *lines):
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def _jvm_line(self):
        return {
            "kind": "jvm",
            "time": time.time_ns() // 1000,
            "gc_seconds": sum(collector.getCollectionTime() for collector in self._collectors) / 1000,
            "heap_bytes": self._memory.getHeapMemoryUsage().getUsed(),
        }


def _position(batch, offset):
    """Return the start or end of a batch in ticks; before the first batch there is none."""
    position = json.loads(batch["sources"][0][offset] or "{}")
    return position["seq"] if "seq" in position else sum(sum(topic.values()) for topic in position.values())


def _batch_line(batch, handed):
    durations, states = dict(batch["durationMs"]), batch["stateOperators"]
    return {
        "kind": "batch",
        "batch": batch["batchId"],
        "time": round(datetime.fromisoformat(batch["timestamp"]).timestamp() * 1e6),
        "rows": _position(batch, "endOffset") - _position(batch, "startOffset"),
        "handed": handed,
        "duration_ms": {"total": durations.pop("triggerExecution"), **durations},
        "state_rows": sum(state["numRowsTotal"] for state in states),
        "state_bytes": sum(state["memoryUsedBytes"] for state in states),
    }
