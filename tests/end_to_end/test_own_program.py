"""Programs that the kit does not start, between `pairs collect` and `pairs play`: docs/targets.md, run as it stands."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.terminals import Terminals

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

PAGE = (Path(__file__).parents[2] / "docs" / "targets.md").read_text(encoding="utf-8")
SECTION = PAGE.split("\n## Bring your own program\n")[1].split("\n## ")[0]
FILES: dict[str, str] = dict(re.findall(r"`([\w.]+)`:\n\n```(?:xml|python)\n(.*?)```", SECTION, re.DOTALL))
COMMANDS: list[str] = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
OWN_MARKET, OWN_TERMINALS, TRANSLATION, SPARK_TERMINALS = COMMANDS[0], COMMANDS[1:4], COMMANDS[4], COMMANDS[5:]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminals]:
    """Make the files and the market of the page in an empty folder."""
    terminals = Terminals(tmp_path_factory.mktemp("page"))
    for name, content in FILES.items():
        (terminals.folder / name).write_text(content)
    terminals.run(f"set -e; {OWN_MARKET}")
    yield terminals
    terminals.close()


def play(shell: Terminals, collecting: str, program: str, playing: str) -> tuple[int, str]:
    """Open the three terminals of the page; return how the first ended, and what it printed."""
    first = shell.open(collecting)
    first.wait_for("answers  127.0.0.1:")
    second = shell.open(program)
    assert "ticks were sent, at speed 60" in shell.run(playing)
    code, output = second.finish()
    assert code == 0, output
    return first.finish()


def test_a_program_in_plain_python(shell: Terminals) -> None:
    """The page's program passes; it imports nothing of the kit, and is void only for what the page says."""
    assert sorted(FILES) == ["mine.py", "mine.xml"]
    assert len(FILES["mine.py"].splitlines()) <= 25
    assert "pairs" not in FILES["mine.py"]
    collecting, program, playing = OWN_TERMINALS
    code, output = play(shell, collecting, program, playing)
    assert "Validation result: PASSED" in output
    assert code == 1  # of pairs score: the last command
    run = shell.folder / "runs" / "mine"
    validation, score, manifest = (json.loads((run / f"{name}.json").read_text()) for name in RECORDS)
    assert validation["indicators"]["correct"] > 50
    assert validation["orders"]["validator"] == 0
    assert (score["target"], score["plan"], score["class"]) == ("plain-python", "external", "block")
    assert "no order was triggered in the measurement interval" in score["reasons"]
    assert (manifest["state"], manifest["exit_codes"]) == ("ended", {"driver-0": 0, "sink": 0})
    assert manifest["load"] == pytest.approx(score["load"])
    assert score["load"] > 0
    assert score["send_delay"]["ticks"] == manifest["ticks"]
    assert sorted(file.name for file in run.iterdir()) == LEFT
    assert "report.html" in shell.run("pairs report runs/mine")


RECORDS = ("validation", "score", "run")
LEFT = [
    "driver-0.json",
    "driver-0.parquet",
    "indicators.parquet",
    "logs",
    "machine.parquet",
    "orders.parquet",
    "run.json",
    "score.json",
    "sink.json",
    "strategies.xml",
    "throughput.parquet",
    "validation.json",
]


@pytest.mark.slow
def test_a_generated_program_that_is_started_by_hand(shell: Terminals) -> None:
    """With spark-submit, on a generated strategy set: every answer is right, orders included."""
    shell.run(f"set -e; {TRANSLATION}")
    collecting, program, playing = SPARK_TERMINALS
    assert program.startswith("spark-submit app/app.py")
    code, output = play(shell, collecting, program, playing)
    assert code == 0, output
    assert "Validation result: PASSED" in output
    validation = json.loads((shell.folder / "runs" / "spark" / "validation.json").read_text())
    assert validation["orders"]["correct"] > 0
