"""Writes what Spark tells of itself to a file, a JSON object a line: settings, batches, garbage, executors."""

import json
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

EXECUTORS_EVERY_S = 1.0
MOST_TASKS = 100_000  # of a stage


class Progress:
    """The progress of a query; `handed` says when the answers of batches were handed to the sink."""

    def __init__(self, spark, query, path, handed):
        self._query, self._path, self._handed, self._last_batch = query, Path(path), handed, -1
        management = spark.sparkContext._jvm.java.lang.management.ManagementFactory
        self._collectors, self._memory = list(management.getGarbageCollectorMXBeans()), management.getMemoryMXBean()
        settings = dict(sorted(spark.sparkContext.getConf().getAll()))
        local = spark.sparkContext.master.startswith("local")  # then executors are threads or children of this JVM
        self._executors = None if local else Executors(spark.sparkContext, query)
        self._write({"kind": "settings", "time": time.time_ns() // 1000, "settings": settings})

    def note(self):
        """Write what is new; return how many ticks Spark has read."""
        batches = self._query.recentProgress
        new = [batch for batch in batches if batch["batchId"] > self._last_batch and batch["numInputRows"]]
        self._write(*(_batch_line(batch, self._handed.get(batch["batchId"])) for batch in new), self._jvm_line())
        if self._executors is not None and self._executors.due():
            self._write(self._executors.line())
        if new:
            self._last_batch = new[-1]["batchId"]
        return position(batches[-1], "endOffset") if batches else 0

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


class Executors:
    """What Spark tells of the executors of a cluster: CPU time of tasks in their JVMs, and their memory.

    Spark does not tell what their Python processes use of CPU. A value that is not known is null.
    """

    def __init__(self, context, query):
        self._store, self._tracker = context._jsc.sc().statusStore(), context._jsc.sc().statusTracker()
        jackson = context._jvm.com.fasterxml.jackson
        self._mapper = jackson.databind.ObjectMapper()  # a call to the JVM for each value would take too long
        self._mapper.registerModule(jackson.module.scala.DefaultScalaModule())
        self._jobs_of = str(query.runId)  # the group of all jobs of the query
        self._last_job, self._running, self._cpu_ns, self._noted_at = -1, set(), Counter(), 0.0

    def due(self):
        """Return whether it is time for the next line."""
        return time.monotonic() - self._noted_at >= EXECUTORS_EVERY_S

    def line(self):
        """Return what executors have used so far."""
        self._noted_at = time.monotonic()
        self._add_tasks()
        every = [executor for executor in self._read(self._store.executorList(True)) if executor["id"] != "driver"]
        return {"kind": "executors", "time": time.time_ns() // 1000, "executors": list(map(self._executor, every))}

    def _executor(self, executor):
        most = executor.get("peakMemoryMetrics") or {}
        return {
            "id": executor["id"],
            "host": executor["hostPort"].rpartition(":")[0],
            "cpu_seconds": {"JVM tasks": self._cpu_ns[executor["id"]] / 1e9, "Python": None},
            "most_bytes": {name: most.get(f"ProcessTree{name}RSSMemory") or None for name in ("JVM", "Python")},
        }

    def _add_tasks(self):
        """Add the CPU time of the tasks of all jobs that have ended since the call before."""
        jobs = self._read(self._tracker.getJobIdsForGroup(self._jobs_of))
        self._running |= {job for job in jobs if job > self._last_job}
        self._last_job = max(jobs, default=self._last_job)
        for job in sorted(self._running.intersection(jobs)):
            found = self._read(self._store.job(job))
            if found["status"] != "RUNNING":
                self._running.remove(job)
                for stage in found["stageIds"]:
                    self._add_stage(stage)

    def _add_stage(self, stage, attempt=0):
        """Add the CPU time of the tasks of a stage, in all attempts."""
        while tasks := self._read(self._store.taskList(stage, attempt, MOST_TASKS)):
            for task in tasks:
                metrics = task.get("taskMetrics") or {}
                spent = ("executorCpuTime", "executorDeserializeCpuTime")
                self._cpu_ns[task["executorId"]] += sum(metrics.get(name, 0) for name in spent)
            attempt += 1

    def _read(self, value):
        return json.loads(self._mapper.writeValueAsString(value))


def position(batch, offset):
    """Return the start or end of a batch in ticks; before the first batch there is none."""
    found = json.loads(batch["sources"][0][offset] or "null") or {}
    return found["seq"] if "seq" in found else sum(sum(topic.values()) for topic in found.values())


def _batch_line(batch, handed):
    durations, states = dict(batch["durationMs"]), batch["stateOperators"]
    return {
        "kind": "batch",
        "batch": batch["batchId"],
        "time": round(datetime.fromisoformat(batch["timestamp"]).timestamp() * 1e6),
        "rows": position(batch, "endOffset") - position(batch, "startOffset"),
        "handed": handed,
        "duration_ms": {"total": durations.pop("triggerExecution"), **durations},
        "state_rows": sum(state["numRowsTotal"] for state in states),
        "state_bytes": sum(state["memoryUsedBytes"] for state in states),
    }
