"""The score of a run: p_score = load / 99th percentile latency, its interval, and why it does not count."""

import numpy as np

from pairs.measure import latency, send_delay
from pairs.measure.bootstrap import p99_interval
from pairs.measure.findings import findings
from pairs.measure.recordings import Recorded
from pairs.measure.recovery import adaptivity_of, recovery_of
from pairs.measure.validity import Measured, void_reasons
from pairs.model.streams import SCORED, STREAMS
from pairs.run_folder.records import RunManifest, ScoreRecord, ValidationRecord


def score_run(recorded: Recorded) -> ScoreRecord:
    """Score a run that was validated; a number is given also where it does not count, with every reason why."""
    manifest, settings = recorded.manifest, recorded.manifest.settings
    validation = recorded.validation or recorded.run.validation  # which says what to do if there is none
    timed = recorded.measured(SCORED)
    latencies = {name: latency.summarize(recorded.measured(stream).latency_s) for name, stream in STREAMS.items()}
    p99, interval = latencies[SCORED.name].p99, p99_interval(timed.latency_s, timed.tick_ts)
    triggers = len(np.unique(timed.tick_ts))
    reasons = void_reasons(_measured(recorded, validation, p99, len(timed), triggers))
    unconfirmed = ["ticks that the generator does not give"] if validation.dataset_confirmed is False else []
    nonstandard = [*manifest.nonstandard, *unconfirmed]
    scored = ScoreRecord(
        scale_factor=recorded.scale_factor,
        target=settings.target,
        plan=settings.plan or "",
        plan_class=manifest.plan_class,
        transport=settings.transport,
        speed=settings.speed,
        standard=not nonstandard,
        nonstandard=tuple(nonstandard),
        valid=not reasons,
        reasons=tuple(reasons),
        warnings=(),
        load=manifest.load,
        p99=p99,
        p99_interval=interval,
        orders=len(timed),
        triggers=triggers,
        p_score=p_score(manifest.load, p99),
        p_score_interval=_score_interval(manifest.load, interval),
        verdict=validation.verdict,
        latency_s=latencies,
        send_delay=send_delay.summarize(recorded.drivers) if recorded.every_driver_recorded else None,
        recovery=recovery_of(recorded, validation),
        adaptivity=adaptivity_of(recorded),
    )
    found = findings(recorded, scored)
    warnings = tuple(f"{finding.title} {finding.sentence}" for finding in found if finding.level == "warning")
    return scored.model_copy(update={"warnings": warnings})


def p_score(load_of_run: float, p99_s: float | None) -> float | None:
    """Return load over latency; None where there is no latency to speak of."""
    return load_of_run / p99_s if p99_s is not None and p99_s > 0 else None


def _score_interval(load_of_run: float, p99_s: tuple[float, float] | None) -> tuple[float, float] | None:
    if p99_s is None or p99_s[0] <= 0:
        return None
    return load_of_run / p99_s[1], load_of_run / p99_s[0]


def _measured(
    recorded: Recorded, validation: ValidationRecord, p99_s: float | None, orders: int, triggers: int
) -> Measured:
    manifest, drivers = recorded.manifest, recorded.drivers
    delay = send_delay.summarize(drivers) if recorded.every_driver_recorded else None
    begin, end = recorded.interval_s
    ticks = manifest.ticks or 0
    return Measured(
        passed=validation.passed,
        ticks=ticks,
        ticks_sent=ticks if delay is None else delay.ticks,
        delay_p99_s=None if delay is None else delay.p99_s,
        due_in_interval=sum(driver.due_in_interval for driver in drivers),
        sent_in_interval=sum(driver.sent_in_interval for driver in drivers),
        interval_s=end - begin,
        p99_s=p99_s,
        orders=orders,
        triggers=triggers,
        strategies=manifest.strategies,
        warm_strategies=manifest.warm_strategies,
        paced=manifest.start_us is not None,
        failures=_failures(manifest),
    )


def _failures(manifest: RunManifest) -> list[str]:
    failures = []
    if manifest.state != "ended":
        failures.append(f"the run did not come to its end: {manifest.reason or 'it was ended from outside'}")
    if manifest.dataset_manifest is None:
        failures.append("the dataset has no dataset.json, so its load is not known")
    return failures
