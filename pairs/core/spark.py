"""Starts Spark on any master, quietly: checks Java first, and ships the kit to the executors."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pairs.core import class_archive
from pairs.core.errors import BadInputError, PairsError
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
    from pyspark.sql import SparkSession as SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    search_path = list(sys.path)
    with tempfile.TemporaryDirectory(prefix="pairs-spark-") as folder:
        log = Path(folder) / "spark.log"
        settings = {**class_archive.settings(), **_SETTINGS}
        builder = SparkSession.builder.appName(name).master(master).config(map={**settings})
        with waiting(f"starting Spark on {master}"), _stderr_to(log):
            try:
                spark = builder.getOrCreate()
            except Exception as error:  # noqa: BLE001 - any error becomes one line for the user
                reason = f"Spark did not start on {master!r}: {_reason(error, log)}"
                raise BadInputError(f"--master: {reason}; {_MASTERS}") from None
        # If the JVM dies, PySpark's accumulator server would print a traceback next to our line.
        cast(Any, spark.sparkContext)._accumulatorServer.handle_error = lambda *_: None
        try:
            spark.sparkContext.addPyFile(_zip_packages(Path(folder)))
            yield spark
        finally:
            sys.path[:] = search_path  # Spark adds the archive, and removes the file when it stops
            with suppress(Py4JError, OSError), warnings.catch_warnings():  # a JVM that died cannot be stopped
                warnings.simplefilter("ignore", RuntimeWarning)
                spark.stop()


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
    with _noting_interrupts() as interrupted:
        job.start()
        while job.is_alive() and not interrupted.is_set():
            job.join(_POLL_S)
            if job.is_alive():
                on_poll(len(tasks) * _partitions_done(context) // partitions)
        if interrupted.is_set():
            context.cancelAllJobs()
            raise KeyboardInterrupt
    if failure:
        bad_input = re.search(r"\bBadInputError: (.*)", str(failure[0]))
        raise BadInputError(bad_input[1]) if bad_input else TaskError(cause_of(failure[0]))
    return outcome


@contextmanager
def _noting_interrupts() -> Iterator[threading.Event]:
    """Note SIGINT and SIGTERM; raised at once they would interrupt a call into the JVM."""
    noted = threading.Event()
    saved = {number: signal.signal(number, lambda *_: noted.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for number, handler in saved.items():
            signal.signal(number, handler)


def _partitions_done(context: "SparkContext") -> int:
    from py4j.protocol import Py4JError

    try:
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except (Py4JError, OSError):
        raise TaskError("Spark's process ended; it may have run out of memory") from None
    return sum(stage.numCompletedTasks for stage in stages if stage)


def check_java() -> str:
    """Refuse to go on without a Java that Spark can run on, saying what to install; return its version."""
    java_home = os.environ.get("JAVA_HOME")
    java = str(Path(java_home) / "bin" / "java") if java_home else shutil.which("java")
    where = "JAVA_HOME" if java_home else "java"
    if not java or not Path(java).is_file():
        raise BadInputError(f"{where}: no Java found{f' at {java}' if java else ' on the PATH'}; {_INSTALL_JAVA}")
    try:
        with waiting("asking Java for its version"):
            answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInputError(f"{where}: {java} cannot be run: {error}; {_INSTALL_JAVA}") from None
    printed = answer.stderr + answer.stdout
    version = java_version(printed)
    if version is None or version < _OLDEST_JAVA:
        found = f"Java {version}" if version else "not a Java with a known version"
        raise BadInputError(f"{where}: {java} is {found}, too old for Spark; {_INSTALL_JAVA}")
    return printed.split('"')[1]


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
    logged = re.findall(r"[\w.]+(?:Exception|Error): .*", log.read_text(errors="replace"))
    return cause_of(RuntimeError("\n".join(logged)) if logged else error)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Redirect the stderr of child processes started here to a file."""
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with log.open("ab") as target:
            os.dup2(target.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _zip_packages(folder: Path) -> str:
    """Pack the kit, so that executors need only the libraries installed."""
    package = Path(__file__).parent.parent
    archive = folder / "pairs_kit.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for path, _, names in os.walk(package, followlinks=True):  # some subpackages are links in a checkout
            for source in (Path(path) / name for name in names if name.endswith(".py")):
                target.write(source, source.relative_to(package.parent))
    return str(archive)
