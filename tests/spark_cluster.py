"""A real standalone cluster of the installed Spark on loopback: a master and workers, and none left behind."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark

from pairs.core.process_tree import end_with_parent, kill, survivors, tree
from tests.processes import wait_until

HOST = "127.0.0.1"
_SPARK_HOME = Path(pyspark.__path__[0])
_DEPLOY = "org.apache.spark.deploy"
_ENVIRONMENT = {
    "SPARK_HOME": str(_SPARK_HOME),
    "SPARK_LOCAL_IP": HOST,
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@dataclass(frozen=True)
class Cluster:
    """A master and its workers."""

    url: str
    workers: tuple[psutil.Process, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """What `pairs` needs to run an engine on it, with executors that fit into its workers."""
        settings = {"spark.driver.host": HOST, "spark.executor.memory": "512m", "spark.executor.cores": "1"}
        return ("--master", self.url, *(word for pair in settings.items() for word in ("--set", "=".join(pair))))


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Run a master and workers of one core each, with their logs and files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    url = f"spark://{HOST}:{port}"
    with ExitStack() as running:
        master = ("--host", HOST, "--port", str(port), "--webui-port", "0")
        running.enter_context(_daemon(folder, "master", f"{_DEPLOY}.master.Master", *master, ready="elected leader"))
        started = [running.enter_context(_worker(folder, f"worker-{number}", url)) for number in range(workers)]
        yield Cluster(url, tuple(started))


@contextmanager
def _worker(folder: Path, name: str, url: str) -> Iterator[psutil.Process]:
    size = ("--cores", "1", "--memory", "1g", "-h", HOST, "--webui-port", "0", "-d", str(folder / name))
    ready = "Successfully registered with master"
    with _daemon(folder, name, f"{_DEPLOY}.worker.Worker", *size, url, ready=ready) as process:
        yield process


@contextmanager
def _daemon(folder: Path, name: str, *command: str, ready: str) -> Iterator[psutil.Process]:
    """Run a daemon of Spark from when it says that it is ready; then kill it and all that it has started."""
    log, spark_class = folder / f"{name}.log", str(_SPARK_HOME / "bin" / "spark-class")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [spark_class, *command],
            env=os.environ | _ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=end_with_parent,
        )
    try:
        wait_until(lambda: ready in log.read_text(errors="replace") or process.poll() is not None)
        assert process.poll() is None, log.read_text(errors="replace")
        yield psutil.Process(process.pid)
    finally:
        started = tree(process.pid)
        kill(started)
        process.wait()
        assert not survivors(started)


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])
