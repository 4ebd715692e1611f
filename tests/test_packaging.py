"""Tests of the distributions: what the wheel installs, and what the source distribution holds."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both distributions: the wheel from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_the_wheel_takes_one_name(distributions: Path) -> None:
    """Beside its metadata it installs the package pairs and nothing else, with all of its parts."""
    [wheel] = distributions.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"pairs"}
    for part in ("generator", "translator", "validator", "templates", "configs"):
        assert any(name.startswith(f"pairs/{part}/") for name in names), part
    assert {"pairs/model/strategies.xsd", "pairs/configs/runs/local.toml", "pairs/configs/profiles/quick.toml"} <= set(
        names
    )


def test_the_source_distribution_can_run_its_tests(distributions: Path) -> None:
    """It holds the tests, the Makefile and the pinned versions, and the package is whole without links."""
    [archive] = distributions.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        members = source.getmembers()
    names = {member.name.split("/", 1)[1] for member in members}
    assert {"Makefile", "constraints.txt", "pyproject.toml", "tests/conftest.py", "pairs/generator/ticks.py"} <= names
    assert not any(member.issym() for member in members)


@pytest.fixture(params=["checkout", "wheel"])
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder that holds the package: the checkout, or what the wheel installs."""
    if request.param == "checkout":
        return ROOT
    [wheel] = request.getfixturevalue("distributions").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")  # noqa: S202 - our own
    return tmp_path / "site"


def test_modules_of_the_same_name_are_left_alone(installed: Path, tmp_path: Path) -> None:
    """A generator.py that comes first on PYTHONPATH, or lies where one works, is never run, not by Spark either."""
    decoys, work = tmp_path / "decoys", tmp_path / "work"
    for folder in (decoys, work):
        folder.mkdir()
        for name in ("generator", "translator", "validator", "templates", "configs"):
            (folder / f"{name}.py").write_text("raise SystemExit('a decoy was run')\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (decoys, installed)))}

    def python(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    assert python("-c", "import pairs; print(pairs.__file__)") == str(installed / "pairs" / "__init__.py")
    workload = ["--profile", "quick", "--duration", "10s"]
    for verb in (["generate", *workload, "-o", "market"], ["strategies", "market"], ["translate", "market"]):
        python("-m", "pairs.cli", *verb)
    python("-c", "import pairs.validator.expected, pairs.validator.validation")
