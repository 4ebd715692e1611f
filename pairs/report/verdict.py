"""The verdict of a run in words: what the score is, whether it counts, and why not."""

from dataclasses import dataclass

from rich.filesize import decimal

from pairs.measure.recordings import Recorded
from pairs.model.streams import SCORED
from pairs.report.wording import NOT_RECORDED, milliseconds, number
from pairs.run_folder.records import ScoreRecord, ValidationRecord

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
    badges: list[Badge]
    sentences: list[str]
    figures: list[tuple[str, str]]


def verdict(recorded: Recorded) -> Verdict:
    """Put the verdict of a run into words."""
    score = recorded.score
    return Verdict(
        p_score=number(None if score is None else score.p_score),
        void=score is not None and score.p_score is not None and not score.valid,
        badges=_badges(recorded),
        sentences=_sentences(recorded),
        figures=_figures(recorded),
    )


def _badges(recorded: Recorded) -> list[Badge]:
    badges, state, score = [], recorded.manifest.state, recorded.score
    if state != "ended":
        badges.append(Badge("bad", f"RUN {state.upper()}"))
    if recorded.validation is None:
        badges.append(Badge("note", "NOT VALIDATED"))
    else:
        badges.append(Badge("good" if recorded.validation.passed else "bad", recorded.validation.verdict))
    if score is None:
        return [*badges, Badge("note", "NOT SCORED")]
    badges.append(Badge("good", "valid") if score.valid else Badge("bad", "void"))
    badges.append(Badge("good", "standard") if score.standard else Badge("note", "non-standard"))
    return badges


def _sentences(recorded: Recorded) -> list[str]:
    manifest, score = recorded.manifest, recorded.score
    sentences = [_validation_sentence(recorded.validation)]
    if score is None:
        if manifest.state != "ended":
            sentences.insert(0, f"The run {manifest.state}: {manifest.reason or 'no reason recorded'}.")
        return [*sentences, "It was not scored; 'pairs score' does that once a run is validated."]
    if score.valid:
        sentences.append("The score counts: every tick was sent, and the driver kept its schedule.")
    sentences += [f"The score is void: {reason.rstrip('.')}." for reason in score.reasons]
    return [*sentences, standard_sentence(score)]


def _validation_sentence(validation: ValidationRecord | None) -> str:
    if validation is None:
        return "The answers were not validated, so nothing is known about them."
    if validation.passed:
        return f"All {validation.total('correct'):,} answers were compared with the reference: all are correct."
    counts = {kind: validation.total(kind) for kind in ("missing", "undue", "wrong")}
    listed = ", ".join(f"{value:,} {kind}" for kind, value in counts.items() if value)
    return f"Validation failed: of both streams together, {listed or 'some'} answers."


def standard_sentence(score: ScoreRecord) -> str:
    """Say whether a run is comparable with standard runs, and what makes it not so."""
    if score.standard:
        return "A standard run: its score may be compared with other standard runs of the same scale factor."
    reasons = [_SETTINGS.get(name, name) for name in score.nonstandard]
    because = " and ".join(filter(None, [", ".join(reasons[:-1]), *reasons[-1:]])) or "unknown settings"
    return f"Not a standard run, because of {because}: its score cannot be compared with published scores."


def _figures(recorded: Recorded) -> list[tuple[str, str]]:
    score, settings, environment = recorded.score, recorded.manifest.settings, recorded.manifest.environment
    orders = 0 if score is None else score.latency_s[SCORED.name].count
    speed, scale_factor = settings.speed, recorded.scale_factor
    return [
        ("99th percentile", milliseconds(None if score is None else score.p99)),
        ("load", number(None if score is None else score.load)),
        ("scale factor", NOT_RECORDED if scale_factor is None else f"{scale_factor}"),
        ("engine", f"{settings.target}, plan {settings.plan}"),
        ("transport", settings.transport),
        ("orders measured", f"{orders:,}" if orders else "none"),
        ("speed", f"{speed:g} times" if isinstance(speed, float) else "unpaced"),
        ("machine", f"{environment.cores} cores, {decimal(environment.memory_bytes)}"),
    ]
