"""The report that compares runs: side by side, by scale factor, what differs, and what should not be compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pairs.measure.recordings import Recorded
from pairs.measure.reduce import percentiles_by_slot, slots_for
from pairs.report import published
from pairs.report.charts import Data, absent, latency, numbers
from pairs.report.findings import cost
from pairs.report.page import render
from pairs.report.single import Chart
from pairs.report.tables import Table
from pairs.report.wording import NOT_RECORDED, flattened

_MACHINE = ("processor", "cores", "memory_bytes")
_NO_LATENCY = "None of these runs has orders in its measurement interval."


@dataclass(frozen=True)
class Warning:  # noqa: A001 - what it is
    """Why two or more runs should not be compared, or only with care."""

    level: str
    sentence: str


@dataclass(frozen=True)
class Compared:
    """A run under the name it has in the comparison."""

    name: str
    recorded: Recorded

    @property
    def score(self) -> Mapping[str, Any]:
        """Its score, empty if it has none."""
        return self.recorded.score or {}

    @property
    def scale_factor(self) -> int | None:
        """Its scale factor, if known."""
        found = self.score.get("scale_factor") or self.recorded.parameters.get("scale_factor")
        return None if found is None else int(found)


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
        "marks": {"phases": [], "kills": [], "end": 0},
        "charts": {chart.id: chart.data for chart in (scale_chart, *latency_charts)},
        "runs": [_row(one) for one in runs],
    }
    differing = differences(runs)
    context = {
        "subtitle": "; ".join(one.name for one in runs),
        "warnings": warnings(runs),
        "scale_chart": scale_chart,
        "latency_charts": latency_charts,
        "differences": differing,
        "differences_lead": f"{len(differing.rows)} settings differ; all others are equal in every run.",
    }
    return render("comparison.html.jinja", f"Pairs: {len(runs)} runs compared", payload, context)


def named(every: Sequence[Recorded]) -> list[Compared]:
    """Name runs by their folders, as short as can be without confusing two of them."""
    paths = [one.run.path.absolute() for one in every]
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return [Compared(name, one) for name, one in zip(names, every, strict=True)]


def _row(one: Compared) -> list[Any]:
    orders = (one.score.get("latency_s") or {}).get("orders") or {}
    settings = one.recorded.settings
    in_ms = [None if orders.get(name) is None else orders[name] * 1000 for name in ("p50", "p99", "p99.9", "max")]
    return [
        one.name,
        f"{settings.get('target', '?')}, {settings.get('plan', '?')}",
        one.scale_factor,
        one.score.get("p_score"),
        "not scored" if not one.score else "valid" if one.score.get("valid") else "void",
        (one.recorded.validation or {}).get("verdict") or "not validated",
        "yes" if one.score.get("standard") else "no",
        one.score.get("load"),
        *in_ms,
        orders.get("count"),
        cost(one.recorded),
    ]


def by_scale_factor(runs: Sequence[Compared]) -> Data:
    """Return a line for each engine and plan, and the published ones."""
    groups: dict[str, list[Compared]] = {}
    for one in runs:
        settings = one.recorded.settings
        remark = "" if one.score.get("standard") else ", non-standard"
        groups.setdefault(f"{settings.get('target', '?')}, {settings.get('plan', '?')}{remark}", []).append(one)
    series: list[dict[str, Any]] = [
        {"name": name, "published": False, "points": points}
        for name, found in groups.items()
        if (points := sorted((point for one in found if (point := _point(one))), key=lambda point: point["sf"]))
    ]
    if not series:
        return absent(_NO_LATENCY)
    for engine in ("X", "Y"):
        points = [
            {
                "sf": one.scale_factor,
                "p_score": one.p_score,
                "p99": one.p99_ms,
                "cost": None,
                "label": "published",
                "valid": True,
            }
            for one in published.RESULTS
            if one.engine == engine
        ]
        series.append({"name": f"engine {engine}, published, 8 cores", "published": True, "points": points})
    return {"series": series}


def _point(one: Compared) -> dict[str, Any] | None:
    p99, p_score = one.score.get("p99"), one.score.get("p_score")
    if one.scale_factor is None or not p99 or not p_score or p99 <= 0:
        return None
    return {
        "sf": one.scale_factor,
        "p_score": p_score,
        "p99": p99 * 1000,
        "cost": cost(one.recorded),
        "label": one.name,
        "valid": bool(one.score.get("valid")),
    }


def _curves(runs: Sequence[Compared]) -> Data:
    found = [
        {"name": one.name, **latency.curve(values)}
        for one in runs
        if len(values := one.recorded.measured("orders")[1] * 1000)
    ]
    return {"runs": found} if found else absent(_NO_LATENCY)


def _over_time(runs: Sequence[Compared]) -> Data:
    found = []
    for one in runs:
        answers = one.recorded.answers["orders"]
        if answers is None or not len(answers) or answers.due_us is None or not one.recorded.duration_ms:
            continue
        share = answers.tick_ts / one.recorded.duration_ms * 100
        slots = slots_for(0.0, 100.0, len(answers), most=120)
        by_slot = percentiles_by_slot(slots.of(share), answers.latency_s * 1000, (0.99,))
        x, y = slots.middles(by_slot.slots), np.maximum(by_slot.shares[0], 1e-3)
        found.append({"name": one.name, "x": numbers(x), "y": numbers(y)})
    return {"runs": found} if found else absent(_NO_LATENCY)


def differences(runs: Sequence[Compared]) -> Table:
    """Return every setting that is not the same in all runs."""
    settings = [dict(_settings(one)) for one in runs]
    names = list(dict.fromkeys(name for one in settings for name in one))
    rows = [(name, *(one.get(name, NOT_RECORDED) for one in settings)) for name in names]
    differing = tuple(row for row in rows if len(set(row[1:])) > 1)
    return Table(("setting", *(one.name for one in runs)), differing)


def _settings(one: Compared) -> Iterator[tuple[str, str]]:
    facts = one.recorded.facts
    yield from flattened(one.recorded.settings, "run: ")
    yield from flattened(one.recorded.parameters, "market: ")
    yield from flattened(facts.get("environment") or {}, "environment: ")
    for name in ("kit_version", "dataset_digest", "strategies_digest", "ticks", "duration_ms"):
        yield from flattened({name: facts.get(name)})


def warnings(runs: Sequence[Compared]) -> list[Warning]:
    """Return why these runs should not be compared; nothing if they may."""
    return [*_void(runs), *_machines(runs), *_markets(runs), *_pace(runs), *_standard(runs), *_versions(runs)]


def _void(runs: Sequence[Compared]) -> Iterator[Warning]:
    for one in runs:
        if not one.score:
            yield Warning("bad", f"{one.name} was not scored.")
        elif not one.score.get("valid"):
            yield Warning(
                "bad", f"{one.name} is void: {'; '.join(one.score.get('reasons', []))}. Its number means nothing."
            )


def _machines(runs: Sequence[Compared]) -> Iterator[Warning]:
    groups = _grouped(runs, _machine_of)
    if len(groups) > 1:
        told = "; ".join(f"{_names(found)} on {_machine(key)}" for key, found in groups.items())
        yield Warning("bad", f"Different machines: {told}. Latencies of different machines say nothing about engines.")


def _machine_of(one: Compared) -> tuple[Any, ...]:
    environment = one.recorded.facts.get("environment") or {}
    return tuple(environment.get(name) for name in _MACHINE)


def _machine(key: tuple[Any, ...]) -> str:
    processor, cores, memory = key
    size = f"{memory / 1e9:,.0f} GB" if memory else "memory unknown"
    return f"{processor or 'an unknown processor'}, {cores or '?'} cores, {size}"


def _markets(runs: Sequence[Compared]) -> Iterator[Warning]:
    for scale_factor, found in _grouped(runs, lambda one: one.scale_factor).items():
        facts = [one.recorded.facts for one in found]
        digests = ({one.get(name) for one in facts} - {None} for name in ("dataset_digest", "strategies_digest"))
        if any(len(one) > 1 for one in digests):
            yield Warning(
                "bad",
                f"{_names(found)} have the same scale factor, {scale_factor}, but not the same market or strategies: "
                "their digests differ. They had different work to do.",
            )


def _pace(runs: Sequence[Compared]) -> Iterator[Warning]:
    groups = _grouped(runs, lambda one: (one.recorded.settings.get("speed"), one.recorded.duration_ms))
    if len(groups) > 1:
        told = "; ".join(
            f"{_names(found)} played {(duration or 0) / 60_000:g} min at {_speed(speed)}"
            for (speed, duration), found in groups.items()
        )
        yield Warning("bad", f"Different pace or length: {told}.")


def _speed(speed: Any) -> str:
    return f"speed {speed:g}" if isinstance(speed, int | float) else "no pace"


def _standard(runs: Sequence[Compared]) -> Iterator[Warning]:
    scored = [one for one in runs if one.score]
    other = [one for one in scored if not one.score.get("standard")]
    if other and len(other) < len(scored):
        yield Warning("bad", f"Not standard, unlike the others: {_names(other)}. Such scores are not comparable.")
    elif other:
        yield Warning("note", "None of these runs is standard, so none compares with the published engines X and Y.")


def _versions(runs: Sequence[Compared]) -> Iterator[Warning]:
    if len({one.recorded.facts.get("kit_version") for one in runs}) > 1:
        yield Warning("note", "The runs were made by different versions of the kit, which may measure differently.")
    for one, two in combinations(runs, 2):
        if one.recorded.run.path.absolute() == two.recorded.run.path.absolute():
            yield Warning("note", f"{one.name} is given twice.")


def _grouped(runs: Sequence[Compared], key: Any) -> dict[Any, list[Compared]]:
    groups: dict[Any, list[Compared]] = {}
    for one in runs:
        groups.setdefault(key(one), []).append(one)
    return groups


def _names(runs: Sequence[Compared]) -> str:
    return ", ".join(one.name for one in runs)
