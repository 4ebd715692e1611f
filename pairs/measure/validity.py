"""When a score counts: the rules, each with its figure, for a run that has ended and for one that is to begin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pairs.core.units import counted, show_duration
from pairs.model.strategy import Strategy

FEWEST_ORDERS = 100
FEWEST_TRIGGERS = 100
FEWEST_SECONDS = 20.0  # of wall time in the measurement interval
RATE_TOLERANCE = 0.01  # of the ticks that were due in the measurement interval
DELAY_SHARE = 0.1  # of the 99th percentile latency that the send delay may be, within these bounds
LEAST_DELAY_S, MOST_DELAY_S = 0.010, 0.100


@dataclass(frozen=True)
class Measured:
    """What decides whether a score counts."""

    passed: bool
    ticks: int
    ticks_sent: int
    delay_p99_s: float | None  # of the drivers
    due_in_interval: int  # ticks that were due in the measurement interval
    sent_in_interval: int
    interval_s: float  # wall time of the measurement interval
    p99_s: float | None  # latency of the scored stream in the measurement interval
    orders: int
    triggers: int
    strategies: int
    warm_strategies: int
    paced: bool = True
    failures: Sequence[str] = ()


def void_reasons(measured: Measured) -> list[str]:
    reasons = list(measured.failures)
    if not measured.passed:
        reasons.append("validation FAILED")
    if measured.ticks_sent != measured.ticks:
        reasons.append(f"{measured.ticks_sent:,} of {measured.ticks:,} ticks were sent")
    if not measured.paced:
        return [*reasons, "the run was unpaced"]
    return [*reasons, *_sample_reasons(measured), *_driver_reasons(measured)]


def _sample_reasons(measured: Measured) -> Iterator[str]:
    """Yield why the sample cannot carry a 99th percentile, or is not of the load that is counted."""
    if not measured.orders:
        yield "no order was triggered in the measurement interval"
    elif measured.p99_s is not None and measured.p99_s <= 0:
        yield "latencies are not above zero, so the clocks cannot be trusted"
    if 0 < measured.orders < FEWEST_ORDERS:
        needed = f"a 99th percentile needs {FEWEST_ORDERS} orders in the measurement interval"
        yield f"{needed}, the run has {measured.orders}"
    if 0 < measured.triggers < FEWEST_TRIGGERS:
        yield (
            f"the measurement interval has {counted(measured.orders, 'order')} of "
            f"{counted(measured.triggers, 'trigger')}, {FEWEST_TRIGGERS} triggers are needed"
        )
    yield from warm_up_reasons(measured.strategies, measured.warm_strategies)
    yield from interval_reasons(measured.interval_s)


def warm_up_reasons(strategies: int, warm: int) -> Iterator[str]:
    if warm < strategies:
        yield (
            f"{100 * warm // strategies}% of strategies ({warm:,} of {strategies:,}) can answer when the measurement "
            "interval begins, all are needed"
        )


def interval_reasons(interval_s: float) -> Iterator[str]:
    if interval_s < FEWEST_SECONDS:
        yield (
            f"the measurement interval takes {interval_s:.3g} s of wall time, {FEWEST_SECONDS:g} s are needed; "
            "give a lower --speed"
        )


def _driver_reasons(measured: Measured) -> Iterator[str]:
    """Yield why the load was not really offered."""
    delay_s = measured.delay_p99_s
    if delay_s is None:
        yield "a driver did not record its send delay"
        return
    if delay_s > (allowed_s := allowed_delay_s(measured.p99_s)):
        late = f"the driver's send delay was {delay_s * 1000:.1f} ms at the 99th percentile"
        yield f"{late}, {allowed_s * 1000:.1f} ms are allowed"
    due, sent = measured.due_in_interval, measured.sent_in_interval
    if abs(sent - due) > RATE_TOLERANCE * due:
        yield (
            f"{counted(sent, 'tick')} sent in the measurement interval, {due:,} due in it: "
            f"{abs(sent - due) / max(due, 1):.1%} off, {RATE_TOLERANCE:.0%} is allowed"
        )


def allowed_delay_s(p99_s: float | None) -> float:
    """Return the send delay that a driver may have at the 99th percentile."""
    return min(max(LEAST_DELAY_S, DELAY_SHARE * (p99_s or 0.0)), MOST_DELAY_S)


def warm_strategies(strategies: Sequence[Strategy], duration_ms: int) -> int:
    """Return how many strategies can have enough ratios when the measurement interval begins, a quarter of the day."""
    return sum(4 * strategy.warm_up_ms <= duration_ms for strategy in strategies)


def hopeless_reasons(
    strategies: Sequence[Strategy], duration_ms: int, interval_ms: tuple[int, int], speed: float | None
) -> Iterator[str]:
    """Yield why no run can have a valid score, as far as that is known before it begins; nothing if unpaced."""
    begin, end = interval_ms
    if speed is None:
        return
    yield from warm_up_reasons(len(strategies), warm_strategies(strategies, duration_ms))
    triggers = _most_triggers({strategy.period_ms for strategy in strategies}, begin, end)
    if triggers < FEWEST_TRIGGERS:
        length = show_duration(end - begin)
        most = f"windows end no more often than for {counted(triggers, 'trigger')}"
        yield f"{most} in the measurement interval of {length}, {FEWEST_TRIGGERS} triggers are needed"
    yield from interval_reasons((end - begin) / 1000 / speed)


def _most_triggers(periods_ms: set[int], begin_ms: int, end_ms: int) -> int:
    """Return how many different moments there are at which windows end, counted no further than needed."""
    ends: set[int] = set()
    for period in periods_ms:
        first = -(-begin_ms // period) * period
        ends.update(range(first, end_ms, period)[:FEWEST_TRIGGERS])
    return len(ends)
