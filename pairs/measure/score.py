"""The score of a run: p_score = load / 99th percentile latency, and every reason why it does not count."""

from collections.abc import Sequence
from dataclasses import dataclass

from pairs.measure import latency, send_delay
from pairs.measure.recordings import Recorded
from pairs.measure.recovery import adaptivity_of, recovery_of
from pairs.model.strategy import Strategy
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import SCORED, STREAMS
from pairs.run_folder.records import ScoreRecord

MATCH_WEIGHT = 100  # the work of a strategy that a tick concerns, to that of a strategy that only looks at it
UNIT_OF_LOAD = 125_000  # so that the load of scale factor 1 is 3
LONGEST_DELAY_S = 0.010  # that a driver may have at the 99th percentile, or a tenth of the latency, if that is more
DELAY_SHARE = 0.1  # of the latency


def score_run(recorded: Recorded) -> ScoreRecord:
    """Score a run that was validated; a number is given also where it does not count, with every reason why."""
    manifest, known = recorded.manifest, recorded.manifest.dataset_manifest
    validation = recorded.validation or recorded.run.validation  # which says what to do if there is none
    settings = manifest.settings
    delay = send_delay.summarize(recorded.drivers) if recorded.every_driver_recorded else None
    latencies = {name: latency.summarize(recorded.measured(stream).latency_s) for name, stream in STREAMS.items()}
    p99, load_of_run = latencies[SCORED.name].p99, _load_of(recorded)
    ticks = manifest.ticks or 0
    measured = Measured(
        passed=validation.passed,
        ticks=ticks,
        ticks_sent=ticks if delay is None else delay.ticks,
        delay_p99_s=None if delay is None else delay.p99_s,
        p99_s=p99,
        paced=manifest.start_us is not None,
        failures=_failures(recorded),
    )
    reasons = void_reasons(measured)
    nonstandard = [*(("no dataset.json",) if known is None else known.nonstandard)]
    nonstandard += [] if settings.speed == 1 else ["speed"]
    return ScoreRecord(
        scale_factor=recorded.scale_factor,
        target=settings.target,
        plan=settings.plan or "",
        transport=settings.transport,
        speed=settings.speed,
        standard=not nonstandard,
        nonstandard=tuple(nonstandard),
        valid=not reasons,
        reasons=tuple(reasons),
        load=load_of_run,
        p99=p99,
        p_score=p_score(load_of_run, p99),
        verdict=validation.verdict,
        latency_s=latencies,
        send_delay=delay,
        recovery=recovery_of(recorded, validation),
        adaptivity=adaptivity_of(recorded),
    )


def load(ticks_per_second: float, strategies: int, matches: float) -> float:
    """Return the load: ticks per wall second at the basis rate, times the work that a tick makes.

    Every strategy looks at every tick, and those it concerns, `matches` on average, do a hundred times as much.
    """
    return ticks_per_second * (strategies + MATCH_WEIGHT * matches) / UNIT_OF_LOAD


def p_score(load_of_run: float, p99_s: float | None) -> float | None:
    """Return load over latency; None where there is no latency to speak of."""
    return load_of_run / p99_s if p99_s is not None and p99_s > 0 else None


def matches_of(strategies: Sequence[Strategy], symbols: int, trades_by_symbol: dict[str, int] | None) -> float:
    """Return how many strategies a tick concerns on average; imported symbols do not trade equally often."""
    watched = [symbol for strategy in strategies for symbol in (strategy.symbol1, strategy.symbol2)]
    if not trades_by_symbol:
        return len(watched) / symbols
    return sum(trades_by_symbol.get(symbol, 0) for symbol in watched) / sum(trades_by_symbol.values())


def _load_of(recorded: Recorded) -> float:
    known, speed = recorded.manifest.dataset_manifest, recorded.manifest.speed
    found = recorded.strategies or read_strategies(recorded.dataset.strategies_file)  # which says what is wrong with it
    if known is None or speed is None:
        return 0.0
    matches = matches_of(found.strategies, known.counts.symbols, known.trades_by_symbol)
    return load(known.basis_rate_per_second * speed, len(found.strategies), matches)


def _failures(recorded: Recorded) -> list[str]:
    manifest, failures = recorded.manifest, []
    if manifest.state != "ended":
        failures.append(f"the run did not come to its end: {manifest.reason or 'it was ended from outside'}")
    if manifest.dataset_manifest is None:
        failures.append("the dataset has no dataset.json, so its load is not known")
    return failures


@dataclass(frozen=True)
class Measured:
    """What decides whether a score counts."""

    passed: bool
    ticks: int
    ticks_sent: int
    delay_p99_s: float | None  # of the drivers
    p99_s: float | None  # latency of the scored stream in the measurement interval
    paced: bool = True
    failures: Sequence[str] = ()


def void_reasons(measured: Measured) -> list[str]:
    reasons = list(measured.failures)
    if not measured.paced:
        reasons.append("the run was unpaced")
    if not measured.passed:
        reasons.append("validation FAILED")
    if measured.ticks_sent != measured.ticks:
        reasons.append(f"{measured.ticks_sent:,} of {measured.ticks:,} ticks were sent")
    if measured.p99_s is None:
        reasons.append("no order was triggered in the measurement interval")
    elif measured.p99_s <= 0:
        reasons.append("latencies are not above zero, so the clocks cannot be trusted")
    delay_s, allowed_s = measured.delay_p99_s, max(LONGEST_DELAY_S, DELAY_SHARE * (measured.p99_s or 0.0))
    if measured.paced and delay_s is None:
        reasons.append("a driver did not record its send delay")
    elif measured.paced and delay_s is not None and delay_s > allowed_s:
        late = f"the driver's send delay was {delay_s * 1000:.1f} ms at the 99th percentile"
        reasons.append(f"{late}, {allowed_s * 1000:.1f} ms are allowed")
    return reasons
