"""A real standalone cluster of a master and two workers: the run survives the death of a worker."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from pairs.core.process_tree import is_alive
from pairs.measure.recordings import read_run
from pairs.measure.resources import cost, disturbance, executors_sentence
from pairs.run_folder.folder import Run
from pairs.stages.bench import score
from tests.markets import golden_market
from tests.processes import Command, processes_of, start_pairs, wait_until
from tests.spark_cluster import HOST, Cluster, standalone_cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Run a master and two workers."""
    with standalone_cluster(tmp_path / "cluster") as running:
        yield running


def assert_executors_told_of(run: Run) -> None:
    """See that Spark told what its executors used, of both and then of one, and that the report shows it."""
    recorded = read_run(run)
    told = [{executor.id for executor in line.executors} for line in recorded.executors]
    assert {len(ids) for ids in told} >= {1, 2}
    last = recorded.executors[-1].executors[0]
    assert last.host == HOST
    assert last.cpu_seconds["JVM tasks"] is not None
    assert last.cpu_seconds["JVM tasks"] > 0
    assert last.cpu_seconds["Python"] is None
    assert all(value is not None and value > 1e7 for value in last.most_bytes.values())
    assert recorded.engine_settings["spark.cores.max"] == "2"
    assert "By the engine's own metrics: CPU of JVM tasks" in str(executors_sentence(recorded))
    assert cost(recorded) is None
    others = disturbance(recorded)
    assert others is not None
    assert others.outside is not None


def test_a_worker_is_killed(tmp_path: Path, cluster: Cluster, pairs_command: Command) -> None:
    """Every answer is right, though a worker with its executor died in the middle; the other still serves."""
    market, run = golden_market(tmp_path / "market"), tmp_path / "run"
    fault = ("--speed", "30", "--cores", "2", "--fault", "kill-worker@7m")
    done = pairs_command("run", str(market), "-o", str(run), *cluster.arguments, *fault)
    assert done.returncode == 0, done.stderr
    assert "Lost executor" in Run(run).log_file("engine").read_text()
    assert sorted(map(is_alive, cluster.workers)) == [False, True]
    assert [fault.kind for fault in Run(run).manifest.faults] == ["kill-worker"]
    assert pairs_command("validate", str(run)).returncode == 0
    assert_executors_told_of(Run(run))
    recovery = score(Run(run)).recovery
    assert recovery is not None
    assert recovery.times_s[0] is not None
    assert processes_of(run) == {}


_WITHOUT_THE_KIT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pairs":
            raise ImportError(f"{name} must not be needed on executors")

sys.meta_path.insert(0, Refuse())
"""


def over_kafka(tmp_path: Path, cluster: Cluster, *more: str) -> list[str]:
    """Return the arguments of a run over Kafka whose executors cannot import the kit."""
    (tmp_path / "executors").mkdir()
    (tmp_path / "executors" / "sitecustomize.py").write_text(_WITHOUT_THE_KIT)
    alone = f"spark.executorEnv.PYTHONPATH={tmp_path / 'executors'}"
    return [*cluster.arguments, "--transport", "kafka", "--partitions", "3", "--set", alone, *more]


@pytest.mark.parametrize(("plan", "setting"), [("keyed", "delivery=spark"), ("vectorized", "shards=2")])
def test_over_kafka(tmp_path: Path, cluster: Cluster, pairs_command: Command, plan: str, setting: str) -> None:
    """Three partitions, two workers: every answer is right, and executors need nothing of the kit."""
    market, run = golden_market(tmp_path / "market"), tmp_path / "run"
    arguments = over_kafka(tmp_path, cluster, "--plan", plan, "--set", setting, "--speed", "max")
    done = pairs_command("run", str(market), "-o", str(run), *arguments)
    assert done.returncode == 0, done.stderr
    assert pairs_command("validate", str(run)).returncode == 0
    assert all(is_alive(worker) for worker in cluster.workers)


@pytest.mark.parametrize("delivery", ["spark", "once"])
def test_a_worker_is_killed_over_kafka(tmp_path: Path, cluster: Cluster, pairs_command: Command, delivery: str) -> None:
    """Nothing is missing or wrong; an answer may come twice only from Spark's own sink, and is counted."""
    market, run = golden_market(tmp_path / "market"), tmp_path / "run"
    more = ("--set", f"delivery={delivery}", "--speed", "20", "--fault", "kill-worker@7m")
    done = pairs_command("run", str(market), "-o", str(run), *over_kafka(tmp_path, cluster, *more))
    assert done.returncode == 0, done.stderr
    assert sorted(map(is_alive, cluster.workers)) == [False, True]
    passed = pairs_command("validate", str(run)).returncode == 0
    found = Run(run).validation
    assert (found.total("missing"), found.total("wrong")) == (0, 0)
    assert found.total("undue") == found.total("duplicates")
    assert passed or delivery == "spark"


@pytest.mark.parametrize("transport", ["ticklog", "kafka"])
def test_real_time_mode(tmp_path: Path, cluster: Cluster, pairs_command: Command, transport: str) -> None:
    """Reader and state run on two workers, and every answer is right; the jar is shipped with the program."""
    market, run = golden_market(tmp_path / "market"), tmp_path / "run"
    more = ("--plan", "realtime", "--transport", transport, "--speed", "60")
    done = pairs_command("run", str(market), "-o", str(run), *cluster.arguments, *more)
    assert done.returncode == 0, done.stderr
    assert pairs_command("validate", str(run)).returncode == 0
    assert all(is_alive(worker) for worker in cluster.workers)


def test_real_time_mode_by_spark_submit(tmp_path: Path, cluster: Cluster, pairs_command: Command) -> None:
    """The generated folder is all that spark-submit needs."""
    market, run, app = golden_market(tmp_path / "market"), tmp_path / "run", tmp_path / "app"
    assert pairs_command("translate", str(market), "--plan", "realtime", "-o", str(app)).returncode == 0
    collect = start_pairs("collect", market, "-o", run, "--name", "spark", "--plan-class", "keyed")
    port = run / "transport" / "port"
    wait_until(port.exists)
    settings = ("--conf", "spark.driver.host=127.0.0.1", "--executor-memory", "512m", "--executor-cores", "1")
    submit = [str(Path(pyspark.__path__[0]) / "bin" / "spark-submit"), "--master", cluster.url, *settings]
    places = ["--source", f"{run}/transport/log", "--sink", f"127.0.0.1:{port.read_text()}"]
    program = [str(app / "app.py"), *places, "--checkpoint", str(tmp_path / "checkpoint")]
    python = os.environ | {"PYSPARK_PYTHON": sys.executable}
    with subprocess.Popen([*submit, "--jars", str(app / "pairs.jar"), *program], env=python) as submitted:
        wait_until(lambda: (run / "transport" / "connections").exists() or submitted.poll() is not None)
        assert submitted.poll() is None
        assert pairs_command("play", str(market), "-o", str(run), "--speed", "60").returncode == 0
        assert submitted.wait(120) == 0
    assert collect.wait(60) == 0
    assert pairs_command("validate", str(run)).returncode == 0
    assert list((tmp_path / "cluster").glob("worker-*/app-*"))  # executors ran there
