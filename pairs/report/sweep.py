"""The report of a sweep: its points in a table, which differ, latency against cost, and all runs side by side."""

from collections.abc import Sequence

from pairs.core.units import counted
from pairs.measure.recordings import Recorded
from pairs.measure.repetition import RULE, Point, Spread, chance_sentence, comparisons, front
from pairs.measure.scaling import scaling
from pairs.report.charts import Data, absent
from pairs.report.comparison import incomparable, named, side_by_side
from pairs.report.page import render
from pairs.report.tables import NONE, Table, number

_NO_COST = "No valid run has both a latency and a CPU cost."


def sweep_report_of(points: Sequence[Point], every: Sequence[Recorded]) -> str:
    runs = named(every)
    payload = {
        "marks": {"phases": [], "faults": [], "end": 0},
        "charts": {"latency-and-cost": latency_and_cost(points)},
        "runs": side_by_side(runs),
    }
    context = {
        "subtitle": "; ".join(point.label for point in points),
        "points": sweep_table(points),
        "scaling": scaling_table(points),
        "limit": scaling_limit(points),
        "sentences": sweep_sentences(points),
        "rule": RULE,
        "cautions": incomparable(runs),
    }
    title = f"Pairs: {counted(len(points), 'point')}, {counted(len(runs), 'run')}"
    return render("sweep.html.jinja", title, payload, context)


def sweep_table(points: Sequence[Point]) -> Table:
    """Return a row for each point: what varies, its class, and medians and ranges of its valid runs."""
    varied = list(dict.fromkeys(name for point in points for name in point.varied))
    best = front(points)
    figures = ("class", "valid", "p99, ms (range)", "p_score (range)", "CPU s/M ticks (range)", "on the front")
    return Table((*(varied or ["engine"]), *figures), [_row(point, varied, point in best) for point in points])


def _row(point: Point, varied: Sequence[str], on_the_front: bool) -> tuple[str, ...]:
    settings = [point.varied.get(name, NONE) for name in varied] or [point.label]
    return (
        *settings,
        point.plan_class,
        f"{len(point.valid)} of {len(point.runs)}",
        _shown(point.p99_s, 1, 1000),
        _shown(point.p_score),
        _shown(point.cost),
        "yes" if on_the_front else "no",
    )


def scaling_table(points: Sequence[Point]) -> Table:
    """Return a row for each number of cores, shards or partitions; without rows if more than their number varies."""
    found = scaling(points)
    if found is None:
        return Table((), [])
    rows: list[tuple[str, ...]] = [
        (
            f"{step.count:,}",
            _shown(step.p99_s, 1, 1000),
            _shown(step.p_score),
            number(step.speed_up),
            NONE if step.efficiency is None else f"{step.efficiency:.0%}",
        )
        for step in found.steps
    ]
    return Table((found.axis, "p99, ms (range)", "p_score (range)", "speed-up", "efficiency"), rows)


def scaling_limit(points: Sequence[Point]) -> str:
    """Say what limits the scaling, if it is shown."""
    found = scaling(points)
    return "" if found is None else found.sentence


def _shown(found: Spread | None, digits: int = 2, factor: float = 1.0) -> str:
    if found is None:
        return NONE
    middle, *ends = (number(value * factor, digits) for value in (found.median, found.least, found.greatest))
    return f"{middle} ({' to '.join(ends)})"


def sweep_sentences(points: Sequence[Point]) -> list[str]:
    """Return which points differ, and how easily that happens by chance."""
    found = comparisons(points)
    chance = chance_sentence(found)
    return [*(comparison.sentence for comparison in found), *([chance] if chance else [])]


def latency_and_cost(points: Sequence[Point]) -> Data:
    """Return every run as a dot, the medians of points, and the Pareto front."""
    if not front(points):
        return absent(_NO_COST)
    shown = [{"name": point.label, "median": _median(point), "runs": _dots(point)} for point in points]
    return {"points": shown, "front": [_median(point) for point in front(points)]}


def _median(point: Point) -> Data | None:
    if point.p99_s is None or point.cost is None:
        return None
    return {"p99": point.p99_s.median * 1000, "cost": point.cost.median}


def _dots(point: Point) -> list[Data]:
    return [
        {"name": run.name, "p99": run.p99_s * 1000, "cost": run.cost, "valid": run.valid}
        for run in point.runs
        if run.p99_s is not None and run.cost is not None
    ]
