"""Engines that are small scripts, and the golden market played to them in real time."""

import sys
from pathlib import Path
from typing import Any, ClassVar

from pairs.config.run_settings import RunSettings
from pairs.config.settings import defaults_of
from pairs.dataset.folder import Dataset
from pairs.harness.playback import Replay
from pairs.harness.supervisor import Job, Outcome, execute
from pairs.model.plan import Plan, all_steps
from pairs.run_folder.folder import Run, new_run
from pairs.translator.target import Launch, Target
from pairs.transport.ticklog import TickLogTransport
from tests.markets import GOLDEN_TICKS, golden_market

DURATION_MS = 900_000
_SETTINGS: dict[str, Any] = {
    "target": "script",
    "plan": "only",
    "transport": "ticklog",
    "drivers": 1,
    "stall_timeout": 60_000,
    "max_behind": 120_000,
    "faults": (),
    "cores": None,
    "settings": {},
}


class ScriptEngine(Target):
    """An engine that is a script; its arguments are those given, the source and the sink."""

    name = "script"
    summary = "a script"
    plans: ClassVar = {"only": Plan("a script", all_steps("block"))}
    options: ClassVar = {}
    recovers = True
    templates = Path()

    def __init__(self, script: Path, *arguments: object) -> None:
        self._command = [sys.executable, str(script), *map(str, arguments)]

    def command(self, launch: Launch) -> list[str]:
        """Run the script."""
        return [*self._command, launch.source, launch.sink]


def play_golden(folder: Path, script: str, *arguments: object, speed: float, **settings: Any) -> tuple[Run, Outcome]:
    """Play the golden market to an engine; FOLDER/run is its run."""
    (folder / "engine.py").write_text(script)
    run = new_run(folder / "run", overwrite=False)
    run.app_folder.mkdir()
    replay = Replay(
        Dataset(golden_market(folder / "market")),
        RunSettings(**defaults_of(RunSettings) | _SETTINGS | {"speed": speed} | settings),
        GOLDEN_TICKS,
        {"measurement": 0, "cool-down": DURATION_MS},
        (0, DURATION_MS),
        DURATION_MS,
    )
    job = Job(replay, ScriptEngine(folder / "engine.py", *arguments), "only")
    return run, execute(run, job, TickLogTransport(run.transport_folder))
