"""The target pyspark: Structured Streaming, in micro-batches and in real-time mode."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import psutil

from pairs.config.values import Kind, choice, spark_master, text, whole
from pairs.core import class_archive
from pairs.core.errors import BadInputError
from pairs.core.files import shipped_folder
from pairs.core.jars import ensure_first
from pairs.core.javac import JavaPart, check_compiler, check_jar, compile_jar
from pairs.core.spark import DEFAULT_MASTER, check_java
from pairs.model.plan import Plan, all_steps
from pairs.model.strategy import StrategySet
from pairs.translator.target import MOST_TICKS, Connector, Launch, Option, Setting, Target, column_refusals
from pairs.transport.kafka.jars import connectors

_TASKS = whole(1, 10_000)
_MOST_TICKS_PER_READ = 10_000_000  # 480 MB: a block that Arrow and Spark can hold
_ANY = Kind("VALUE", "any text", str)
_EXECUTOR_METRICS = {"spark.executor.processTreeMetrics.enabled": "true"}  # resident memory of JVM and Python
_STANDALONE = "spark://"  # begins the master of a standalone cluster
REAL_TIME, NATIVE = "realtime", "native"
_PYTHON = ("keyed", "vectorized")
_WITH_JAVA = (REAL_TIME, NATIVE)  # plans of which a part is Java
_JAR = "pairs.jar"  # in the folder of a program with a Java part
_OR_JAR = "or give a jar that was compiled elsewhere with --set jar=FILE"
_WORKER = "org.apache.spark.deploy.worker.Worker"  # of a standalone cluster, in the command line of its JVM


class PySpark(Target):
    """Spark Structured Streaming, in Python."""

    name = "pyspark"
    summary = "Spark Structured Streaming, driven from Python"
    plans: ClassVar = {
        "keyed": Plan(
            "each tick goes as a row to each strategy that watches its symbol; each strategy has a state of its own",
            all_steps("state"),
        ),
        "vectorized": Plan(
            "ticks come in blocks and are added up in panes that all strategies share; numpy does the work",
            all_steps("block"),
        ),
        REAL_TIME: Plan(
            "real-time mode: no micro-batches; each tick goes as a row to each pair that watches its symbol, in Java",
            all_steps("state"),
        ),
        NATIVE: Plan(
            "Spark SQL: windows, ratios, bands and signals by Catalyst; Java keeps the last ratios, and trades",
            all_steps("operator") | {"position and orders": "state"},
        ),
    }
    options: ClassVar = {
        "master": Option(spark_master(), f"Spark master; default: {DEFAULT_MASTER}"),
        "shards": Option(_TASKS, "tasks that the state is spread over"),
        "partitions": Option(_TASKS, "tasks that read a micro-batch", plans=(*_PYTHON, NATIVE)),
        "state": Option(
            choice("whole", "parts"),
            "with plan vectorized: whole, one value a shard, or parts, of which only the changed are written",
            plans=("vectorized",),
        ),
        "write-state": Option(
            choice("end", "through"),
            "with plan realtime: state is written when a batch ends, or through, with every change",
            plans=(REAL_TIME,),
        ),
        "mode": Option(
            choice("microbatch", "realtime"), "with plan native: micro-batches, or real-time mode", plans=(NATIVE,)
        ),
        "batch-seconds": Option(
            whole(5, 86_400), "in real-time mode: seconds between two checkpoints; default: 120", plans=_WITH_JAVA
        ),
        "jar": Option(text("FILE"), "the Java part of the program, compiled elsewhere", plans=_WITH_JAVA),
        "max-ticks-per-batch": Option(
            whole(0, MOST_TICKS), "at most so many ticks a batch, 0 for no limit; over Kafka of micro-batches only"
        ),
        "ticks-per-read": Option(
            whole(1, _MOST_TICKS_PER_READ),
            "ticks handed to Spark at a time; with plan vectorized, those of a block",
            plans=_PYTHON,
        ),
        "delivery": Option(
            choice("spark", "once"),
            "over Kafka: by Spark's own sink, at least once, or once, each batch of answers in a transaction",
            plans=_PYTHON,
        ),
        "checkpoint": Option(
            text("URI"), "folder that all executors reach, such as hdfs://host/pairs; default: in the folder of the run"
        ),
        "spark.*": Option(_ANY, "any setting of Spark"),
    }
    transports = ("ticklog", "kafka")
    recovers = True
    templates = shipped_folder("templates") / "pyspark"

    def settings(self, plan: str) -> Mapping[str, Setting]:
        """Return how large a batch may get when the engine is behind, and how many tasks hold the state."""
        if plan == "vectorized":
            return {"max_ticks_per_batch": 1_000_000, "shards": 1}
        if plan == REAL_TIME:
            return {"max_ticks_per_batch": 50_000_000, "shards": 1}
        if plan == NATIVE:
            return {"max_ticks_per_batch": 500_000, "shards": 1}
        return {"max_ticks_per_batch": 50_000, "shards": 2}

    def template_folders(self, plan: str) -> Sequence[Path]:
        jvm = shipped_folder("templates") / "jvm"
        java = {REAL_TIME: [self.templates / "jvm", jvm, jvm / "trading"], NATIVE: [self.templates / "jvm", jvm]}
        return [*super().template_folders(plan), *java.get(plan, [])]

    def build(self, app: Path, plan: str, settings: Mapping[str, str]) -> None:
        if plan not in _WITH_JAVA:
            return
        if "jar" in settings:
            shutil.copyfile(settings["jar"], app / _JAR)
        else:
            compile_jar(self._java_part(plan), f"{_spark_jars()}/*", app / _JAR, _OR_JAR)

    def check_buildable(self, plan: str, settings: Mapping[str, str]) -> None:
        if plan not in _WITH_JAVA:
            return
        if plan == NATIVE:
            _check_mode(settings)
        if "jar" in settings:
            check_jar(self._java_part(plan), Path(settings["jar"]), "--set jar")
        else:
            check_compiler(self._java_part(plan), _OR_JAR)

    def _java_part(self, plan: str) -> JavaPart:
        """Return the Java sources of a plan, which are no templates."""
        files = [file for folder in self.template_folders(plan) for file in folder.glob("*.java")]
        return JavaPart({file.name: file.read_bytes() for file in files}, f"pyspark {version('pyspark')}")

    def refusals(self, strategies: StrategySet) -> Iterator[str]:
        return column_refusals(strategies)

    def versions(self) -> dict[str, str]:
        return {"pyspark": version("pyspark"), "Java": check_java()}

    def connector(self, transport: str, jars: str | None = None) -> Connector:
        if transport != "kafka":
            return Connector()
        if jars is not None:
            return _given_connector(Path(jars))
        found = ensure_first(connectors())
        return Connector(found.jars(), found.versions)

    def check_partitions(self, plan: str, partitions: int, place: str) -> None:
        if plan in _WITH_JAVA and partitions > 1:
            why = f"plan {plan} needs all ticks in one partition, in their order"
            raise BadInputError(f"{place}: {why}; give --partitions 1, or --plan keyed")

    def cluster(self, settings: Mapping[str, str]) -> str | None:
        master = _master(settings)
        return None if master.startswith("local") else master

    def limits_cores(self, settings: Mapping[str, str]) -> bool:
        return _master(settings).startswith(_STANDALONE)

    def workers(self, settings: Mapping[str, str]) -> list[int]:
        """Return the workers of a standalone cluster; several masters, of which one leads, are separated by commas."""
        masters, found = _addresses(_master(settings)), []
        for process in psutil.process_iter() if masters else ():
            with suppress(psutil.Error):  # it is gone, or another user's
                command = process.cmdline()
                if _WORKER in command and any(masters & _addresses(word) for word in command):
                    found.append(process.pid)
        return found

    def check_workers(self, settings: Mapping[str, str], place: str) -> None:
        master = _master(settings)
        without = "or leave the fault out"
        if not master.startswith(_STANDALONE):
            needs = f"a worker belongs to a standalone cluster, and the master is {master}"
            raise BadInputError(f"{place}: {needs}; give --master spark://HOST:PORT, {without}")
        if not self.workers(settings):
            needed = "start at least two, so that the run can survive"
            raise BadInputError(f"{place}: no worker of {master} runs on this machine; {needed}, {without}")

    def process_role(self, name: str, command: list[str]) -> str:
        return "engine JVM" if "java" in name else "engine Python"

    def command(self, launch: Launch) -> list[str]:
        """Run the program with this Python; spark-submit would do as well."""
        given = {name: value for name, value in launch.settings.items() if name != "jar"}  # it is in the program
        shared = given.pop("checkpoint", None)
        checkpoint = str(launch.checkpoint) if shared is None else f"{shared.rstrip('/')}/pairs-{uuid4().hex}"
        arguments = ["--source", launch.source, "--sink", launch.sink, "--checkpoint", checkpoint]
        arguments += ["--progress", str(launch.progress), *(["--remove-checkpoint"] if shared is not None else [])]
        jars = {"spark.jars": ",".join(map(str, launch.jars))} if launch.jars else {}
        limited = launch.cores is not None and self.limits_cores(launch.settings)
        limit = {"spark.cores.max": str(launch.cores)} if limited else {}
        told = _EXECUTOR_METRICS if self.cluster(launch.settings) else {}
        settings = {"master": DEFAULT_MASTER} | class_archive.settings() | jars | limit | told | given
        for name, value in settings.items():
            arguments += ["--conf", f"{name}={value}"] if name.startswith("spark.") else [f"--{name}", value]
        return [sys.executable, str(launch.app / "app.py"), *arguments]


def _check_mode(settings: Mapping[str, str]) -> None:
    """Refuse settings of plan native that its mode does not have."""
    if settings.get("mode") != REAL_TIME:
        if "batch-seconds" in settings:
            raise BadInputError("--set batch-seconds: only real-time mode has it; leave it out, or add mode=realtime")
    elif int(settings.get("shards", 1)) > 1:
        why = "in real-time mode the rows of plan native stay in order with one shard only"
        raise BadInputError(f"--set shards: {why}; give shards=1, or mode=microbatch")
    elif "partitions" in settings:
        raise BadInputError("--set partitions: real-time mode reads in one task; leave it out, or give mode=microbatch")


def _spark_jars() -> Path:
    """Return the folder of the jars that PySpark carries."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise BadInputError("pyspark: is not installed; install it with pip")
    return Path(found.origin).parent / "jars"


def _given_connector(folder: Path) -> Connector:
    jars = sorted(folder.glob("*.jar"))
    if not jars:
        raise BadInputError(f"--jars: {folder}: has no jars; give the folder of those of Spark's Kafka connector")
    return Connector([jar.absolute() for jar in jars], {jar.stem: "as given" for jar in jars})


def _master(settings: Mapping[str, str]) -> str:
    return settings.get("master", DEFAULT_MASTER)


def _addresses(master: str) -> set[str]:
    return set(master.removeprefix(_STANDALONE).split(",")) if master.startswith(_STANDALONE) else set()
