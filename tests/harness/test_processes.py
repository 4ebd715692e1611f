"""The processes of a run: bound to the cores that they may use."""

import sys
from pathlib import Path

import pytest

from pairs.core.affinity import usable_cores
from pairs.harness.processes import Engine, Processes
from pairs.run_folder.folder import new_run

pytestmark = pytest.mark.process

SHOW = "import os; print(*sorted(os.sched_getaffinity(0)), flush=True)"
SHOW_IN_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SHOW!r}])"


@pytest.mark.parametrize("program", [SHOW, SHOW_IN_CHILD])
def test_an_engine_has_the_cores_that_it_may_use(tmp_path: Path, program: str) -> None:
    """It and what it starts, also when it is started again; without a limit, all that the run has."""
    last = usable_cores()[-1:]
    for folder, cores in (("limited", last), ("free", ())):
        processes = Processes(new_run(tmp_path / folder, overwrite=False))
        engine = Engine(processes, [sys.executable, "-c", program], tmp_path, cores=cores)
        engine.process.wait()
        engine.start()
        engine.process.wait()
        shown = " ".join(map(str, cores or usable_cores()))
        assert engine.process.log.read_text().splitlines() == [shown] * 2
