"""Starts the worker, and gathers what it found; a worker that died found something, too."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tests.fuzz.contract import Finding
from tests.fuzz.worker import INPUT

FINDINGS = Path(".fuzz")
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of its own is made there
_STARTING_S = 120  # at most, and for what is under way when the time is over


@dataclass(frozen=True)
class Budget:
    """How long readers are fuzzed: each for some seconds, in rounds of examples, but at least one round."""

    seconds: float = 0
    examples: int = 25
    seed: int = 0  # of the first round
    limit_s: float = 20  # for one set of files


@dataclass
class Result:
    """What came of a reader."""

    cases: int = 0
    findings: dict[str, Path] = field(default_factory=dict)  # titles, and the folders with their files

    def keep(self, finding: Finding, files: Path, folder: Path) -> None:
        """Keep a finding, under a name that the same finding has the next time."""
        kept = folder / sha256(finding.title.encode()).hexdigest()[:12]
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(files, kept / INPUT)
        (kept / "finding.txt").write_text(f"{finding.title}\n\n{finding.text}\n", encoding="utf-8", errors="replace")
        self.findings[finding.title] = kept


def fuzz_for(reader: str, budget: Budget, keep: Path = FINDINGS) -> Result:
    """Fuzz a reader until the time is over, also if it kills the process."""
    end, result, seed = time.monotonic() + budget.seconds, Result(), budget.seed
    while True:
        left = Budget(max(0.0, end - time.monotonic()), budget.examples, seed, budget.limit_s)
        found = fuzz([reader], left, keep)[reader]
        result = Result(result.cases + found.cases, result.findings | found.findings)
        seed += 1_000_000
        if time.monotonic() >= end:
            return result


def fuzz(readers: Iterable[str], budget: Budget, keep: Path = FINDINGS) -> dict[str, Result]:
    """Fuzz readers, one after the other, until all are done or one kills the process."""
    results = {name: Result() for name in readers}
    with tempfile.TemporaryDirectory(prefix="pairs-fuzz-", dir=_IN_MEMORY) as name:
        folder = Path(name)
        code, stdout, stderr = _work(list(results), folder, budget)
        reader = ""
        for told in map(json.loads, stdout.splitlines()):
            reader = told["reader"]
            results[reader].cases = told["cases"]
            if "title" in told:
                results[reader].keep(Finding(told["title"], told["text"]), Path(told["files"]), keep / reader)
        if code:
            results[reader].keep(_why_dead(code, stderr), folder / INPUT, keep / reader)
    return results


def _work(readers: list[str], folder: Path, budget: Budget) -> tuple[int, str, str]:
    """Run a worker; return its exit code and what it printed."""
    numbers = {"seconds": budget.seconds, "examples": budget.examples, "seed": budget.seed, "limit": budget.limit_s}
    command = [sys.executable, "-m", "tests.fuzz.worker", *readers, "--folder", str(folder)]
    command += [f"--{name}={number}" for name, number in numbers.items()]
    longest_s = len(readers) * (budget.seconds + budget.limit_s) + _STARTING_S
    with (folder / "stdout").open("w+") as stdout, (folder / "stderr").open("w+") as stderr:
        try:
            code = subprocess.run(command, stdout=stdout, stderr=stderr, timeout=longest_s, check=False).returncode
        except subprocess.TimeoutExpired:
            code = -9
    return code, (folder / "stdout").read_text(), (folder / "stderr").read_text(errors="replace")


def _why_dead(code: int, stderr: str) -> Finding:
    """Say what ended a worker, by what faulthandler wrote."""
    hung = "Timeout (" in stderr
    if code == 1 and not hung:  # not the reader but the fuzzing failed
        raise RuntimeError(stderr.split("while generating")[0][-5_000:])
    places = re.findall(r'File ".*/pairs/(\S+)", line (\d+) in (\w+)', stderr)
    place = f"in {places[0][2]}, {places[0][0]}:{places[0][1]}" if places else "somewhere"
    return Finding(f"{'hangs' if hung else f'dies with exit code {code}'} {place}", stderr[:20_000])
