"""Renders the program of a target: templates and strategies in, a folder with a program and a table out."""

import csv
import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256
from operator import attrgetter
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pairs.core.errors import BadInputError
from pairs.core.files import shipped_folder, temporary_folder
from pairs.core.interrupts import uninterrupted
from pairs.core.progress import waiting
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.translator.target import JAVA_FOLDER, Program, Target

STRATEGIES_TABLE = "strategies.csv"
PROGRAM_RECORD = "program.json"
_COLUMNS = {  # of the table, each with what it holds of a strategy
    "alias": "alias",
    "symbol1": "symbol1",
    "symbol2": "symbol2",
    "periodMs": "period_ms",
    "numPeriods": "num_periods",
    "bandsMultiplier": "bands_multiplier",
    "stopLoss": "stop_loss_fraction",
    "fundsCents": "available_funds_cents",
}


@waiting("translating strategies")
def translate(
    strategies_file: Path,
    target: Target,
    plan: str,
    app: Path,
    overwrite: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Program:
    """Translate a set of strategies into a program and build it; the folder appears when it is whole."""
    strategies = read_strategies(strategies_file)
    refusals = list(target.refusals(strategies))
    if refusals:
        raise BadInputError(f"{strategies_file}: {target.name} cannot express this set: {refusals[0]}")
    _refuse_existing(app, overwrite)
    program = _program(strategies_file, strategies, target, plan)
    with ExitStack() as cleanup:
        try:
            app.parent.mkdir(parents=True, exist_ok=True)
            partial = cleanup.enter_context(temporary_folder(f".{app.name}.partial-", app.parent))
        except OSError as error:
            raise BadInputError(f"{app}: cannot be written: {error.strerror}; choose another folder") from None
        partial.chmod(0o755)
        for file, text in render(target, program).items():
            (partial / file).parent.mkdir(exist_ok=True)
            (partial / file).write_text(text, encoding="utf-8")
        target.build(partial, plan, settings or {})
        _write_table(partial / STRATEGIES_TABLE, strategies)
        program.write(partial / PROGRAM_RECORD)
        with uninterrupted():
            if app.exists():
                shutil.rmtree(app)
            partial.rename(app)
    return program


def render(target: Target, program: Program) -> dict[str, str]:
    """Render what is in the folders of a plan; return the texts by the names of their files."""
    environment = Environment(  # noqa: S701 - programs, not pages; no text from data gets in
        loader=FileSystemLoader([target.templates.parent, shipped_folder("templates")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    texts = {}
    for file in sorted(file for folder in target.template_folders(program.plan) for file in folder.glob("*.*")):
        name = file.name.removesuffix(".jinja")
        place = f"{JAVA_FOLDER}/{name}" if name.endswith(".java") else name
        if file.suffix == ".jinja":
            template = environment.get_template(file.relative_to(target.templates.parent).as_posix())
            texts[place] = template.render(program=program, settings=program.settings)
        else:
            texts[place] = file.read_text(encoding="utf-8")
    return texts


def _program(strategies_file: Path, strategies: StrategySet, target: Target, plan: str) -> Program:
    return Program(
        target=target.name,
        plan=plan,
        source=re.sub(r"[^A-Za-z0-9_.-]", "_", strategies_file.absolute().parent.name) or "unnamed",
        digest=sha256(strategies_file.read_bytes()).hexdigest(),
        strategies=len(strategies.strategies),
        pairs=len({(strategy.symbol1, strategy.symbol2) for strategy in strategies.strategies}),
        market_close_ms=strategies.market_close_ms,
        settings=dict(target.settings(plan)),
    )


def _refuse_existing(app: Path, overwrite: bool) -> None:
    """Refuse to write where something is, unless told to overwrite it and it is a program."""
    if app.exists() and not overwrite:
        raise BadInputError(f"{app}: exists already; choose another folder, or give --overwrite to replace it")
    if app.exists() and not (app / PROGRAM_RECORD).is_file():
        raise BadInputError(f"{app}: exists and is not a translated program; choose another folder")


def _write_table(path: Path, strategies: StrategySet) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows(map(attrgetter(*_COLUMNS.values()), strategies.strategies))
