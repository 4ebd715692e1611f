"""Processes end with all that they started, also those that resist."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

# A child that ends at once and leaves a grandchild behind, in a session of its own, that ignores every polite signal.
PROGRAM = """
import signal, subprocess, sys
from pairs.core import process_tree
from pairs.core.process_tree import adopt_orphans, end_descendants
process_tree._PATIENCE_S = 0.5
adopt_orphans()
ignore = "import signal, time; [signal.signal(number, signal.SIG_IGN) for number in (1, 2, 15)]; "
resist = ignore + "print(1, flush=True); time.sleep(99)"
start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {resist!r}], start_new_session=True)"
child = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE)
child.stdout.readline()
child.wait()
end_descendants()
"""


def test_an_orphan_that_resists_is_killed() -> None:
    """The pipe that it held is free, so its reader does not wait."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
