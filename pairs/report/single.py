"""The report of a run: its sections, its charts and what is said about them."""

import shlex
from typing import Any

from pairs.measure.findings import findings
from pairs.measure.recordings import Recorded
from pairs.model.streams import STREAMS
from pairs.report import published, tables
from pairs.report.disclosure import disclosure
from pairs.report.incorrect import incorrect_answers
from pairs.report.page import render
from pairs.report.sections import quarters_chart, sections
from pairs.report.strategies import strategies_view
from pairs.report.verdict import verdict
from pairs.report.wording import NOT_RECORDED, number


def report_of(recorded: Recorded) -> str:
    """Return the page of a run."""
    quarters, every_section = quarters_chart(recorded), sections(recorded)
    incorrect, strategies = incorrect_answers(recorded), strategies_view(recorded)
    charts = [quarters, *(chart for section in every_section for row in section.rows for chart in row)]
    payload = {
        "marks": marks(recorded),
        "charts": {chart.id: chart.data for chart in charts},
        "incorrect": incorrect,
        "strategies": strategies,
    }
    settings = recorded.manifest.settings
    context = {
        "subtitle": f"{settings.target}, plan {settings.plan}, on the market {recorded.dataset.path.name}",
        "verdict": verdict(recorded),
        "published": published_rows(),
        "published_machine": published.MACHINE,
        "findings": findings(recorded),
        "quarters": quarters,
        "sections": every_section,
        "validation": _validation(recorded, incorrect),
        "strategies_remark": _strategies_remark(strategies),
        "command": shlex.join(recorded.manifest.command) or NOT_RECORDED,
        "disclosure": disclosure(recorded),
    }
    return render("run.html.jinja", f"Pairs: {recorded.name}", payload, context)


def marks(recorded: Recorded) -> dict[str, Any]:
    """Return the phases of a run, when faults were injected, and its end, in wall milliseconds."""
    manifest = recorded.manifest
    faults = [{"kind": fault.kind, "at": (fault.at_us - recorded.origin_us) / 1000} for fault in manifest.faults]
    begins = list(manifest.phases_ms.items()) if recorded.speed else []
    ends = [*(begin for _, begin in begins[1:]), manifest.duration_ms]
    phases = [
        {"name": name, "begin": recorded.wall_of(begin) * 1000, "end": recorded.wall_of(end) * 1000}
        for (name, begin), end in zip(begins, ends, strict=False)
    ]
    return {"phases": phases, "faults": faults, "end": recorded.end_s * 1000}


def published_rows() -> list[tuple[str, ...]]:
    """Return the published results as a table."""
    return [
        (f"engine {result.engine}", str(result.scale_factor), f"{result.p99_ms:,.0f} ms", number(result.p_score))
        for result in published.RESULTS
    ]


def _validation(recorded: Recorded, incorrect: dict[str, Any]) -> dict[str, Any]:
    found = recorded.validation
    lead = "The answers were not validated; 'pairs validate' does that."
    remarks = []
    if found is not None:
        tolerances = ", ".join(f"{tolerance:g}" for tolerance in {stream.tolerance for stream in STREAMS.values()})
        lead = (
            "Every answer is matched by key (strategy, time of the trigger, type of an order) with that of an "
            f"independent reference; numbers are equal within a relative {tolerances}."
        )
        for name, counts in found.streams.items():
            if counts.malformed:
                remarks.append(f"{counts.malformed:,} rows of {name} are invalid and count as undue.")
            if counts.unknown_strategies:
                unknown = sum(counts.unknown_strategies.values())
                remarks.append(f"{unknown:,} undue {name} are of strategies that are not in the set.")
    return {
        "lead": lead,
        "table": tables.validation_table(recorded),
        "remarks": remarks,
        "failed": found is not None and not found.passed,
        "problem": incorrect.get("absent"),
    }


def _strategies_remark(view: dict[str, Any]) -> str:
    if "absent" in view:
        return ""
    shown, every = len(view["strategies"]), view["all"]
    remark = view["missingPrices"] or ""
    if shown < every:
        remark += f" Only the first {shown:,} of {every:,} strategies are in this file, so that it stays small."
    prices = view["prices"]
    if prices is not None and not prices["whole"]:
        remark += " Prices are a sample, as the dataset is large."
    return remark.strip()
