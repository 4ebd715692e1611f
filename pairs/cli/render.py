"""Prints results: one function for each kind of result."""

from collections import Counter
from collections.abc import Iterator
from functools import singledispatch
from pathlib import Path

from rich.filesize import decimal

from pairs.cli.layout import print_definitions
from pairs.cli.render_validation import render_validation
from pairs.core.progress import warn
from pairs.core.units import counted, show_duration
from pairs.measure.validity import warm_strategies, warm_up_reasons
from pairs.model.streams import SCORED
from pairs.run_folder.folder import Run
from pairs.run_folder.records import ScoreRecord
from pairs.stages.generate import GeneratedDataset, GeneratedStrategies, ImportedDataset
from pairs.stages.validate import ExpectedAnswers
from pairs.validator.knife_edges import knife_edge_count
from pairs.validator.validation import Validation

_FEW_ERRORS = 5


@singledispatch
def render(result: object) -> None:
    raise TypeError(f"cannot print {type(result).__name__}")


@render.register
def _(result: GeneratedDataset) -> None:
    manifest, seconds = result.dataset.manifest, result.seconds
    made = f"{_throughput(manifest.counts.ticks, seconds)}, digest {manifest.digest[:16]}"
    print(f"{result.dataset.path}: {made}")
    for reason in result.hopeless:
        warn(f"runs on this dataset cannot have a valid score: {reason}")


@render.register
def _(result: GeneratedStrategies) -> None:
    strategies, dataset = result.strategies.strategies, result.dataset
    market_of = {pair.symbol1: pair.market for pair in dataset.correlations()}
    by_market = Counter(market_of[strategy.symbol1] for strategy in strategies)
    shares = ", ".join(f"{number:,} on market {market}" for market, number in sorted(by_market.items())[:3])
    more = f" and so on to market {max(by_market)}" if len(by_market) > 3 else ""
    users = len({strategy.user for strategy in strategies})
    drawn = f"{counted(len(strategies), 'strategy')} of {counted(users, 'user')}, seed {result.seed}"
    print(f"{dataset.strategies_file}: {drawn}: {shares}{more}")
    manifest = dataset.manifest
    begins = show_duration(manifest.measurement_interval_ms[0])
    for reason in warm_up_reasons(len(strategies), warm_strategies(strategies, manifest.duration_ms)):
        warn(f"runs with these strategies cannot have a valid score: {reason}; it begins at {begins}")


@render.register
def _(result: ImportedDataset) -> None:
    manifest = result.dataset.manifest
    print(
        f"{result.dataset.path}: {counted(manifest.counts.ticks, 'tick')} of "
        f"{counted(manifest.counts.symbols, 'symbol')} in {show_duration(manifest.duration_ms)}, "
        f"from {counted(result.files, 'file')} in {result.seconds:.1f} s, "
        f"digest {manifest.digest[:16]}"
    )
    found = result.correlations
    span = f", correlations from {found[0]:.2f} to {found[-1]:.2f}" if found else ""
    print(f"{result.dataset.correlations_file}: {counted(manifest.counts.correlations, 'pair')}{span}")


@render.register
def _(result: ExpectedAnswers) -> None:
    manifest, seconds = result.manifest, result.seconds
    answers = " and ".join(counted(count, stream.removesuffix("s")) for stream, count in manifest.answers.items())
    how = "as computed before from the same ticks and strategies"
    if seconds is not None:
        how = f"from {_throughput(manifest.ticks, seconds)}"
    edges = f", {knife_edge_count(manifest.knife_edges)}" if manifest.knife_edges else ""
    print(f"{result.dataset.expected_folder}: {answers} of {counted(manifest.strategies, 'strategy')}, {how}{edges}")


def _throughput(ticks: int, seconds: float) -> str:
    return (
        f"{counted(ticks, 'tick')} in {seconds:.1f} s ({ticks / seconds / 1e6:.2f} million/s after the start of Spark)"
    )


@render.register
def _(run: Run) -> None:
    manifest = run.manifest
    how = f"{manifest.settings.target}, plan {manifest.settings.plan}"
    took = f"{manifest.seconds:.1f} s including the start"
    if manifest.speed is None:
        rate = manifest.ticks_per_second
        speed = f", {rate:,.0f} ticks/s after its start" if rate else ""
        print(f"{run.path}: {how}, unpaced: {took}{speed}; no score")
    else:
        print(f"{run.path}: {how}, at speed {manifest.speed:g}: {took}")


@render.register
def _(validation: Validation) -> None:
    render_validation(validation, _FEW_ERRORS)
    print()


@render.register
def _(score: ScoreRecord) -> None:
    print_definitions(list(_score_entries(score)))
    print()


def _score_entries(score: ScoreRecord) -> Iterator[tuple[str, str]]:
    yield "p_score", shown_score(score)
    yield from (("void", reason) for reason in score.reasons)
    yield from (("warning", warning) for warning in score.warnings)
    yield "load", f"{score.load:,.2f}, scale factor {score.scale_factor}"
    yield "engine", f"{score.target}, plan {score.plan}, class {score.plan_class}; transport {score.transport}"
    yield from _latency(score)
    if (delay := score.send_delay) is not None:
        worst = f"p99 {delay.p99_s * 1000:.2f} ms, max {delay.max_s * 1000:.2f} ms"
        broker = delay.acknowledged_p99_s
        acknowledged = "" if broker is None else f"; acknowledged by the broker within {broker * 1000:.2f} ms (p99)"
        yield "driver", f"{counted(delay.ticks, 'tick')}, send delay {worst}{acknowledged}"
    yield "answers", score.verdict
    yield from _recovery(score)
    yield from _adaptivity(score)
    yield "standard", "yes" if score.standard else f"no, because of {', '.join(score.nonstandard)}; not comparable"


def shown_score(score: ScoreRecord) -> str:
    number = "-" if score.p_score is None else f"{score.p_score:,.2f}"
    interval = score.p_score_interval
    likely = "" if interval is None else f", 95 % between {interval[0]:,.2f} and {interval[1]:,.2f}"
    return f"{number}{likely}{'' if score.valid else ', void'}"


def _latency(score: ScoreRecord) -> Iterator[tuple[str, str]]:
    orders = score.latency_s[SCORED.name]
    measured = f"{_orders(score.orders)} of {counted(score.triggers, 'trigger')} in the measurement interval"
    if score.p99 is None:
        yield "latency", measured
        return
    shares = {"p50": orders.p50, "p95": orders.p95, "p99": orders.p99, "p99.9": orders.p999, "max": orders.max}
    shown = ", ".join(f"{name} {value * 1000:,.1f}" for name, value in shares.items() if value is not None)
    yield "latency", f"{shown} ms, of {measured}"
    if (interval := score.p99_interval) is not None:
        low, high = (bound * 1000 for bound in interval)
        yield "", f"p99 is between {low:,.1f} and {high:,.1f} ms (95 %, bootstrap over triggers)"


def _recovery(score: ScoreRecord) -> Iterator[tuple[str, str]]:
    if (recovery := score.recovery) is None:
        return
    took = ", ".join("never" if seconds is None else f"{seconds:.1f} s" for seconds in recovery.times_s)
    yield "recovery", f"{recovery.kind}: {recovery.explanation}; caught up after {took}"
    delayed = recovery.latency_s[SCORED.name]
    if delayed.count:
        latency = f"p50 {delayed.p50:.1f}, max {delayed.max:.1f} s"
        yield "", f"{_orders(delayed.count)} due before that, latency {latency}"


def _orders(count: int) -> str:
    return counted(count, SCORED.name.removesuffix("s"))


def _adaptivity(score: ScoreRecord) -> Iterator[tuple[str, str]]:
    if (burst := score.adaptivity) is None:
        return
    ratio, after = (
        "-" if value is None else f"{value:.2f}"
        for value in (burst.peak_degradation_ratio, burst.post_peak_variation_ratio)
    )
    recovered = "not recovered" if burst.recovery_time_s is None else f"recovered after {burst.recovery_time_s:.2f} s"
    worst = f"max {burst.max_peak_latency_s * 1000:,.0f} ms, peak degradation ratio {ratio}"
    yield "burst", f"{worst}, {recovered}, post-peak variation ratio {after}"


@render.register
def _(report: Path) -> None:
    print(f"{report}: {decimal(report.stat().st_size)}; open it in a browser")
