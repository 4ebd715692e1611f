"""Tests of the import contracts: `make lint` fails if a room imports from a room that may import from it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter, as `make lint` does, on the package in a folder."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the package with its contracts."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "pairs", folder / "pairs", ignore=shutil.ignore_patterns("__pycache__", "templates"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_package_keeps_its_contracts(package: Path) -> None:
    """As it is, no contract is broken."""
    checked = lint(package)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("module", "violation", "contract"),
    [
        ("core/units.py", "import pairs.cli.app", "A room imports only"),
        ("dataset/folder.py", "def lazily() -> None:\n    from pairs.generator import ticks", "A room imports only"),
        ("generator/prices.py", "from pairs.validator import replay", "A room imports only"),
        ("harness/driver.py", "from pairs.measure import score", "A room imports only"),
        ("model/tuples.py", "def lazily() -> None:\n    import pairs.model.streams", "No module imports itself"),
    ],
)
def test_a_violation_breaks_a_contract(package: Path, module: str, violation: str, contract: str) -> None:
    """An import against the direction fails, also inside a function, and so does a cycle within a room."""
    file = package / "pairs" / module
    whole = file.read_text(encoding="utf-8")
    try:
        file.write_text(f"{whole}\n\n{violation}\n", encoding="utf-8")
        checked = lint(package)
    finally:
        file.write_text(whole, encoding="utf-8")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert any(line.startswith(contract) and line.endswith("BROKEN") for line in checked.stdout.splitlines())
