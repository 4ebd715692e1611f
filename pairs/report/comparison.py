"""The report that compares runs: side by side, by scale factor, what differs, and what should not be compared."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pairs.measure.cost import cost
from pairs.measure.latency import over_day, summarize
from pairs.measure.recordings import Recorded
from pairs.model.streams import SCORED
from pairs.report import published
from pairs.report.charts import Data, absent, latency, log_range, numbers
from pairs.report.comparability import Compared, cautions
from pairs.report.page import render
from pairs.report.sections import Chart
from pairs.report.tables import Table
from pairs.report.wording import NOT_RECORDED, flattened

_NO_LATENCY = "None of these runs has orders in its measurement interval."
_LEAST_MS = 1e-3  # on a logarithmic axis


def comparison_of(every: Sequence[Recorded]) -> str:
    """Return the page that compares runs."""
    runs = named(every)
    scale_chart = Chart(
        "by-scale-factor",
        "p_score, 99th percentile and cost by scale factor",
        "The score is load over latency, so it grows with an engine that keeps its latency. Cost is the CPU time that "
        "the engine spends on a million ticks, within the measurement interval. All axes logarithmic.",
        by_scale_factor(runs),
    )
    latency_charts = [
        Chart("compared-percentiles", "Percentile curves", "Orders in the measurement interval.", _curves(runs)),
        Chart(
            "compared-over-time",
            "99th percentile over time",
            "By share of the trading day, so that runs of different speed lie on each other.",
            _over_time(runs),
        ),
    ]
    payload = {
        "marks": {"phases": [], "faults": [], "end": 0},
        "charts": {chart.id: chart.data for chart in (scale_chart, *latency_charts)},
        "runs": [_row(run) for run in runs],
    }
    differing = differences(runs)
    context = {
        "subtitle": "; ".join(run.name for run in runs),
        "cautions": cautions(runs),
        "scale_chart": scale_chart,
        "latency_charts": latency_charts,
        "differences": differing,
        "differences_lead": f"{len(differing.rows)} settings differ; all others are equal in every run.",
    }
    return render("comparison.html.jinja", f"Pairs: {len(runs)} runs compared", payload, context)


def named(every: Sequence[Recorded]) -> list[Compared]:
    """Name runs by their folders, as short as can be without confusing two of them."""
    paths = [recorded.run.path.absolute() for recorded in every]
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return [Compared(name, recorded) for name, recorded in zip(names, every, strict=True)]


def _row(run: Compared) -> list[Any]:
    score, validation = run.recorded.score, run.recorded.validation
    orders = summarize(np.empty(0)) if score is None else score.latency_s[SCORED.name]
    in_ms = [None if value is None else value * 1000 for value in (orders.p50, orders.p99, orders.p999, orders.max)]
    return [
        run.name,
        run.engine,
        run.recorded.scale_factor,
        None if score is None else score.p_score,
        "not scored" if score is None else "valid" if score.valid else "void",
        "not validated" if validation is None else validation.verdict,
        "yes" if score is not None and score.standard else "no",
        None if score is None else score.load,
        *in_ms,
        orders.count,
        cost(run.recorded),
    ]


def by_scale_factor(runs: Sequence[Compared]) -> Data:
    """Return a line for each engine and plan, and the published lines."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        score = run.recorded.score
        if score is not None and score.p99 and score.p_score and run.recorded.scale_factor is not None:
            point = _point(run.recorded.scale_factor, score.p_score, score.p99 * 1000, run.name)
            name = run.engine + ("" if score.standard else ", non-standard")
            groups.setdefault(name, []).append(point | {"cost": cost(run.recorded), "valid": score.valid})
    if not groups:
        return absent(_NO_LATENCY)
    series = [
        {"name": name, "published": False, "points": sorted(points, key=lambda point: int(point["sf"]))}
        for name, points in groups.items()
    ]
    for engine in ("X", "Y"):
        points = [
            _point(result.scale_factor, result.p_score, result.p99_ms, "published")
            for result in published.RESULTS
            if result.engine == engine
        ]
        series.append({"name": f"engine {engine}, published, 8 cores", "published": True, "points": points})
    return {"series": series}


def _point(scale_factor: int, p_score: float, p99_ms: float, label: str) -> dict[str, Any]:
    return {"sf": scale_factor, "p_score": p_score, "p99": p99_ms, "cost": None, "label": label, "valid": True}


def _curves(runs: Sequence[Compared]) -> Data:
    measured = [(run.name, run.recorded.measured(SCORED).latency_s * 1000) for run in runs]
    found = [{"name": name, **latency.curve(values)} for name, values in measured if len(values)]
    return {"runs": found, "range": log_range(values for _, values in measured)} if found else absent(_NO_LATENCY)


def _over_time(runs: Sequence[Compared]) -> Data:
    timed = [(run, run.recorded.timed(SCORED)) for run in runs]
    found = [(run.name, over_day(run.recorded, answers)) for run, answers in timed if answers]
    if not found:
        return absent(_NO_LATENCY)
    p99_ms = [np.maximum(over.p99_s * 1000, _LEAST_MS) for _, over in found]
    lines = [
        {"name": name, "x": numbers(over.times), "y": numbers(values)}
        for (name, over), values in zip(found, p99_ms, strict=True)
    ]
    return {"runs": lines, "range": log_range(p99_ms)}


def differences(runs: Sequence[Compared]) -> Table:
    """Return every setting that is not the same in all runs."""
    settings = [dict(_settings(run.recorded)) for run in runs]
    names = list(dict.fromkeys(name for known in settings for name in known))
    rows = [(name, *(known.get(name, NOT_RECORDED) for known in settings)) for name in names]
    differing = tuple(row for row in rows if len(set(row[1:])) > 1)
    return Table(("setting", *(run.name for run in runs)), differing)


def _settings(recorded: Recorded) -> Iterator[tuple[str, str]]:
    manifest, known = recorded.manifest, recorded.dataset_manifest
    yield from flattened(manifest.settings.as_plain(), "run: ")
    yield from flattened(recorded.engine_settings, "engine: ")
    yield from flattened(manifest.engine_versions, "engine version: ")
    if known is not None:
        yield from flattened(known.parameters, "market: ")
        yield "dataset digest", known.digest
    yield from flattened(manifest.environment.model_dump(), "environment: ")
    yield from flattened(manifest.model_dump(include={"kit_version", "strategies_digest", "ticks", "duration_ms"}))
