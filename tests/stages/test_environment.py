"""The facts about this machine: those that the system tells, and nothing made up."""

import os
from pathlib import Path

import psutil
import pytest

from pairs.stages import environment as module
from pairs.stages.environment import environment


def test_this_machine() -> None:
    """Cores, memory, the cores that may be used, and the load when it was asked."""
    found = environment()
    assert (found.cores, found.memory_bytes) == (os.cpu_count(), psutil.virtual_memory().total)
    assert set(found.affinity) == os.sched_getaffinity(0)
    assert found.load_average is not None
    assert found.load_average >= 0
    assert "numpy" in found.versions


@pytest.mark.parametrize(
    ("cpuinfo", "maker", "expected"),
    [
        ("model name : a chip\nflags : fpu hypervisor sse", "a maker\n", "a maker"),
        ("model name : a chip\nflags : fpu hypervisor sse", None, "unknown hypervisor"),
        ("model name : a chip\nflags : fpu sse", "a maker\n", "none"),
        ("Features : fp asimd", None, None),
        (None, None, None),
    ],
)
def test_a_hypervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpuinfo: str | None, maker: str | None, expected: str | None
) -> None:
    """Without a program that tells, the processor's flags and the maker's name do; or it is not known."""
    for name, content in (("cpuinfo", cpuinfo), ("maker", maker)):
        if content is not None:
            (tmp_path / name).write_text(content)
    monkeypatch.setattr(module, "_DETECTOR", "no-such-program")
    monkeypatch.setattr(module, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(module, "_MAKERS", (tmp_path / "maker",))
    assert environment().virtualized == expected


def test_the_governor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system names it; None where it names none."""
    monkeypatch.setattr(module, "_GOVERNOR", tmp_path / "governor")
    assert environment().governor is None
    (tmp_path / "governor").write_text("performance\n")
    assert environment().governor == "performance"
