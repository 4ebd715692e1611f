"""The command line: one module a verb. Errors become one line on stderr and an exit code."""

import io
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import typer
from typer.exceptions import TyperException

from pairs import __version__
from pairs.cli.bench import bench
from pairs.cli.broker import broker
from pairs.cli.check import check
from pairs.cli.collect import collect
from pairs.cli.config import config, profiles
from pairs.cli.estimate import estimate
from pairs.cli.expected import expected
from pairs.cli.generate import generate
from pairs.cli.help import Verb, Verbs
from pairs.cli.import_trades import import_trades
from pairs.cli.install import install
from pairs.cli.play import play
from pairs.cli.report import report
from pairs.cli.run import run as run_program
from pairs.cli.score import score
from pairs.cli.search import search
from pairs.cli.show import show
from pairs.cli.strategies import strategies
from pairs.cli.sweep import sweep
from pairs.cli.targets import targets
from pairs.cli.translate import translate
from pairs.cli.validate import validate
from pairs.core.errors import CommandInterruptedError, PairsError, one_line
from pairs.core.interrupts import interruptible

app = typer.Typer(
    name="pairs",
    cls=Verbs,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Benchmark stream processing engines with a stock market, and check every answer.\n\n"
    "Stages work from files to files, and each can be run alone. To begin:\n\n"
    "$ pairs generate -o data/market --profile quick\n"
    "$ pairs show data/market\n"
    "$ pairs bench --profile quick",
)

_INTERRUPTED = CommandInterruptedError.exit_code  # what Typer returns for an interrupt, too
_NOTHING_KEPT = "interrupted; nothing was left half-written"  # stages that keep something say so themselves

_DATASET_VERBS: tuple[Callable[..., None], ...] = (generate, import_trades, estimate, show, strategies, check, expected)
_RUN_VERBS = (validate, targets, translate, run_program, collect, play, bench, score, sweep, search, report)
_CONFIG_VERBS = (config, profiles, install, broker)
for _verb in _DATASET_VERBS + _RUN_VERBS + _CONFIG_VERBS:
    app.command(name="import" if _verb is import_trades else _verb.__name__, cls=Verb)(_verb)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pairs {__version__}")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")


@app.callback()
def _root(version: Annotated[bool, _VERSION] = False) -> None:
    pass


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    logging.getLogger().addHandler(logging.NullHandler())  # keeps the logs of libraries off the terminal
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter of a name shows its code
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with interruptible():
            code = int(app(given or ["--help"], standalone_mode=False, prog_name="pairs") or 0)
            sys.stdout.flush()  # here an error is reported
        return code if code != _INTERRUPTED else _fail(_NOTHING_KEPT, code)
    except KeyboardInterrupt:  # that Typer did not see
        return _fail(_NOTHING_KEPT, _INTERRUPTED)
    except PairsError as error:
        return _fail(str(error), error.exit_code)
    except TyperException as error:
        return _fail(f"{error.format_message().rstrip('.')}; see 'pairs --help'", 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'pairs'}: {error.strerror or error}; check the path and the disk", 1)


def _fail(message: str, code: int) -> int:
    with suppress(OSError):  # a terminal that was closed
        typer.echo(f"pairs: {one_line(message)}", err=True)
    return code
