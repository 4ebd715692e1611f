"""The verdict of a run in words: what the score is, whether it counts, and why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pairs.measure.recordings import Recorded
from pairs.report.wording import NOT_RECORDED, milliseconds, number

# Settings in the words of people, for "standard because of ...".
_SETTINGS = {
    "basis_rate": "the basis rate",
    "speed": "the replay speed",
    "duration": "the length of the trading day",
    "peak_factor": "the peak rate",
    "arrivals": "the kind of arrivals",
    "curve": "the curve of the rate",
    "symbols": "the number of symbols",
    "correlations": "the number of correlated pairs",
    "strategies": "the number of strategies",
    "market": "the kind of market",
    "volatility": "the volatility",
    "correlation": "the correlation",
    "spread": "the spread of a pair",
    "half_life": "the half-life of a pair",
}


@dataclass(frozen=True)
class Badge:
    """A word or two that stands out: `good`, `bad` or `note`."""

    level: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What the card on top of the page says."""

    p_score: str
    void: bool
    badges: tuple[Badge, ...]
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def verdict(recorded: Recorded) -> Verdict:
    """Put the verdict of a run into words."""
    score, validation = recorded.score or {}, recorded.validation or {}
    return Verdict(
        p_score=number(score.get("p_score")),
        void=score.get("p_score") is not None and not score.get("valid"),
        badges=tuple(_badges(recorded, score, validation)),
        sentences=tuple(_sentences(recorded, score, validation)),
        facts=tuple(_facts(recorded, score)),
    )


def _badges(recorded: Recorded, score: Mapping[str, Any], validation: Mapping[str, Any]) -> list[Badge]:
    badges = []
    if recorded.facts.get("state") != "ended":
        badges.append(Badge("bad", f"RUN {str(recorded.facts.get('state', 'unfinished')).upper()}"))
    found = validation.get("verdict")
    badges.append(Badge("note" if found is None else "good" if found == "PASSED" else "bad", found or "NOT VALIDATED"))
    if not score:
        return [*badges, Badge("note", "NOT SCORED")]
    badges.append(Badge("good", "valid") if score.get("valid") else Badge("bad", "void"))
    badges.append(Badge("good", "standard") if score.get("standard") else Badge("note", "non-standard"))
    return badges


def _sentences(recorded: Recorded, score: Mapping[str, Any], validation: Mapping[str, Any]) -> list[str]:
    sentences = [_validation_sentence(validation)]
    if not score:
        state = recorded.facts.get("state")
        if state != "ended":
            sentences.insert(
                0, f"The run {state or 'has no recorded end'}: {recorded.facts.get('reason', 'no reason recorded')}."
            )
        return [*sentences, "It was not scored; 'pairs score' does that once a run is validated."]
    if score.get("valid"):
        sentences.append("The score counts: every tick was sent, and the driver kept its schedule.")
    else:
        sentences += [f"The score is void: {_sentence(one)}" for one in score.get("reasons", [])]
    sentences.append(standard_sentence(score))
    return sentences


def _sentence(reason: str) -> str:
    return reason.rstrip(".") + "."


def _validation_sentence(validation: Mapping[str, Any]) -> str:
    if not validation:
        return "The answers were not validated, so nothing is known about them."
    if validation.get("verdict") == "PASSED":
        answers = sum(validation[stream]["correct"] for stream in ("indicators", "orders"))
        return f"All {answers:,} answers were checked against the reference, and every one is right."
    counts = {
        kind: sum(validation[stream][kind] for stream in ("indicators", "orders"))
        for kind in ("missing", "undue", "wrong")
    }
    listed = ", ".join(f"{value:,} {kind}" for kind, value in counts.items() if value)
    return f"Validation failed: of both streams together, {listed or 'some'} answers."


def standard_sentence(score: Mapping[str, Any]) -> str:
    """Say whether a run is comparable with standard ones, and what makes it not so."""
    if score.get("standard"):
        return "A standard run: its score may be compared with other standard runs of the same scale factor."
    reasons = [_SETTINGS.get(name, name) for name in score.get("nonstandard", [])]
    because = " and ".join(filter(None, [", ".join(reasons[:-1]), reasons[-1]])) if reasons else "unknown settings"
    return f"Not a standard run, because of {because}: its score cannot be compared with published ones."


def _facts(recorded: Recorded, score: Mapping[str, Any]) -> list[tuple[str, str]]:
    settings, environment = recorded.settings, recorded.facts.get("environment") or {}
    orders = (score.get("latency_s") or {}).get("orders") or {}
    speed = settings.get("speed")
    cores, memory = environment.get("cores"), environment.get("memory_bytes")
    machine = f"{cores} cores, {memory / 1e9:,.0f} GB" if cores and memory else NOT_RECORDED
    scale_factor = score.get("scale_factor") or recorded.parameters.get("scale_factor")
    return [
        ("99th percentile", milliseconds(score.get("p99"))),
        ("load", number(score.get("load"))),
        ("scale factor", NOT_RECORDED if scale_factor is None else f"{scale_factor}"),
        ("engine", f"{settings.get('target', NOT_RECORDED)}, plan {settings.get('plan', NOT_RECORDED)}"),
        ("orders measured", f"{orders['count']:,}" if orders.get("count") else "none"),
        ("speed", "unpaced" if speed == "max" else NOT_RECORDED if speed is None else f"{speed:g} times"),
        ("machine", machine),
    ]
