"""The report that compares runs: side by side, by scale factor, what differs, and why not to compare them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from rich.filesize import decimal

from pairs.core.units import counted
from pairs.measure.latency import over_day, summarize
from pairs.measure.recordings import Recorded
from pairs.measure.resources import cost
from pairs.model.streams import SCORED
from pairs.report.charts import Data, absent, curve, log_range, numbers
from pairs.report.page import render
from pairs.report.tables import NOT_RECORDED, PUBLISHED, Table, cores, flattened
from pairs.report.verdict import validity_words
from pairs.run_folder.records import ScoreRecord

KeyT = TypeVar("KeyT", bound=Hashable)

_NO_LATENCY = "None of these runs has orders in its measurement interval."
_LEAST_MS = 1e-3  # on a logarithmic axis
_MOST_OVERLAPS = 50  # pairs of runs that are looked at


@dataclass(frozen=True)
class Compared:
    """A run under the name it has in the comparison."""

    name: str
    recorded: Recorded

    @property
    def engine(self) -> str:
        settings = self.recorded.manifest.settings
        return f"{settings.target}, {settings.plan} ({self.recorded.manifest.plan_class})"


@dataclass(frozen=True)
class Caution:
    """Why two or more runs should not be compared (`bad`), or only with care (`note`)."""

    level: str
    sentence: str


def comparison_of(every: Sequence[Recorded]) -> str:
    runs = named(every)
    payload = {
        "marks": {"phases": [], "interval": None, "faults": [], "end": 0},
        "charts": {
            "by-scale-factor": by_scale_factor(runs),
            "compared-percentiles": _curves(runs),
            "compared-over-time": _over_time(runs),
        },
        "runs": side_by_side(runs),
    }
    subtitle = "; ".join(run.name for run in runs)
    context = {"subtitle": subtitle, "cautions": cautions(runs), "differences": differences(runs)}
    return render("comparison.html.jinja", f"Pairs: {counted(len(runs), 'run')} compared", payload, context)


def named(every: Sequence[Recorded]) -> list[Compared]:
    """Name runs by their folders, as short as can be without confusing two of them."""
    paths = [recorded.run.path.absolute() for recorded in every]
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return [Compared(name, recorded) for name, recorded in zip(names, every, strict=True)]


def side_by_side(runs: Sequence[Compared]) -> list[list[Any]]:
    """Return a row of figures for each run."""
    return [_row(run) for run in runs]


def _row(run: Compared) -> list[Any]:
    score, validation = run.recorded.score, run.recorded.validation
    orders = summarize(np.empty(0)) if score is None else score.latency_s[SCORED.name]
    in_ms = [None if value is None else value * 1000 for value in (orders.p50, orders.p99, orders.p999, orders.max)]
    return [
        run.name,
        run.engine,
        run.recorded.scale_factor,
        None if score is None else score.p_score,
        *_interval(score),
        "not scored" if score is None else validity_words(score),
        "not validated" if validation is None else validation.verdict,
        "yes" if score is not None and score.standard else "no",
        None if score is None else score.load,
        *in_ms,
        orders.count,
        0 if score is None else score.triggers,
        cost(run.recorded),
    ]


def _interval(score: ScoreRecord | None) -> tuple[float | None, float | None]:
    return (None, None) if score is None or score.p_score_interval is None else score.p_score_interval


def by_scale_factor(runs: Sequence[Compared]) -> Data:
    """Return a line for each engine and plan, and the published lines."""
    groups: dict[str, list[Data]] = {}
    for run in runs:
        score = run.recorded.score
        if score is not None and score.p99 and score.p_score and run.recorded.scale_factor is not None:
            point = _point(run.recorded.scale_factor, score.p99 * 1000, score.p_score, run.name)
            name = run.engine + ("" if score.standard else ", non-standard")
            groups.setdefault(name, []).append(point | {"cost": cost(run.recorded), "valid": score.valid})
    if not groups:
        return absent(_NO_LATENCY)
    series = [
        {"name": name, "published": False, "points": sorted(points, key=lambda point: int(point["sf"]))}
        for name, points in groups.items()
    ]
    standard = any(run.recorded.score and run.recorded.score.standard for run in runs)
    for engine, results in PUBLISHED.items() if standard else ():
        points = [_point(*result, "published") for result in results]
        series.append({"name": f"engine {engine}, published, 8 cores", "published": True, "points": points})
    return {"series": series}


def _point(scale_factor: int, p99_ms: float, p_score: float, label: str) -> Data:
    return {"sf": scale_factor, "p_score": p_score, "p99": p99_ms, "cost": None, "label": label, "valid": True}


def _curves(runs: Sequence[Compared]) -> Data:
    measured = [(run.name, run.recorded.measured(SCORED).latency_s * 1000) for run in runs]
    found = [{"name": name, **curve(values)} for name, values in measured if len(values)]
    return {"runs": found, "range": log_range(values for _, values in measured)} if found else absent(_NO_LATENCY)


def _over_time(runs: Sequence[Compared]) -> Data:
    lines, every_ms = [], []
    for run in runs:
        if timed := run.recorded.timed(SCORED):
            found = over_day(run.recorded, timed)
            p99_ms = np.maximum(found.p99_s * 1000, _LEAST_MS)
            lines.append({"name": run.name, "x": numbers(found.times), "y": numbers(p99_ms)})
            every_ms.append(p99_ms)
    return {"runs": lines, "range": log_range(every_ms)} if lines else absent(_NO_LATENCY)


def differences(runs: Sequence[Compared]) -> Table:
    """Return every setting that is not the same in all runs."""
    settings = [dict(_settings(run.recorded)) for run in runs]
    names = list(dict.fromkeys(name for known in settings for name in known))
    rows = [(name, *(known.get(name, NOT_RECORDED) for known in settings)) for name in names]
    return Table(("setting", *(run.name for run in runs)), [row for row in rows if len(set(row[1:])) > 1])


def _settings(recorded: Recorded) -> Iterator[tuple[str, str]]:
    manifest, known = recorded.manifest, recorded.manifest.dataset_manifest
    yield from flattened(manifest.settings.as_plain(), "run: ")
    yield from flattened(recorded.engine_settings, "engine: ")
    yield from flattened(manifest.engine_versions, "engine version: ")
    if known is not None:
        yield from flattened(known.parameters, "market: ")
        yield "dataset digest", known.digest
    yield from flattened(manifest.environment.model_dump(), "environment: ")
    yield from flattened(manifest.model_dump(include={"kit_version", "strategies_digest", "ticks", "duration_ms"}))


def cautions(runs: Sequence[Compared]) -> list[Caution]:
    """Return why these runs should not be compared, or cannot be told apart; nothing if they may."""
    return [*incomparable(runs), *_overlaps(runs)]


def incomparable(runs: Sequence[Compared]) -> list[Caution]:
    """Return why these runs should not be compared, whatever their scores."""
    rules = (_void, _machines, _markets, _speeds, _classes, _standard, _versions)
    return [caution for rule in rules for caution in rule(runs)]


def _classes(runs: Sequence[Compared]) -> Iterator[Caution]:
    groups = _grouped(runs, lambda run: run.recorded.manifest.plan_class)
    if len(groups) > 1:
        told = "; ".join(f"{_names(found)}: {plan_class}" for plan_class, found in groups.items())
        yield Caution("bad", f"Different classes of plans: {told}. Engine and user code do not share the work alike.")


def _overlaps(runs: Sequence[Compared]) -> Iterator[Caution]:
    """Yield which runs of the same load cannot be told apart by their scores."""
    known = [run for run in runs if run.recorded.score is not None and run.recorded.score.p99_interval is not None]
    for first, second in list(combinations(known, 2))[:_MOST_OVERLAPS]:
        one, other = first.recorded.score, second.recorded.score
        if one is not None and other is not None and one.load == other.load and overlap(one, other):
            names = f"{first.name} and {second.name}"
            yield Caution("note", f"{names}: the 95 % intervals of their 99th percentiles overlap.")


def overlap(one: ScoreRecord, other: ScoreRecord) -> bool:
    """Return whether the intervals of two 99th percentiles have values in common."""
    if one.p99_interval is None or other.p99_interval is None:
        return True
    return one.p99_interval[0] <= other.p99_interval[1] and other.p99_interval[0] <= one.p99_interval[1]


def _void(runs: Sequence[Compared]) -> Iterator[Caution]:
    for run in runs:
        score = run.recorded.score
        if score is None:
            yield Caution("bad", f"{run.name} was not scored.")
        elif not score.valid:
            yield Caution("bad", f"{run.name} is void: {'; '.join(score.reasons)}. Its number means nothing.")


def _machines(runs: Sequence[Compared]) -> Iterator[Caution]:
    def machine(run: Compared) -> str:
        found = run.recorded.manifest.environment
        return f"{found.processor}, {cores(found.cores)}, {decimal(found.memory_bytes)}"

    groups = _grouped(runs, machine)
    if len(groups) > 1:
        told = "; ".join(f"{_names(found)} on {name}" for name, found in groups.items())
        yield Caution("bad", f"Different machines: {told}. Latencies of different machines say nothing about engines.")


def _markets(runs: Sequence[Compared]) -> Iterator[Caution]:
    def digests(run: Compared) -> tuple[str | None, str]:
        known = run.recorded.manifest.dataset_manifest
        return None if known is None else known.digest, run.recorded.manifest.strategies_digest

    for scale_factor, found in _grouped(runs, lambda run: run.recorded.scale_factor).items():
        if len(_grouped(found, digests)) > 1:
            same = f"{_names(found)} have the same scale factor, {scale_factor}, but not the same market or strategies"
            yield Caution("bad", f"{same}: their digests differ. They had different work to do.")


def _speeds(runs: Sequence[Compared]) -> Iterator[Caution]:
    groups = _grouped(runs, lambda run: (run.recorded.manifest.speed, run.recorded.manifest.duration_ms))
    if len(groups) > 1:
        told = "; ".join(
            f"{_names(found)} replayed {duration_ms / 60_000:g} min "
            + ("unpaced" if speed is None else f"at speed {speed:g}")
            for (speed, duration_ms), found in groups.items()
        )
        yield Caution("bad", f"Different speed or length: {told}.")


def _standard(runs: Sequence[Compared]) -> Iterator[Caution]:
    groups = _grouped(runs, lambda run: run.recorded.score and run.recorded.score.standard)
    if True in groups and False in groups:
        names = _names(groups[False])
        yield Caution("bad", f"Not standard, unlike the others: {names}. Such scores are not comparable.")
    elif False in groups:
        yield Caution("note", "None of these runs is standard, so none compares with the published engines X and Y.")


def _versions(runs: Sequence[Compared]) -> Iterator[Caution]:
    if len({run.recorded.manifest.kit_version for run in runs}) > 1:
        yield Caution("note", "The runs were made by different versions of the kit, which may measure differently.")
    for first, second in combinations(runs, 2):
        if first.recorded.run.path.absolute() == second.recorded.run.path.absolute():
            yield Caution("note", f"{first.name} is given twice.")


def _grouped(runs: Sequence[Compared], key: Callable[[Compared], KeyT]) -> dict[KeyT, list[Compared]]:
    groups: dict[KeyT, list[Compared]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def _names(runs: Sequence[Compared]) -> str:
    return ", ".join(run.name for run in runs)
