"""`pairs generate` as users call it: other masters, terminals and pipes, existing datasets, an installed wheel."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pairs.dataset.folder import Dataset
from tests.conftest import Command
from tests.processes import errors_of

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
SMALL = ("--profile", "quick", "--duration", "20m")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Make a dataset with the default master."""
    folder = tmp_path_factory.mktemp("reference")
    command = [sys.executable, "-m", "pairs.cli", "generate", "-o", "market", "--files", "3", *SMALL]
    subprocess.run(command, cwd=folder, check=True)
    return Dataset(folder / "market")


@pytest.mark.parametrize("master", ["local[1]", "local[2]", "local-cluster[2,1,1024]"])
def test_every_master_writes_the_same_bytes(
    pairs_command: Command, tmp_path: Path, reference: Dataset, master: str
) -> None:
    """One core, two cores or executors in separate processes: the datasets are equal, byte by byte."""
    done = pairs_command("generate", "-o", "market", "--files", "3", "--master", master, *SMALL)
    assert (done.returncode, errors_of(done.stderr)) == (0, "")
    files = sorted(path.relative_to(reference.path) for path in reference.path.rglob("*.*"))
    assert len(files) == 5
    for file in files:
        assert (tmp_path / "market" / file).read_bytes() == (reference.path / file).read_bytes(), file


def test_check_works_on_a_cluster(pairs_command: Command, tmp_path: Path, reference: Dataset) -> None:
    """Executors with a working folder of their own find the files."""
    shutil.copytree(reference.path, tmp_path / "market")
    done = pairs_command("check", "market", "--master", "local-cluster[2,1,1024]")
    assert (done.returncode, errors_of(done.stderr)) == (0, "")


def test_overwrite_replaces_a_dataset_and_leaves_nothing_else(pairs_command: Command, tmp_path: Path) -> None:
    """--overwrite swaps a whole dataset for a whole dataset."""
    for seed in ("1", "2"):
        done = pairs_command("generate", "-o", "market", "--overwrite", "--seed", seed, *SMALL)
        assert (done.returncode, errors_of(done.stderr)) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["market"]
    assert Dataset(tmp_path / "market").manifest.workload.seed == 2


def test_a_terminal_gets_a_progress_bar(tmp_path: Path) -> None:
    """On a terminal the bar shows ticks, their rate and the time left."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pairs.cli", "generate", "-o", "market", "--duration", "5m"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, cwd=tmp_path, stdout=theirs, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = read_all(ours)
    assert running.returncode == 0
    for part in ("starting Spark", "generating", " ticks/s", "0:00:0"):
        assert part in shown


def read_all(terminal: int) -> str:
    """Read the terminal output of a process until it ends."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # raised by Linux when the other end is closed
            piece = b""
        if not piece:
            os.close(terminal)
            return shown.decode(errors="replace")
        shown += piece


def test_show_and_check_read_a_dataset_back(pairs_command: Command, reference: Dataset) -> None:
    """`pairs show` shows the manifest, `pairs check` reads every row again."""
    shown = pairs_command("show", str(reference.path))
    assert (shown.returncode, shown.stderr) == (0, "")
    for part in ("quick, scale factor 1, seed 1", "no, because of duration, basis_rate", reference.manifest.digest):
        assert part in " ".join(shown.stdout.split())
    checked = pairs_command("check", str(reference.path))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout == f"{reference.path}: valid, digest {reference.manifest.digest}\n"


def test_a_damaged_dataset_fails_the_check(pairs_command: Command, tmp_path: Path) -> None:
    """Exit code 1, a line for each problem and a summary, when a file differs from dataset.json."""
    assert pairs_command("generate", "-o", "market", "--files", "2", *SMALL).returncode == 0
    dataset = Dataset(tmp_path / "market")
    first, second = dataset.tick_files()
    first.write_bytes(second.read_bytes())
    done = pairs_command("check", "market")
    assert done.returncode == 1
    top, *_, last = done.stderr.splitlines()
    assert top == "pairs: market/ticks/part-00001.parquet: the same content as part-00000.parquet; remove one of them"
    assert last == f"pairs: market: {done.stderr.count(chr(10)) - 1} problems"


def test_estimate_agrees_with_what_is_generated(pairs_command: Command, reference: Dataset) -> None:
    """Ticks and strategies are exact."""
    done = pairs_command("estimate", *SMALL)
    assert (done.returncode, errors_of(done.stderr)) == (0, "")
    assert f"{reference.manifest.counts.ticks:,} in 20m" in done.stdout
    assert "25 of 5 users" in done.stdout


def test_an_installed_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    """The wheel carries configs and templates, and generates without the checkout."""
    site = tmp_path / "site"
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True)
    assert (site / "pairs" / "templates").is_dir()
    assert not (site / "configs").exists()
    where = "import pairs; print(pairs.__file__)"
    outside = os.environ | {"PYTHONPATH": str(site)}
    found = subprocess.run([sys.executable, "-c", where], cwd=tmp_path, env=outside, capture_output=True, text=True)
    assert found.stdout.startswith(str(site))
    command = [sys.executable, "-m", "pairs.cli", "generate", "-o", "market", *SMALL]
    done = subprocess.run(command, cwd=tmp_path, env=outside, capture_output=True, text=True)
    assert (done.returncode, errors_of(done.stderr)) == (0, "")
    assert Dataset(tmp_path / "market").manifest.profile == "quick"
