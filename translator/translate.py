"""Renders the program of a target: templates and facts in, a folder with a program and a table of strategies out."""

import csv
import json
import re
import shutil
import tempfile
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pairs import __version__
from pairs.core import resources
from pairs.core.errors import BadInputError
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.translator.target import Program, Target

STRATEGIES_TABLE = "strategies.csv"
PROGRAM_FACTS = "program.json"
_COLUMNS = ("alias", "symbol1", "symbol2", "periodMs", "numPeriods", "bandsMultiplier", "stopLoss", "fundsCents")


def translate(strategies_file: Path, target: Target, plan: str, app: Path, overwrite: bool = False) -> Program:
    """Translate a set of strategies into a program; the folder appears when it is whole."""
    strategies = read_strategies(strategies_file)
    refusals = list(target.refusals(strategies))
    if refusals:
        raise BadInputError(f"{strategies_file}: {target.name} cannot express this set: {refusals[0]}")
    _refuse_existing(app, overwrite)
    program = _program(strategies_file, strategies, target, plan)
    try:
        app.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{app.name}.partial-", dir=app.parent))
    except OSError as error:
        raise BadInputError(f"{app}: cannot be written: {error.strerror}; choose another folder") from None
    try:
        building.chmod(0o755)
        for name, text in render(target, plan, program).items():
            (building / name).write_text(text, encoding="utf-8")
        _write_table(building / STRATEGIES_TABLE, strategies)
        facts = {
            "format_version": 1,
            "target": target.name,
            **asdict(program),
            "strategies": len(strategies.strategies),
        }
        (building / PROGRAM_FACTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        if app.exists():
            shutil.rmtree(app)
        building.rename(app)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return program


def render(target: Target, plan: str, program: Program) -> dict[str, str]:
    """Render the templates of a plan; return the texts by the names of their files."""
    environment = Environment(  # noqa: S701 - programs, not pages; no text from data gets in
        loader=FileSystemLoader([target.templates.parent, resources.folder("templates")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    folder = target.templates / plan
    names = sorted(file.name for file in folder.glob("*.jinja"))
    return {
        name.removesuffix(".jinja"): environment.get_template(f"{target.templates.name}/{plan}/{name}").render(
            program=program, settings=program.settings
        )
        for name in names
    }


def _program(strategies_file: Path, strategies: StrategySet, target: Target, plan: str) -> Program:
    every = strategies.strategies
    pairs = len({(one.symbol1, one.symbol2) for one in every})
    return Program(
        kit_version=__version__,
        source=re.sub(r"[^A-Za-z0-9_.-]", "_", strategies_file.absolute().parent.name) or "unnamed",
        digest=sha256(strategies_file.read_bytes()).hexdigest(),
        plan=plan,
        summary=f"{len(every):,} strategies on {pairs:,} pairs",
        market_close_ms=strategies.market_close_ms,
        settings=target.settings(plan),
    )


def _refuse_existing(app: Path, overwrite: bool) -> None:
    """Refuse to write where something is, unless told to overwrite it and it is a program."""
    if app.exists() and not overwrite:
        raise BadInputError(f"{app}: exists already; choose another folder, or give --overwrite to replace it")
    if app.exists() and not (app / PROGRAM_FACTS).is_file():
        raise BadInputError(f"{app}: exists and is not a translated program; choose another folder")


def _write_table(path: Path, strategies: StrategySet) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows(map(_row, strategies.strategies))


def _row(one: Strategy) -> tuple[str | int | float, ...]:
    names = (one.alias, one.symbol1, one.symbol2)
    return (
        *names,
        one.period_ms,
        one.num_periods,
        one.bands_multiplier,
        one.stop_loss_fraction,
        one.available_funds_cents,
    )
