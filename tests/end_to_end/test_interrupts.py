"""Interrupted at any moment, by Ctrl-C, SIGTERM or SIGHUP, a command ends with one line and with all its processes.

Also what a command that goes on keeps others from doing: folders in use are locked.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.markets import golden_market
from tests.processes import SPARK, Command, descendants, descendants_with, errors_of, is_alive, start_pairs, wait_until

pytestmark = pytest.mark.process

NOTHING_LEFT = "pairs: interrupted; nothing was left half-written\n"
SMALL = ("--duration", "1h", "--files", "8")  # some seconds of work


class Interrupted:
    """A command that was interrupted, and has ended."""

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        environment = os.environ | {"TMPDIR": str(self.temporary)}
        self.process = start_pairs(*arguments, cwd=folder, env=environment)
        self.started: set[psutil.Process] = set()

    def notice(self) -> bool:
        """Remember the processes below it."""
        self.started.update(descendants(self.process.pid))
        return True

    def when(self, condition: Callable[[], bool], *sent: signal.Signals) -> "Interrupted":
        """Send signals, one after the other, when a condition holds; wait for the end of command and output."""
        wait_until(lambda: condition() or self.process.poll() is not None)
        self.notice()
        for one in sent:
            self.process.send_signal(one)
            time.sleep(0.05)
        _, self.errors = self.process.communicate(timeout=60)  # waits for all that hold its stdout
        return self

    def after(self, seconds: float, *sent: signal.Signals) -> "Interrupted":
        """Send signals some time after the start."""
        moment = time.monotonic() + seconds
        return self.when(lambda: self.notice() and time.monotonic() > moment, *sent)

    def assert_clean(self, errors: str = NOTHING_LEFT) -> None:
        """Expect the exit code of an interrupt, these words, and no process or temporary file that outlived it."""
        assert (self.process.returncode, errors_of(self.errors)) == (130, errors)
        assert [process for process in self.started if is_alive(process)] == []
        assert list(self.temporary.iterdir()) == []


@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.5, 0.7, 1.0])
def test_an_interrupt_during_the_imports(tmp_path: Path, seconds: float) -> None:
    """One line, no traceback."""
    Interrupted(tmp_path, "generate", "-o", "market").after(seconds, signal.SIGINT).assert_clean()


@pytest.mark.parametrize(
    "sent", [[signal.SIGINT], [signal.SIGINT] * 3, [signal.SIGTERM], [signal.SIGHUP, signal.SIGINT]]
)
def test_an_interrupt_while_spark_starts(tmp_path: Path, sent: list[signal.Signals]) -> None:
    """The JVM ends with the command, so a reader of its output does not wait, and further signals change nothing."""
    command = Interrupted(tmp_path, "generate", "-o", "market", *SMALL)
    command.when(lambda: bool(descendants_with(command.process.pid, "spark")), *sent)  # a shell script at first
    command.assert_clean()
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


@pytest.mark.parametrize("sent", [[signal.SIGINT] * 3, [signal.SIGHUP]])
def test_an_interrupt_while_tasks_run(tmp_path: Path, sent: list[signal.Signals]) -> None:
    """Python workers end as well, and what they were writing is removed."""
    command = Interrupted(tmp_path, "generate", "-o", "market", *SMALL)
    command.when(lambda: any(tmp_path.glob(".market.partial-*/ticks/.part-*")), *sent)
    command.assert_clean()
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


COLUMNS = ("--symbol-column", "symbol", "--price-column", "price", "--time-column", "tickTS", "--time-unit", "ms")
VERBS = {
    "import": ("import", "market/ticks/ticks.csv", "-o", "real", *COLUMNS),
    "check": ("check", "market"),
    "expected": ("expected", "market"),
    "validate": ("validate", "--dataset", "market", "--answers", "answers"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_an_interrupt_of_other_verbs(tmp_path: Path, verb: str) -> None:
    """All that start Spark."""
    market = golden_market(tmp_path / "market")
    (tmp_path / "answers").mkdir()
    for stream in ("indicators", "orders"):
        shutil.copy(Path(__file__).parents[1] / "golden" / f"{stream}.csv", tmp_path / "answers")
    before = sorted(market.rglob("*"))
    command = Interrupted(tmp_path, *VERBS[verb])
    command.when(lambda: bool(descendants_with(command.process.pid, SPARK)), signal.SIGTERM).assert_clean()
    assert sorted(market.rglob("*")) == before
    assert not (tmp_path / "real").exists()


SESSIONS = {
    "search": (("search", "--profile", "quick", "-o", "kept"), "called again, the search goes on"),
    "sweep": (("sweep", "--profile", "quick", "-o", "kept"), "called again, the sweep goes on"),
}


@pytest.mark.parametrize("verb", SESSIONS)
def test_an_interrupted_session_says_how_to_go_on(tmp_path: Path, verb: str) -> None:
    """With the folder, and how many finished runs there are."""
    arguments, goes_on = SESSIONS[verb]
    command = Interrupted(tmp_path, *arguments)
    command.when(lambda: bool(descendants_with(command.process.pid, SPARK)), signal.SIGINT)
    command.assert_clean(f"pairs: interrupted; kept keeps 0 finished runs; {goes_on}\n")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_interrupts_at_random_moments(tmp_path: Path, random_seed: int) -> None:
    """Thirty generations and runs, each interrupted up to three times, within their first fifteen seconds."""
    dice = random.Random(random_seed)  # noqa: S311
    market = golden_market(tmp_path / "golden")
    for number in range(30):
        run = ("run", market, "-o", f"run-{number}", "--target", dice.choice(["bare", "pyspark"]), "--speed", "60")
        arguments = run if number % 2 else ("generate", "-o", "market", *SMALL)
        signals = [dice.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]) for _ in range(dice.randint(1, 3))]
        command = Interrupted(tmp_path, *arguments).after(dice.uniform(0.1, 15), *signals)
        if command.process.returncode == 0:  # it was through
            shutil.rmtree(tmp_path / "market", ignore_errors=True)
            continue
        command.assert_clean(errors_of(command.errors))
        assert command.errors.splitlines()[-1].startswith("pairs: interrupted; "), (number, command.errors)
        assert not (tmp_path / "market").exists()
        assert not list(tmp_path.glob(".*"))


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """Return the line with which a command refused its input."""
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    return done.stderr


def test_what_a_run_uses_is_locked(tmp_path: Path, pairs_command: Command) -> None:
    """Nobody overwrites its folder or its dataset, or reads half of it; the refusal names process and command."""
    market, run = golden_market(tmp_path / "market"), tmp_path / "run"
    arguments = ("run", "market", "-o", "run", "--target", "bare", "--speed", "1")
    with start_pairs(*arguments, cwd=tmp_path) as running:
        wait_until(lambda: (run / "indicators.arrows").exists() or running.poll() is not None)
        user = f"in use by process {running.pid} (pairs {' '.join(arguments)}); wait until it ends\n"
        for verb in (["run", "market", "-o", "run", "--overwrite", "--target", "bare"], ["validate", "run"]):
            assert refusal(pairs_command(*verb)) == f"pairs: run: {user}"
        for verb in (["score", "run"], ["report", "run"]):
            assert refusal(pairs_command(*verb)) == f"pairs: run: {user}"
        (market / "dataset.json").write_text('{"format_version": 1, "digest": "x"}')  # so that it may be overwritten
        generate = pairs_command("generate", "-o", "market", "--overwrite", "--duration", "1m")
        assert refusal(generate) == f"pairs: {market}: {user}"
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert errors.endswith("\npairs: interrupted; run keeps what was recorded until then, marked as failed\n")


def test_what_is_being_built_is_locked(tmp_path: Path, pairs_command: Command) -> None:
    """A second generation of the same dataset is refused at once, and so is a second sweep in the same folder."""
    with start_pairs("generate", "-o", "market", *SMALL, cwd=tmp_path) as running:
        wait_until(lambda: any(tmp_path.glob(".market.partial-*")) or running.poll() is not None)
        line = refusal(pairs_command("generate", "-o", "market", *SMALL))
        assert line.startswith(
            f"pairs: {tmp_path / 'market'}: is being written by process {running.pid} (pairs generate "
        )
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    with start_pairs("sweep", "--profile", "quick", "-o", "sweep", cwd=tmp_path) as running:
        wait_until(lambda: (tmp_path / "sweep").exists() or running.poll() is not None)
        line = refusal(pairs_command("sweep", "--profile", "quick", "-o", "sweep"))
        assert line.startswith(f"pairs: sweep: in use by process {running.pid} (pairs sweep ")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
