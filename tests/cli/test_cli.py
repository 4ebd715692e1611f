"""Tests of the command line itself."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pairs import __version__
from pairs.cli import app as cli

VERBS = ["generate", "estimate", "strategies", "show", "check", "collect", "play", "config", "profiles"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must succeed; return what it printed."""
    assert cli.run(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints name and version."""
    assert printed(capsys, "--version") == f"pairs {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """Also without arguments."""
    shown = printed(capsys, *arguments)
    assert all(f" {verb} " in shown for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    """Help has a sentence and an example or options."""
    assert f"pairs {verb}" in printed(capsys, verb, "--help")


def test_the_configuration_is_printed_as_toml(capsys: pytest.CaptureFixture[str]) -> None:
    """What profile, run file and flags amount to can be read back."""
    shown = tomllib.loads(printed(capsys, "config", "--profile", "quick", "--sf", "15", "--set", "spark.x=1"))
    assert (shown["profile"]["scale_factor"], shown["profile"]["market_rate"]) == (15, "250/3")
    assert (shown["profile"]["speed"], shown["run"]["settings"]) == (60, {"spark.x": "1"})


def test_phases_are_printed_and_estimated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As tables that a profile may have; they decide how many ticks there are. They have no flag."""
    file = tmp_path / "mine.toml"
    halted = "[[phase]]\nname = 'halt'\nuntil = '30m'\nrate = 0\n"
    file.write_text("arrivals = 'constant'\n[[phase]]\nname = 'a'\nuntil = '10m'\nrate = '1%'\n" + halted)
    shown = tomllib.loads(printed(capsys, "config", "--profile", str(file)))
    assert shown["profile"]["phase"][1] == {"name": "halt", "until": "30m", "rate": 0}
    estimated = " ".join(printed(capsys, "estimate", "--profile", str(file)).split())
    assert "ticks 30,001 in 30m" in estimated
    assert "because of duration, arrivals, phases" in estimated
    assert "--phase" not in printed(capsys, "generate", "--help")


def test_shipped_configurations_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its purpose."""
    shown = " ".join(printed(capsys, "profiles").split())
    assert "profile standard The benchmark as published" in shown
    assert "run local PySpark on this machine" in shown


def test_estimate_takes_the_options_of_generate(capsys: pytest.CaptureFixture[str]) -> None:
    """Only the verb changes."""
    shown = printed(
        capsys, "estimate", "-o", "x", "--profile", "quick", "--files", "3", "--master", "local[2]", "--overwrite"
    )
    assert "25 of 5 users" in shown


def test_estimate_knows_that_empty_windows_give_no_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """A market with few trades gives few answers."""
    assert "about 0 indicators and 0 orders" in printed(capsys, "estimate", "--basis-rate", "0.01")


def test_estimate_does_not_work_in_proportion_to_the_market(capsys: pytest.CaptureFixture[str]) -> None:
    """The largest market, with ten million symbols and 1,000 times as many ticks as SF 1,000, takes no longer."""
    shown = " ".join(printed(capsys, "estimate", "--sf", "1000000").split())
    ticks = re.search(r"ticks about ([\d,]+) in 2h", shown)
    assert ticks is not None, shown
    assert int(ticks[1].replace(",", "")) == pytest.approx(44.85e6 * 100_000, rel=1e-3)
    assert "ticks 4,48" in " ".join(printed(capsys, "estimate", "--sf", "1000").split())


def test_a_shell_completes_verbs() -> None:
    """The completion that users install answers."""
    asked = os.environ | {"_PAIRS_COMPLETE": "complete_bash", "COMP_WORDS": "pairs gen", "COMP_CWORD": "1"}
    program = "import sys; sys.argv[0] = 'pairs'; from pairs.cli.app import app; app(prog_name='pairs')"
    done = subprocess.run([sys.executable, "-c", program], env=asked, capture_output=True, text=True)
    assert "generate" in done.stdout
