"""The report of a run: its verdict, tables and charts, its answers, and how it was made."""

import shlex
from typing import Any

from pairs.core.units import counted
from pairs.measure.findings import findings
from pairs.measure.latency_groups import latency_groups
from pairs.measure.latency_parts import where_it_goes
from pairs.measure.phases import spans
from pairs.measure.recordings import Recorded
from pairs.measure.resources import executors_sentence
from pairs.report.charts import charts
from pairs.report.groups import latency_rows, period_table
from pairs.report.incorrect import incorrect_answers
from pairs.report.page import render
from pairs.report.strategies import strategies_view
from pairs.report.tables import NOT_RECORDED, PUBLISHED, SCORED_FIRST, number, tables
from pairs.report.verdict import disclosure, verdict
from pairs.run_folder.records import ValidationRecord
from pairs.validator.knife_edges import knife_edge_remarks


def report_of(recorded: Recorded) -> str:
    groups = latency_groups(recorded)
    payload = {
        "marks": _marks(recorded),
        "charts": charts(recorded),
        "latencyGroups": latency_rows(groups),
        "incorrect": incorrect_answers(recorded),
        "strategies": strategies_view(recorded),
    }
    settings = recorded.manifest.settings
    context = {
        "subtitle": f"{settings.target}, plan {settings.plan}, on the market {recorded.dataset.path.name}",
        **verdict(recorded),
        "published": _published_rows() if recorded.score and recorded.score.standard else [],
        "findings": findings(recorded, recorded.score),
        "streams": SCORED_FIRST,
        "tolerances": ", ".join(f"{tolerance:g}" for tolerance in {stream.tolerance for stream in SCORED_FIRST}),
        "tables": tables(recorded) | {"periods": period_table(groups)},
        "where_latency_goes": where_it_goes(recorded) or "",
        "executors_remark": executors_sentence(recorded) or "",
        "latency_groups": payload["latencyGroups"],
        "batches_together": payload["charts"]["batches"].get("together", 1),
        "validation": recorded.validation,
        "validation_remarks": _validation_remarks(recorded.validation),
        "validation_problem": payload["incorrect"].get("absent"),
        "strategies_remark": _strategies_remark(payload["strategies"]),
        "command": shlex.join(recorded.manifest.command) or NOT_RECORDED,
        "disclosure": disclosure(recorded),
    }
    return render("run.html.jinja", f"Pairs: {recorded.run.path.absolute().name}", payload, context)


def _marks(recorded: Recorded) -> dict[str, Any]:
    """Return phases and measurement interval of a run, when faults were injected, and its end, in wall milliseconds."""
    manifest = recorded.manifest
    faults = [{"kind": fault.kind, "at": (fault.at_us - recorded.origin_us) / 1000} for fault in manifest.faults]
    every = spans(manifest.phases_ms, manifest.duration_ms) if recorded.speed else []
    phases = [{"name": span.name, **_wall_ms(recorded, span.begin_ms, span.end_ms)} for span in every]
    interval = _wall_ms(recorded, *manifest.measurement_interval_ms) if recorded.speed else None
    return {"phases": phases, "interval": interval, "faults": faults, "end": recorded.end_s * 1000}


def _wall_ms(recorded: Recorded, begin_ms: int, end_ms: int) -> dict[str, float]:
    return {"begin": recorded.wall_of(begin_ms) * 1000, "end": recorded.wall_of(end_ms) * 1000}


def _published_rows() -> list[tuple[str, ...]]:
    return [
        (f"engine {engine}", str(scale_factor), f"{p99_ms:,.0f} ms", number(p_score))
        for engine, results in PUBLISHED.items()
        for scale_factor, p99_ms, p_score in results
    ]


def _validation_remarks(validation: ValidationRecord | None) -> list[str]:
    if validation is None:
        return []
    remarks = [f"{wrong.sentence()}." for counts in validation.streams.values() for wrong in counts.wrong_columns]
    for name, counts in validation.streams.items():
        if counts.malformed:
            remarks.append(f"{counted(counts.malformed, 'invalid row')} of {name}, counted as undue.")
        if counts.unknown_strategies:
            unknown = sum(counts.unknown_strategies.values())
            remarks.append(f"Undue {name} of strategies that are not in the set: {unknown:,}.")
    edges, touched = validation.knife_edges, validation.knife_edge_strategies
    return [*remarks, *(f"{remark}." for remark in knife_edge_remarks(edges, touched, validation.passed))]


def _strategies_remark(view: dict[str, Any]) -> str:
    if "absent" in view:
        return ""
    shown, every, prices = len(view["strategies"]), view["all"], view["prices"]
    remark = view["missingPrices"] or ""
    if shown < every:
        remark += f" Only the first {shown:,} of {every:,} strategies are in this file, so that it stays small."
    if prices is not None and not prices["whole"]:
        remark += " Prices are a sample, as the dataset is large."
    return remark.strip()
