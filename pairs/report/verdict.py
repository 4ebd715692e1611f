"""The verdict of a run in words, whether its score counts and why not; and all that is needed to repeat the run."""

from typing import Any

from rich.filesize import decimal

from pairs.core.units import counted, plural
from pairs.measure.floor import floor_of
from pairs.measure.recordings import Recorded
from pairs.model.plan import CLASSES
from pairs.report.tables import NOT_RECORDED, cores, flattened, milliseconds, number
from pairs.run_folder.records import Environment, ScoreRecord, ValidationRecord

# Settings in the words of people, for "standard because of ...".
_SETTINGS = {
    "basis_rate": "the basis rate",
    "speed": "the replay speed",
    "duration": "the length of the trading day",
    "peak_factor": "the peak rate",
    "arrivals": "the kind of arrivals",
    "curve": "the curve of the rate",
    "phases": "phases of its own",
    "symbols": "the number of symbols",
    "correlations": "the number of correlated pairs",
    "strategies": "the number of strategies",
    "market": "the kind of market",
    "volatility": "the volatility",
    "correlation": "the correlation",
    "spread": "the spread of a pair",
    "half_life": "the half-life of a pair",
}


def verdict(recorded: Recorded) -> dict[str, Any]:
    score = recorded.score
    return {
        "p_score": number(None if score is None else score.p_score),
        "p_score_interval": _score_interval(score),
        "void": score is not None and score.p_score is not None and not score.valid,
        "badges": _badges(recorded),
        "sentences": _sentences(recorded),
        "figures": _figures(recorded),
    }


def _badges(recorded: Recorded) -> list[tuple[str, str]]:
    """Return words that stand out, each with its level: good, bad or note."""
    state, validation, score = recorded.manifest.state, recorded.validation, recorded.score
    badges = [] if state == "ended" else [("bad", f"RUN {state.upper()}")]
    if validation is None:
        badges.append(("note", "NOT VALIDATED"))
    else:
        badges.append(("good" if validation.passed else "bad", validation.verdict))
    if score is None:
        return [*badges, ("note", "NOT SCORED")]
    badges.append(_validity_badge(score))
    badges.append(("good", "standard") if score.standard else ("note", "non-standard"))
    return [*badges, ("note", f"class {score.plan_class}")]


def _validity_badge(score: ScoreRecord) -> tuple[str, str]:
    level = "bad" if not score.valid else "warning" if score.warnings else "good"
    return level, validity_words(score)


def validity_words(score: ScoreRecord) -> str:
    """Return whether a score counts, in the words of badges and tables."""
    word = "valid" if score.valid else "void"
    return f"{word}, {counted(len(score.warnings), 'warning')}" if score.valid and score.warnings else word


def _sentences(recorded: Recorded) -> list[str]:
    manifest, score = recorded.manifest, recorded.score
    sentences = [_validation_sentence(recorded.validation)]
    if score is None:
        if manifest.state != "ended":
            sentences.insert(0, f"The run {manifest.state}: {manifest.reason or 'no reason recorded'}.")
        return [*sentences, "It was not scored; 'pairs score' does that once a run is validated."]
    sentences += ["The score counts: the load was offered as planned, and the sample is large enough."] * score.valid
    sentences += [f"The score is void: {reason.rstrip('.')}." for reason in score.reasons]
    sentences += [f"Warning: {warning}" for warning in score.warnings]
    return [*sentences, _class_sentence(score), _standard_sentence(score)]


def _class_sentence(score: ScoreRecord) -> str:
    return f"Plan {score.plan} is of class {score.plan_class}: {CLASSES[score.plan_class]}."


def _validation_sentence(validation: ValidationRecord | None) -> str:
    if validation is None:
        return "The answers were not validated, so nothing is known about them."
    if validation.passed:
        return f"Every answer was compared with the reference, {validation.total('correct'):,} in all: all are correct."
    counts = {kind: validation.total(kind) for kind in ("missing", "undue", "wrong")}
    listed = ", ".join(f"{value:,} {kind}" for kind, value in counts.items() if value)
    return f"Validation failed: of both streams together, {listed or 'some'} {plural(sum(counts.values()), 'answer')}."


def _standard_sentence(score: ScoreRecord) -> str:
    if score.standard:
        return "A standard run: its score may be compared with other standard runs of the same scale factor."
    reasons = [_SETTINGS.get(name, name) for name in score.nonstandard]
    because = " and ".join(filter(None, [", ".join(reasons[:-1]), *reasons[-1:]])) or "unknown settings"
    return f"Not a standard run, because of {because}: its score cannot be compared with published scores."


def _figures(recorded: Recorded) -> list[tuple[str, str]]:
    score, settings, environment = recorded.score, recorded.manifest.settings, recorded.manifest.environment
    speed, scale_factor = settings.speed, recorded.scale_factor
    return [
        ("99th percentile", milliseconds(None if score is None else score.p99)),
        ("95 % interval of it", _interval(score)),
        ("load", number(None if score is None else score.load)),
        ("scale factor", NOT_RECORDED if scale_factor is None else f"{scale_factor}"),
        ("engine", f"{settings.target}, plan {settings.plan}, class {recorded.manifest.plan_class}"),
        ("transport", settings.transport),
        *_floor(recorded),
        (
            "orders measured",
            f"{score.orders:,} of {counted(score.triggers, 'trigger')}" if score and score.orders else "none",
        ),
        ("speed", f"{speed:g} x" if isinstance(speed, float) else "unpaced"),
        ("machine", f"{cores(environment.cores)}, {decimal(environment.memory_bytes)}"),
    ]


def _floor(recorded: Recorded) -> list[tuple[str, str]]:
    """Return what the transport alone costs, if that was measured beside the run."""
    found = floor_of(recorded)
    if found is None:
        return []
    name, score = found
    return [
        ("floor of the transport", f"p99 {milliseconds(score.p99)}, {score.target} at load {score.load:,.0f} ({name})")
    ]


def _score_interval(score: ScoreRecord | None) -> str:
    if score is None or score.p_score_interval is None:
        return ""
    low, high = score.p_score_interval
    return f"95 % between {number(low)} and {number(high)}"


def _interval(score: ScoreRecord | None) -> str:
    if score is None or score.p99_interval is None:
        return NOT_RECORDED
    low, high = score.p99_interval
    return f"{milliseconds(low)} to {milliseconds(high)}"


def disclosure(recorded: Recorded) -> dict[str, list[tuple[str, str]]]:
    """Return everything that is known of how a run was made, under headings."""
    manifest, known = recorded.manifest, recorded.manifest.dataset_manifest
    run: dict[str, Any] = {
        "state": manifest.state,
        "reason": manifest.reason or "none",
        "seconds with the start of the engine": None if manifest.seconds is None else f"{manifest.seconds:.1f}",
        "first tick due, µs since 1970": manifest.start_us,
        **{f"exit code of {part}": code for part, code in manifest.exit_codes.items()},
        "kit version": manifest.kit_version,
        "folder": str(recorded.run.path.absolute()),
    }
    market: dict[str, Any] = {"folder": str(recorded.dataset.path), "ticks": manifest.ticks}
    digests = {"strategies": manifest.strategies_digest}
    if known is not None:
        market |= {"profile": known.profile, **known.parameters}
        market |= {f"count of {name}": count for name, count in known.counts.model_dump().items()}
        digests |= {"dataset": known.digest, "pairs (correlations.csv)": known.correlations_digest}
    in_effect = sorted(recorded.engine_settings.items()) or [("effective settings", NOT_RECORDED)]
    return {
        "How it was run": [*flattened(manifest.settings.as_plain()), *flattened(run)],
        "Who does what": [*flattened({"class of the plan": manifest.plan_class, **manifest.plan_steps})],
        "The market": list(flattened(market)),
        "The engine": [*flattened(manifest.engine_versions, "version of "), *in_effect],
        "Digests": list(flattened(digests)),
        "Machine and versions": _machine(manifest.environment),
    }


def _machine(environment: Environment) -> list[tuple[str, str]]:
    told: dict[str, Any] = {
        "system": environment.system,
        "processor": environment.processor,
        "cores": environment.cores,
        "cores that the run may use": environment.affinity or None,
        "memory": decimal(environment.memory_bytes),
        "load average when the run began": environment.load_average,
        "governor of the CPU frequency": environment.governor,
        "hypervisor": environment.virtualized,
    }
    return [*flattened(told), *flattened(environment.versions, "version of ")]
