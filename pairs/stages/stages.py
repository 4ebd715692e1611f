"""What the verbs of the command line do: call a stage, tell the user what came of it."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pairs.config import load as config
from pairs.config.values import choice, whole
from pairs.config.workload import SEEDS, Workload
from pairs.core.errors import BadInputError, PairsError, one_line
from pairs.core.units import show_duration
from pairs.dataset.folder import MOST_FILES, Dataset, new_dataset
from pairs.dataset.tick_files import TICK_FORMATS
from pairs.model.strategy_xml import read_strategies, scan, write_new
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run, new_run

_FORMATS = choice(*TICK_FORMATS)
_NUMBERS_OF_FILES = whole(1, MOST_FILES)
_MOST_PROBLEMS = 100  # that are printed
_WIDE = 160  # columns of a table that is better wrapped than cut


def generate(
    workload: Workload, profile: str, path: Path, files: str | None, suffix: str, master: str, overwrite: bool
) -> None:
    """Generate a dataset on Spark."""
    count = None if files is None else _NUMBERS_OF_FILES.read(files, "--files")
    _FORMATS.read(suffix, "--format")
    from pairs.core import spark
    from pairs.generator import job
    from pairs.generator.files import write_file
    from pairs.generator.ticks import TickSource

    source = TickSource(workload)
    ranges = job.cut_into_files(source.timeline.ticks, count)
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs generate", master) as running:
        spark.warm_up(running, write_file)
        started = time.perf_counter()
        written = job.generate(running, source, dataset, Path(profile).stem, suffix, ranges)
        seconds = time.perf_counter() - started
    rows = sum(one.digest.rows for one in written)
    print(
        f"{path}: {rows:,} ticks in {seconds:.1f} s ({rows / seconds / 1e6:.2f} million/s once Spark was up), "
        f"digest {Dataset(path).facts()['digest'][:16]}"
    )


def import_trades(
    files: list[Path],
    columns: dict[str, str | None],
    top_pairs: str | None,
    pairs_file: Path | None,
    path: Path,
    master: str,
    overwrite: bool,
) -> None:
    """Make a dataset of real trades, on Spark."""
    from pairs.core import spark
    from pairs.generator.import_job import import_trades
    from pairs.generator.pairing import PairsWanted, read_pairs
    from pairs.generator.sorting import write_runs
    from pairs.generator.trades import UNITS_NS, TradeColumns, parts_of_trades

    if top_pairs is not None and pairs_file is not None:
        raise BadInputError("--top-pairs: not together with --pairs; give one of them")
    if columns["time_unit"] is not None:
        choice(*UNITS_NS).read(columns["time_unit"], "--time-unit")
    top = None if top_pairs is None else whole(1, 1_000).read(top_pairs, "--top-pairs")
    wanted = PairsWanted(() if pairs_file is None else read_pairs(pairs_file), top)
    chosen = TradeColumns(**columns)  # type: ignore[arg-type]
    for place, file in enumerate(files):
        if file.resolve() in [other.resolve() for other in files[:place]]:
            raise BadInputError(f"{file}: given twice, so every trade would be there twice; give it once")
        parts_of_trades(file, chosen)  # before Spark starts
    spark.check_java()
    with new_dataset(path, overwrite) as dataset, spark.session("pairs import", master) as running:
        spark.warm_up(running, write_runs)
        started = time.perf_counter()
        made = import_trades(running, files, chosen, wanted, dataset)
        seconds = time.perf_counter() - started
    print(
        f"{path}: {made.ticks:,} ticks of {made.symbols:,} symbols in {show_duration(made.duration_ms)}, from "
        f"{len(files):,} files in {seconds:.1f} s, digest {Dataset(path).facts()['digest'][:16]}"
    )
    found = (
        f", correlations from {made.correlations[0]:.2f} to {made.correlations[-1]:.2f}" if made.correlations else ""
    )
    print(f"{Dataset(path).correlations_file}: {len(made.pairs):,} pairs{found}")


def estimate(workload: Workload, files: str | None, suffix: str) -> None:
    """Print what a workload amounts to."""
    if files is not None:
        _NUMBERS_OF_FILES.read(files, "--files")
    _FORMATS.read(suffix, "--format")
    from pairs.dataset.overview import show_bytes
    from pairs.generator.estimate import estimate as estimated

    result = estimated(workload, suffix)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_row("ticks", f"{result.ticks:,} in {show_duration(workload.duration)}")
    table.add_row("bytes", f"about {show_bytes(result.bytes)} of {suffix}")
    table.add_row("strategies", f"{workload.strategies:,} of {workload.users:,} users")
    table.add_row("answers", f"about {result.indicators:,} indicators and {result.orders:,} orders")
    table.add_row("time", f"about {_seconds(result.seconds)} on {result.cores} cores, once Spark is up")
    standard = "yes" if not workload.nonstandard else f"no, because of {', '.join(workload.nonstandard)}"
    table.add_row("standard", standard)
    Console().print(table)


def show(path: Path) -> None:
    """Print an overview of a dataset."""
    from pairs.dataset.overview import overview

    Console(soft_wrap=True, markup=False).print(overview(Dataset(path)))


def generate_strategies(path: Path, seed: str | None, count: str | None, overwrite: bool) -> None:
    """Generate the strategies of a dataset."""
    from pairs.generator.query_generator import generate_strategies as generated

    dataset = Dataset(path)
    facts = dataset.facts()
    chosen_seed = facts["seed"] if seed is None else SEEDS.read(seed, "--seed")
    wanted = facts["counts"]["strategies"] if count is None else whole(1, 10_000_000).read(count, "--count")
    pairs = dataset.correlations()
    strategies = generated(pairs, wanted, chosen_seed, facts["duration_ms"])
    write_new(dataset.strategies_file, strategies, overwrite)
    markets = {pair.symbol1: pair.market for pair in pairs}
    by_market = Counter(markets[one.symbol1] for one in strategies.strategies)
    shares = ", ".join(f"{number:,} on market {market}" for market, number in sorted(by_market.items())[:3])
    more = f" and so on to market {max(by_market)}" if len(by_market) > 3 else ""
    users = len({one.user for one in strategies.strategies})
    print(f"{dataset.strategies_file}: {wanted:,} strategies of {users:,} users, seed {chosen_seed}: {shares}{more}")
    start = facts["measurement_interval_ms"][0]
    late = sum(one.warm_up_ms > start for one in strategies.strategies)
    print(f"{late:,} of them still warm up when the measurement interval starts, at {show_duration(start)}")


def check_strategies(file: Path, path: Path | None) -> None:
    """Check a strategy set, hand-written or generated."""
    found, problems = scan(file, None if path is None else Dataset(path).symbols())
    for problem in problems:
        print(f"{file}:{problem.line}: {problem.text}", file=sys.stderr)
    if found is None:
        raise PairsError(f"{file}: {len(problems):,} problems; mend them and check again")
    print(f"{file}: valid, {len(found.strategies):,} strategies")


def check(path: Path, master: str) -> None:
    """Hold every row of a dataset against the rules and against its digest."""
    dataset = Dataset(path)
    dataset.tick_files()  # before Spark starts
    dataset.known_symbols()
    from pairs.core import spark
    from pairs.dataset.check import check as checked

    with spark.session("pairs check", master) as running:
        found = checked(running, dataset)
    for remark in found.remarks:
        print(f"{path}: {remark}")
    if found.problems:
        for problem in found.problems[:_MOST_PROBLEMS]:
            print(f"pairs: {one_line(problem)}", file=sys.stderr)
        cut_off = f"; of their lines only the first {_MOST_PROBLEMS}" if len(found.problems) > _MOST_PROBLEMS else ""
        raise PairsError(f"{path}: {found.count:,} problem{'s' if found.count > 1 else ''}{cut_off}")
    as_described = "no dataset.json to compare with" if found.digest is None else f"digest {found.digest}"
    print(f"{path}: whole, {as_described}")


def expected(path: Path, recompute: bool, master: str) -> None:
    """Write the expected answers of a dataset, or say that they are there."""
    from pairs.validator.expected import kept_or_computed

    dataset = Dataset(path)
    facts, seconds = kept_or_computed(dataset, master, recompute)
    counts = facts["counts"]
    answers = (
        f"{counts['indicators']:,} indicators and {counts['orders']:,} orders of {counts['strategies']:,} strategies"
    )
    if seconds is None:
        how = "as computed before from the same ticks and strategies"
    else:
        how = (
            f"from {counts['ticks']:,} ticks in {seconds:.1f} s "
            f"({counts['ticks'] / seconds / 1e6:.2f} million/s once Spark was up)"
        )
    print(f"{dataset.expected_folder}: {answers}, {how}")


def validate(folder: Path, path: Path | None, show: str | None, limit: str, strategy: str | None, master: str) -> bool:
    """Validate the answers of a run or of any engine; print what there is to say and return whether they passed."""
    most = whole(1, 1_000_000_000).read(limit, "--limit")
    kind = None if show is None else choice("missing", "undue", "wrong").read(show, "--show")
    from pairs.validator import render as report
    from pairs.validator.answers import answer_files
    from pairs.validator.expected import kept_or_computed
    from pairs.validator.validation import validate as validated

    run = Run(folder)
    dataset = run.dataset() if path is None else Dataset(path)
    for stream in STREAMS:
        answer_files(folder, stream)
    aliases = [one.alias for one in read_strategies(dataset.strategies_file).strategies]
    if strategy is not None and strategy not in aliases:
        raise BadInputError(f"--strategy: {strategy!r} is not in {dataset.strategies_file}; give one of its aliases")
    facts, _ = kept_or_computed(dataset, master)
    result = validated(dataset, aliases, folder)
    run.write_json(run.validation_file, result.as_plain(dataset, facts["digests"]))
    console = Console(width=_WIDE, soft_wrap=True, markup=False, highlight=False)
    console.print(report.counts_report(result))
    if not result.passed:
        errors = [one for one in result.first_errors() if strategy in (None, one.strategy)]
        console.print("", report.first_errors_report(errors, most), sep="\n")
    if kind is not None:
        for stream, found in result.streams.items():
            rows = found.listed(kind, strategy)
            run.write_csv(run.incorrect_file(kind, stream), rows)
            console.print("", report.incorrect_report(stream, kind, found, rows, most), sep="\n")
            if len(rows):
                print(f"all of them: {run.incorrect_file(kind, stream)}")
    elif not result.passed:
        print("\nsee the answers side by side: add --show missing, --show undue or --show wrong")
    return result.passed


def list_targets() -> None:
    """Print the targets with their plans and options."""
    from pairs.translator.targets import all_targets

    table = Table(box=None, pad_edge=False)
    for heading in ("target", "", "what it is"):
        table.add_column(heading, no_wrap=heading != "what it is")
    for name, target in all_targets().items():
        table.add_row(name, "", target.summary)
        for plan, summary in target.plans.items():
            table.add_row("", f"--plan {plan}", summary)
        for option, summary in target.options.items():
            table.add_row("", f"--set {option}=...", summary)
    Console(soft_wrap=True).print(table)


def translate(path: Path, target_name: str, plan: str | None, app: Path | None, overwrite: bool) -> None:
    """Translate the strategies of a dataset into a program."""
    from pairs.translator import targets
    from pairs.translator.translate import translate as translated

    target, chosen = targets.find(target_name, plan)
    folder = app or path / "apps" / f"{target.name}-{chosen}"
    program = translated(Dataset(path).strategies_file, target, chosen, folder, overwrite or app is None)
    print(f"{folder}: {program.summary} for {target.name}, plan {chosen}; see 'python {folder / 'app.py'} --help'")


def run(path: Path, output: Path | None, settings: config.RunSettings, overwrite: bool) -> Path:
    """Run a program on a dataset; return the folder of the run."""
    from pairs.stages.execution import job_for, run_job

    dataset = Dataset(path)
    job = job_for(dataset, settings)
    dataset.refuse_bad_files()
    recorded = new_run(output or _next_run_folder(dataset, settings.target, settings.plan), overwrite)
    outcome = run_job(recorded, job)
    how = f"{settings.target}, plan {settings.plan}"
    if job.speed is None:
        speed = f", {outcome.ticks_per_second:,.0f} ticks/s once it was going" if outcome.ticks_per_second else ""
        print(f"{recorded.path}: {how}, unpaced: {outcome.seconds:.1f} s with its start{speed}; no score")
    else:
        print(f"{recorded.path}: {how}, at speed {job.speed:g}: {outcome.seconds:.1f} s with its start")
    return recorded.path


def score(path: Path, as_json: bool) -> bool:
    """Score a run; print what it is worth and return whether that counts."""
    from pairs.stages.execution import score_run

    recorded = Run(path)
    found = score_run(recorded)
    recorded.write_json(recorded.score_file, found)
    if as_json:
        print(json.dumps(found, indent=2))
        return bool(found["valid"])
    orders = found["latency_s"]["orders"]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    number = "-" if found["p_score"] is None else f"{found['p_score']:,.2f}"
    table.add_row("p_score", number if found["valid"] else f"{number}, void: {'; '.join(found['reasons'])}")
    table.add_row("load", f"{found['load']:,.2f}, scale factor {found['scale_factor']}")
    if found["p99"] is not None:
        shares = ", ".join(f"{name} {orders[name] * 1000:,.1f}" for name in ("p50", "p95", "p99", "p99.9", "max"))
        table.add_row("latency", f"{shares} ms, of {orders['count']:,} orders in the measurement interval")
    if found["driver_lateness"]:
        late = found["driver_lateness"]
        table.add_row(
            "driver",
            f"{late['ticks']:,} ticks, p99 {late['p99_s'] * 1000:.2f} ms late, max {late['max_s'] * 1000:.2f} ms",
        )
    table.add_row("answers", str(found["verdict"]))
    if found["recovery"]:
        took = ", ".join("never" if one is None else f"{one:.1f} s" for one in found["recovery"]["times_s"])
        table.add_row("recovery", f"{found['recovery']['class']}; caught up after {took}")
        meanwhile = found["recovery"]["latency_s"]["orders"]
        if meanwhile["count"]:
            late = f"p50 {meanwhile['p50']:.1f}, max {meanwhile['max']:.1f} s"
            table.add_row("", f"{meanwhile['count']:,} orders were due meanwhile, latency {late}")
    if burst := found["adaptivity"]:
        values = [burst[key] for key in ("peak_degradation_ratio", "recovery_time_s", "post_peak_variation_ratio")]
        ratio, back, after = ("-" if one is None else f"{one:.2f}" for one in values)
        worst = f"{burst['max_peak_latency_s'] * 1000:,.0f} ms"
        table.add_row("burst", f"max {worst}, p99.9 x {ratio}, recovered after {back} s, mean then x {after}")
    standard = "yes" if found["standard"] else f"no, because of {', '.join(found['nonstandard'])}; not comparable"
    table.add_row("standard", standard)
    Console(width=_WIDE, markup=False, highlight=False).print(table)
    return bool(found["valid"])


def report(paths: list[Path], output: Path | None) -> None:
    """Make the report of a run, or of several together, and say where it is."""
    from pairs.report.making import make_report

    made = make_report([Run(path) for path in paths], output)
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB; open it in a browser")


def dataset_of(workload: Workload, profile: str, path: Path | None, suffix: str, master: str) -> Path:
    """Return the folder of a workload's dataset with its strategies; generate what is not there."""
    drawn = "-drawn" if suffix == "drawn" else ""
    path = path or Path("data") / f"{Path(profile).stem}-sf{workload.scale_factor}{drawn}"
    dataset = Dataset(path)
    if not dataset.facts_file.is_file():
        generate(workload, profile, path, None, suffix, master, overwrite=False)
    elif dataset.facts()["parameters"] != workload.as_plain():
        raise BadInputError(f"{path}: a dataset of other parameters is there; give another folder for this one")
    if not dataset.strategies_file.is_file():
        generate_strategies(path, None, None, overwrite=False)
    return path


def bench(
    workload: Workload,
    profile: str,
    settings: config.RunSettings,
    data: Path | None,
    suffix: str,
    output: Path | None,
    overwrite: bool,
) -> bool:
    """Do everything: generate, strategies, run, validate, score, report; return whether the score counts."""
    path = dataset_of(workload, profile, data, suffix, settings.master)
    run_path = run(path, output, settings, overwrite)
    validate(run_path, None, None, "5", None, settings.master)
    print()
    counts = score(run_path, as_json=False)
    print()
    report([run_path], None)
    return counts


def search(
    workload_at: Callable[[int], Workload],
    profile: str,
    settings: config.RunSettings,
    slo: str,
    bounds: tuple[str, str],
    suffix: str,
    folder: Path | None,
) -> bool:
    """Search for the highest scale factor that is sustained; return whether there is one."""
    from pairs.measure.search_policy import best, highest
    from pairs.stages.search_session import HEADINGS, Search, parse_limit, plain_row

    first, most = (whole(1, 1_000_000).read(raw, flag) for raw, flag in zip(bounds, ("--first", "--most"), strict=True))
    path = folder or Path("searches") / f"{Path(profile).stem}-{settings.target}-{settings.plan}"
    searched = Search(path, workload_at, profile, settings, parse_limit(slo), first, most, suffix)
    searched.begin()
    _print_columns(HEADINGS)
    for one in searched.outcomes():
        _print_columns([*plain_row(one), "(as found)"])
    while (point := searched.next_point()) is not None:
        _print_columns(plain_row(searched.run_next(point)))
    found = searched.outcomes()
    top, winner = highest(found), best(found)
    if top is None or winner is None:
        print("no scale factor was sustained")
    else:
        print(f"highest scale factor sustained: {top:,}")
        print(f"best p_score: {winner.p_score:,.2f} at scale factor {winner.scale_factor:,}")
    if (page := searched.make_report()) is not None:
        print(f"{page}: all runs compared; open it in a browser")
    return top is not None


def _print_columns(cells: Sequence[str]) -> None:
    print("  ".join(one.rjust(13) for one in cells), flush=True)


def _next_run_folder(dataset: Dataset, target: str, plan: str) -> Path:
    """Return a folder under runs/ that is not there yet."""
    stem = f"{dataset.path.absolute().name}-{target}-{plan}"
    return next(path for number in count(1) if not (path := Path("runs") / f"{stem}-{number}").exists())


def show_config(workload: Workload, run: config.RunSettings) -> None:
    """Print a resolved configuration as TOML."""
    print("\n".join([*_toml("profile", dict(workload.as_plain())), "", *_toml("run", dict(run.as_plain()))]))


def list_profiles() -> None:
    """Print the shipped configurations with their first lines."""
    table = Table(box=None, pad_edge=False)
    for heading in ("kind", "name", "what it is for"):
        table.add_column(heading)
    for group in ("profiles", "runs"):
        for name in config.shipped(group):
            table.add_row(group.removesuffix("s"), name, config.first_comment(group, name))
    Console().print(table)


def _toml(name: str, values: dict[str, Any]) -> list[str]:
    """Write a table and the tables in it; JSON's texts and numbers are TOML's too."""
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    lines = [f"[{name}]"]
    for key, value in values.items():
        if key not in tables:
            lines.append(f"{key if key.isidentifier() else json.dumps(key)} = {json.dumps(value)}")
    for key, value in tables.items():
        lines += ["", *_toml(f"{name}.{key}", value)]
    return lines


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else show_duration(round(seconds) * 1000)
