"""The command line: one verb a stage, no logic. Errors become one line on stderr and an exit code."""

import logging
import os
import signal
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from pairs import __version__
from pairs.cli.flags import takes
from pairs.config import load as config
from pairs.config.load import RunSettings
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError, PairsError, one_line

app = typer.Typer(
    name="pairs",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Benchmark stream processing engines with a stock market, and check every answer.\n\n"
    "Stages work from files to files, and each can be run alone. Start with [bold]pairs generate -o data/market "
    "--profile quick[/bold], then [bold]pairs show data/market[/bold].",
)

_INTERRUPTED = 130  # what Typer returns for Ctrl-C

ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME|FILE",
        help="Workload to start from: a shipped profile or a TOML file; flags override it.",
        autocompletion=lambda: config.shipped("profiles"),
    ),
]
RunOption = Annotated[
    str,
    typer.Option(
        "--run",
        metavar="NAME|FILE",
        help="How to execute it: a shipped run file or a TOML file; flags override it.",
        autocompletion=lambda: config.shipped("runs"),
    ),
]
GenerateOption = Annotated[
    bool,
    typer.Option(
        "--generate", help="Keep no ticks on disk: they are drawn when they are sent, and again when they are checked."
    ),
]
FilesOption = Annotated[
    str | None,
    typer.Option("--files", metavar="N", help="Number of tick files; default: one for every 4 million ticks."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="parquet|csv|drawn",
        help="Format of the tick files; drawn keeps no ticks, they are drawn again whenever they are read.",
        autocompletion=lambda: ["parquet", "csv", "drawn"],
    ),
]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the dataset.")]
MasterOption = Annotated[
    str, typer.Option("--master", metavar="URL", help="Spark master; the dataset's folder must be visible to it.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pairs {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
@takes(Workload)
def generate(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DATASET", help="Folder to write; must be new.")],
    profile: ProfileOption = "standard",
    files: FilesOption = None,
    format: FormatOption = "parquet",  # noqa: A002 - the flag's name
    master: MasterOption = config.DEFAULT_MASTER,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the dataset that is there.")] = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Generate a market: every trade of a day, the same for the same seed on any machine.

    Prices are geometric Brownian motions, correlated in pairs; trades arrive
    as a Poisson process whose rate swings between a basis and a peak. The job
    runs on Spark, the folder appears when it is whole.

    [dim]pairs generate -o data/quick --profile quick --sf 10[/dim]
    """
    from pairs.stages.stages import generate as run

    run(config.load_workload(profile, flags), profile, output, files, format, master, overwrite)


@app.command(name="import")
def import_trades(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Trades, as CSV with a header or as Parquet.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DATASET", help="Folder to write; must be new.")],
    symbol: Annotated[str, typer.Option("--symbol-column", metavar="NAME", help="Column with the symbol.")],
    price: Annotated[
        str, typer.Option("--price-column", metavar="NAME", help="Column with the price, 12.34 is 1,234 cents.")
    ],
    time: Annotated[str, typer.Option("--time-column", metavar="NAME", help="Column with the time of the trade.")],
    time_unit: Annotated[
        str | None, typer.Option("--time-unit", metavar="ns|us|ms|s", help="Unit of times that are numbers.")
    ] = None,
    size: Annotated[
        str | None, typer.Option("--size-column", metavar="NAME", help="Column with the shares; default: 100 each.")
    ] = None,
    top_pairs: Annotated[
        str | None,
        typer.Option("--top-pairs", metavar="K", help="Take the K most correlated pairs; default: up to 25."),
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", metavar="FILE", help="Take the pairs of this CSV: symbol1,symbol2.")
    ] = None,
    master: MasterOption = config.DEFAULT_MASTER,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the dataset that is there.")] = False,
) -> None:
    """Make a dataset of real trades: sorted, in whole cents, time from zero, with a bell at the end.

    Times are ISO timestamps, with or without a zone, or numbers. Everything
    else works on it as on a generated market; it is marked as non-standard.

    [dim]pairs import trades/*.csv -o data/real --symbol-column sym --price-column px --time-column ts[/dim]
    """
    from pairs.stages.stages import import_trades as run

    columns = {"symbol": symbol, "price": price, "time": time, "size": size, "time_unit": time_unit}
    run(files, columns, top_pairs, pairs, output, master, overwrite)


@app.command()
@takes(Workload)
def estimate(
    profile: ProfileOption = "standard",
    files: FilesOption = None,
    format: FormatOption = "parquet",  # noqa: A002 - the flag's name
    output: Annotated[Path | None, typer.Option("--output", "-o", hidden=True)] = None,
    master: Annotated[str | None, typer.Option("--master", hidden=True)] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", hidden=True)] = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Say what a workload amounts to before you generate it: ticks, bytes, answers, time.

    Takes all options of generate, so that one can just change the verb.
    Size and speed are measured on a sample drawn here and now.
    """
    from pairs.stages.stages import estimate as run

    run(config.load_workload(profile, flags), files, format)


@app.command()
def show(dataset: DatasetArgument) -> None:
    """Show a dataset: its parameters and digest, its rate over time, its first trades, a pair's prices."""
    from pairs.stages.stages import show as run

    run(dataset)


@app.command()
def strategies(
    dataset: Annotated[Path | None, typer.Argument(metavar="DATASET", help="Folder of the dataset.")] = None,
    seed: Annotated[str | None, typer.Option("--seed", metavar="N", help="Seed; default: the dataset's.")] = None,
    count: Annotated[
        str | None, typer.Option("--count", metavar="S", help="How many; default: 25 times the scale factor.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace other strategies that are there.")] = False,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="Check this file instead; against DATASET's symbols if given."),
    ] = None,
) -> None:
    """Generate the strategies that watch a market, as neutral XML.

    Ten strategies of ten users watch each pair of a full market; parameters
    are drawn from the seed. With --check, any hand-written set is validated
    and every problem is reported with its line.

    [dim]pairs strategies data/quick[/dim]
    """
    from pairs.stages import stages

    if check is not None:
        stages.check_strategies(check, dataset)
    elif dataset is None:
        raise BadInputError("DATASET: missing; give the folder of a dataset, or a file with --check")
    else:
        stages.generate_strategies(dataset, seed, count, overwrite)


@app.command()
def check(dataset: DatasetArgument, master: MasterOption = config.DEFAULT_MASTER) -> None:
    """Check a dataset: every file and every row held against the rules, and the digest against dataset.json.

    Finds time that runs backwards, prices, sizes and symbols that are none,
    files that are missing, cut off or there twice; each with file and row.
    The exit code is 1 if there are any.
    """
    from pairs.stages.stages import check as run

    run(dataset, master)


@app.command()
def expected(
    dataset: DatasetArgument,
    recompute: Annotated[bool, typer.Option("--recompute", help="Compute them even if they are there.")] = False,
    master: MasterOption = config.DEFAULT_MASTER,
) -> None:
    """Compute the answers that every engine must give, and keep them beside the dataset.

    They are reused as long as ticks and strategies stay the same. Needs
    only ticks/ and strategies.xml, so a dataset made by hand will do.

    [dim]pairs expected data/quick[/dim]
    """
    from pairs.stages.stages import expected as run

    run(dataset, recompute, master)


@app.command()
def validate(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="Folder of a run.")] = None,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="DATASET", help="Dataset that the answers belong to.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="FOLDER", help="Folder with indicators and orders, .parquet or .csv."),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="missing|undue|wrong",
            help="Show these answers side by side with the expected ones, and write all of them as CSV.",
            autocompletion=lambda: ["missing", "undue", "wrong"],
        ),
    ] = None,
    limit: Annotated[str, typer.Option("--limit", metavar="N", help="Show so many; the CSV has them all.")] = "20",
    strategy: Annotated[
        str | None, typer.Option("--strategy", metavar="ALIAS", help="Show those of one strategy only.")
    ] = None,
    master: MasterOption = config.DEFAULT_MASTER,
) -> None:
    """Check every answer of a run, or of any engine, against the reference.

    Answers are matched by key: strategy, time of the trigger, and type of an
    order. PASSED means nothing missing, nothing undue, nothing wrong; the exit
    code is then 0, else 1. Counts and first errors go to validation.json.

    [dim]pairs validate runs/first --show wrong[/dim]
    [dim]pairs validate --dataset data/quick --answers my-engine/output[/dim]
    """
    from pairs.stages.stages import validate as check_answers

    if (run is None) == (answers is None):
        raise BadInputError("RUN: give the folder of a run, or else --dataset and --answers")
    if answers is not None and dataset is None:
        raise BadInputError("--dataset: missing; give the dataset that the answers belong to")
    folder = run or answers
    assert folder is not None  # noqa: S101 - one of them is given
    if not check_answers(folder, dataset, show, limit, strategy, master):
        raise typer.Exit(1)


@app.command()
def targets() -> None:
    """List the engines that strategies can be translated for, with their plans and options."""
    from pairs.stages.stages import list_targets

    list_targets()


@app.command()
def translate(
    dataset: DatasetArgument,
    target: Annotated[str, typer.Option("--target", metavar="NAME", help="Engine to translate for.")] = "pyspark",
    plan: Annotated[
        str | None,
        typer.Option("--plan", metavar="NAME", help="How the work is laid out; default: the target's first."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="APP", help="Folder to write; default: in the dataset.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the program that is there.")] = False,
) -> None:
    """Translate the strategies of a dataset into a program for an engine.

    The program is a small application that runs by itself; the strategies are
    a table next to it, so it does not grow with them.

    [dim]pairs translate data/quick --plan direct -o app[/dim]
    """
    from pairs.stages.stages import translate as render

    render(dataset, target, plan, output, overwrite)


@app.command(name="run")
@takes(Workload, RunSettings)
def run_program(
    dataset: Annotated[
        Path | None, typer.Argument(metavar="[DATASET]", help="Folder of a dataset; with --generate it may be missing.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="RUN", help="Folder to write; default: under runs/.")
    ] = None,
    run: RunOption = "local",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is there.")] = False,
    generate: GenerateOption = False,
    profile: ProfileOption = "standard",
    *,
    flags: dict[str, Any],
) -> None:
    """Run a program on a dataset in real time: driver, engine and sink as processes, the answers collected.

    Every tick is sent when it is due, whatever the engine does. With --speed
    max the ticks are played as fast as the engine takes them: for correctness,
    not for a score.

    [dim]pairs run data/quick -o runs/first && pairs validate runs/first && pairs score runs/first[/dim]
    [dim]pairs run --generate --profile sprint --sf 300[/dim]
    """
    from pairs.stages.stages import dataset_of
    from pairs.stages.stages import run as execute

    if generate:
        workload = config.load_workload(profile, flags)
        settings = config.load_run(run, flags, workload.speed)
        dataset = dataset_of(workload, profile, dataset, "drawn", settings.master)
    elif dataset is None:
        raise BadInputError("DATASET: missing; name the folder of one, or give --generate and a --profile")
    elif given := [name for name in flags if name not in {one.name for one in fields(RunSettings)}]:
        raise BadInputError(f"--{given[0].replace('_', '-')}: belongs to a workload; give it with --generate")
    else:
        settings = config.load_run(run, flags, config.natural_speed(dataset))
    path = execute(dataset, output, settings, overwrite)
    typer.echo(f"check its answers with 'pairs validate {path}'")


@app.command()
@takes(Workload, RunSettings)
def bench(
    profile: ProfileOption = "standard",
    run: RunOption = "local",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="RUN", help="Folder of the run; default: under runs/.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DATASET", help="Folder of the dataset, used if it is there; default: under data/."
        ),
    ] = None,
    generate: GenerateOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is there.")] = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Do it all: generate a market and strategies, run the engine in real time, check every answer, score, report.

    Exit code 0 means that the score counts: every answer right, every tick
    sent, the driver on time.

    [dim]pairs bench --profile quick --sf 1[/dim]
    """
    from pairs.stages.stages import bench as all_of_it

    workload = config.load_workload(profile, flags)
    settings = config.load_run(run, flags, workload.speed)
    suffix = "drawn" if generate else "parquet"
    if not all_of_it(workload, profile, settings, data, suffix, output, overwrite):
        raise typer.Exit(1)


@app.command()
def score(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run that was validated.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Score a run: p_score = load / 99th percentile latency of the orders in the measurement interval.

    A score counts only if every answer was right, every tick was sent and the
    driver kept its schedule; else it is void, with every reason, and the exit
    code is 1.
    """
    from pairs.stages.stages import score as weigh

    if not weigh(run, as_json):
        raise typer.Exit(1)


@app.command()
@takes(Workload, RunSettings)
def search(
    profile: ProfileOption = "sprint",
    run: RunOption = "local",
    slo: Annotated[
        str, typer.Option("--slo", metavar="LIMIT", help="What a run must keep to, such as p99<1s or p99<500ms.")
    ] = "p99<1s",
    first: Annotated[str, typer.Option("--first", metavar="SF", help="Scale factor to begin with.")] = "1",
    most: Annotated[str, typer.Option("--most", metavar="SF", help="Scale factor to end at.")] = "1000000",
    generate: GenerateOption = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="SEARCH", help="Folder of the search; default: under searches/."),
    ] = None,
    *,
    flags: dict[str, Any],
) -> None:
    """Find the highest scale factor that is sustained, and the one with the best score.

    A run is good if every answer is right, its score is valid, p99 keeps to the
    limit, and neither latency nor backlog grows within the measurement interval.
    The scale factor is doubled until a run is not, then bisected to 5 %; at the
    edge each is run three times. Ended and called again, it goes on.

    [dim]pairs search --profile sprint --slo 'p99<500ms'[/dim]
    """
    from pairs.stages.stages import search as find

    def workload_at(scale_factor: int) -> Workload:
        return config.load_workload(profile, flags | {"scale_factor": str(scale_factor)})

    if "scale_factor" in flags:
        raise BadInputError("--sf: is what is searched for; give --first to begin with it")
    settings = config.load_run(run, flags, workload_at(1).speed)
    suffix = "drawn" if generate else "parquet"
    if not find(workload_at, profile, settings, slo, (first, most), suffix, output):
        raise typer.Exit(1)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folder of a run; several to compare them.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: report.html in RUN.")
    ] = None,
) -> None:
    """Make the report of a run, or compare runs: one HTML file that needs nothing else.

    The verdict and whether to trust it, load, latency, machine, the engine's
    own view, incorrect answers side by side, any strategy up close, and all
    that one needs to repeat the run.

    [dim]pairs report runs/first[/dim]
    [dim]pairs report runs/first runs/second runs/third -o comparison.html[/dim]
    """
    from pairs.stages.stages import report as make

    make(runs, output)


@app.command(name="config")
@takes(Workload, RunSettings)
def show_config(profile: ProfileOption = "standard", run: RunOption = "local", *, flags: dict[str, Any]) -> None:
    """Print the configuration that a profile, a run file and flags amount to, as TOML."""
    from pairs.stages.stages import show_config as print_config

    workload = config.load_workload(profile, flags)
    print_config(workload, config.load_run(run, flags, workload.speed))


@app.command()
def profiles() -> None:
    """List the shipped profiles (workloads) and run files (ways to execute them)."""
    from pairs.stages.stages import list_profiles

    list_profiles()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logging.getLogger().addHandler(logging.NullHandler())  # what libraries log is not for the terminal
    try:
        code = int(app(arguments, standalone_mode=False, prog_name="pairs") or 0)
        return _fail("interrupted; nothing was left half-written", code) if code == _INTERRUPTED else code
    except PairsError as error:
        return _fail(str(error), error.exit_code)
    except TyperException as error:
        message = error.format_message().rstrip(".")  # empty when no verb was given and the help was shown instead
        return _fail(f"{message}; see 'pairs --help'", 2) if message else 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'pairs'}: {error.strerror or error}; nothing was written", 1)


def _fail(message: str, code: int) -> int:
    typer.echo(f"pairs: {one_line(message)}", err=True)
    return code


if __name__ == "__main__":
    main()
