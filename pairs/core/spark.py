"""Starts Spark on any master, quietly: checks Java first, and ships the kit to the executors."""

import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pairs.core import class_archive, jvm
from pairs.core.errors import BadInputError, PairsError
from pairs.core.files import temporary_folder
from pairs.core.process_tree import end_tree
from pairs.core.progress import waiting

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession as SparkSession
else:
    SparkSession = "SparkSession"  # loading PySpark takes time, which only those who start it should spend

DEFAULT_MASTER = "local[*,4]"  # all cores of this machine; a task that fails is tried up to four times
_OLDEST_JAVA = 17
_INSTALL_JAVA = (
    f"install Java {_OLDEST_JAVA} or newer (Debian, Ubuntu: apt install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17), or point JAVA_HOME at one"
)
_MASTERS = "give one such as local[*], spark://host:7077 or yarn"
_WORKERS_NEED = "where they run they need numpy, scipy and pyarrow, and PYSPARK_PYTHON to name that Python"
_TIME_TO_ANSWER_S = 20  # for java to tell its version
_TIME_TO_START_S = 300  # for Spark; a cluster may let it wait
_POLL_S = 0.1
_TASKS_TOGETHER = 4
_SETTINGS = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}

Task = TypeVar("Task")
Result = TypeVar("Result")


class TaskError(PairsError):
    """A Spark task failed for good; the message is the reason."""


@contextmanager
def session(name: str, master: str) -> Iterator["SparkSession"]:
    """Run a Spark session; the output of its processes stays off the terminal."""
    check_java()
    from py4j.protocol import Py4JError

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    search_path = list(sys.path)
    with temporary_folder("pairs-spark-") as folder:
        spark = _started(name, master, folder / "spark.log")
        # If the JVM dies, PySpark's accumulator server would print a traceback next to our line.
        cast(Any, spark.sparkContext)._accumulatorServer.handle_error = lambda *_: None
        try:
            spark.sparkContext.addPyFile(_zip_packages(folder))
            yield spark
        except KeyboardInterrupt:
            jvm.end()  # it may hang
            raise
        finally:
            sys.path[:] = search_path  # Spark adds the archive, and removes the file when it stops
            with suppress(Py4JError, OSError), warnings.catch_warnings():  # a JVM that died cannot be stopped
                warnings.simplefilter("ignore", RuntimeWarning)
                spark.stop()


def _started(name: str, master: str, log: Path) -> "SparkSession":
    from pyspark.sql import SparkSession as SparkSession

    settings = {**class_archive.settings(), **_SETTINGS, "spark.app.name": name, "spark.master": master}

    def start() -> SparkSession:
        jvm.launch(settings, log)
        return SparkSession.builder.config(map={**settings}).getOrCreate()

    with waiting(f"starting Spark on {master}"):
        try:
            return jvm.in_time(start, _TIME_TO_START_S)
        except TimeoutError:
            reason = f"Spark did not start on {master!r} within {_TIME_TO_START_S} s"
            raise BadInputError(f"--master: {reason}; {_MASTERS}, and check that its Java works") from None
        except Exception as error:  # noqa: BLE001 - any error becomes one line for the user
            reason = f"Spark did not start on {master!r}: {_reason(error, log)}"
            raise BadInputError(f"--master: {reason}; {_MASTERS}") from None


def warm_up(spark: "SparkSession", function: Callable[[Any], Any]) -> None:
    """Start the Python workers and let them import what a function needs, before time is measured."""
    workers = spark.sparkContext.defaultParallelism
    try:
        with waiting("starting Python workers"):
            run_tasks(spark, lambda _: function.__name__, list(range(workers)), lambda _: None)
    except TaskError as error:
        raise PairsError(f"Spark's Python workers did not start: {error}; {_WORKERS_NEED}") from None


def run_tasks(
    spark: "SparkSession", function: Callable[[Task], Result], tasks: list[Task], on_poll: Callable[[int], None]
) -> list[Result]:
    """Apply a function to every task on the executors; meanwhile call `on_poll` with the number of finished tasks.

    A Spark task that runs Python costs about 80 ms, so several of our tasks share one where there are many.
    """
    context = spark.sparkContext
    partitions = max(-(-len(tasks) // _TASKS_TOGETHER), min(len(tasks), 2 * context.defaultParallelism))
    outcome: list[Result] = []
    failure: list[Exception] = []

    def collect() -> None:
        try:
            outcome.extend(context.parallelize(tasks, partitions).map(function).collect())
        except Exception as error:  # noqa: BLE001 - carried to the main thread
            failure.append(error)

    job = threading.Thread(target=collect, daemon=True)
    job.start()
    try:
        while job.is_alive():
            job.join(_POLL_S)
            if job.is_alive():
                on_poll(len(tasks) * _partitions_done(context) // partitions)
    except KeyboardInterrupt:
        jvm.end()  # before what the tasks write is removed
        raise
    if failure:
        bad_input = re.search(r"\bBadInputError: (.*)", str(failure[0]))
        raise BadInputError(bad_input[1]) if bad_input else TaskError(cause_of(failure[0]))
    return outcome


def _partitions_done(context: "SparkContext") -> int:
    from py4j.protocol import Py4JError

    try:
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except (Py4JError, OSError):
        raise TaskError("Spark's process ended; it may have run out of memory") from None
    return sum(stage.numCompletedTasks for stage in stages if stage)


def find_java() -> str:
    """Return the path of Java; refuse to go on without, saying what to install."""
    java_home = os.environ.get("JAVA_HOME")
    java = str(Path(java_home) / "bin" / "java") if java_home else shutil.which("java")
    if not java or not Path(java).is_file():
        place, where = ("JAVA_HOME", f" at {java}") if java_home else ("java", " on the PATH")
        raise BadInputError(f"{place}: no Java found{where}; {_INSTALL_JAVA}")
    return java


def check_java() -> str:
    """Refuse to go on without a Java that Spark can run on, saying what to install; return its version."""
    java, where = find_java(), "JAVA_HOME" if os.environ.get("JAVA_HOME") else "java"
    try:
        printed = _answer([java, "-version"])
    except OSError as error:
        raise BadInputError(f"{where}: {java} cannot be run: {error}; {_INSTALL_JAVA}") from None
    except subprocess.TimeoutExpired:
        silent = f"{java} -version did not end within {_TIME_TO_ANSWER_S} s"
        raise BadInputError(f"{where}: {silent}; {_INSTALL_JAVA}") from None
    version = java_version(printed)
    if version is None or version < _OLDEST_JAVA:
        found = f"Java {version}" if version else "not a Java with a known version"
        raise BadInputError(f"{where}: {java} is {found}, too old for Spark; {_INSTALL_JAVA}")
    return printed.split('"')[1]


def _answer(command: list[str]) -> str:
    """Return all that a command prints."""
    with (
        waiting(f"asking {command[0]} for its version"),
        subprocess.Popen(  # noqa: S603 - the java that was found
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        try:
            return process.communicate(timeout=_TIME_TO_ANSWER_S)[0]
        except BaseException:
            end_tree(process.pid)  # a script that starts Java may wait for it
            raise


def java_version(printed: str) -> int | None:
    """Parse the major version from the output of `java -version`; Java 8 calls itself 1.8."""
    match = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(match.group(1)) if match else None


def cause_of(error: BaseException) -> str:
    """Return why a Spark job failed, as one line: the Python error raised in a task, if any."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Exit)\b: ", line)]
    python = [line for line in raised if not line.startswith(("org.", "java.", "py4j."))]
    return re.sub(r"^(org|java|pairs)\.[\w.]+: ", "", (python or raised or lines or [type(error).__name__])[0])


def _reason(error: Exception, log: Path) -> str:
    """Return why Spark did not start: the reason is in its log, Python only sees that it ended."""
    written = log.read_text(errors="replace") if log.exists() else ""  # another session may have started the JVM
    logged = re.findall(r"[\w.]+(?:Exception|Error): .*", written)
    return cause_of(RuntimeError("\n".join(logged)) if logged else error)


def _zip_packages(folder: Path) -> str:
    """Pack the kit, so that executors need only the libraries installed."""
    package = Path(__file__).parent.parent
    archive = folder / "pairs_kit.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for path, _, names in os.walk(package, followlinks=True):  # some subpackages are links in a checkout
            for source in (Path(path) / name for name in names if name.endswith(".py")):
                target.write(source, source.relative_to(package.parent))
    return str(archive)
