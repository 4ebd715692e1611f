"""A score does not count where it must not, and each reason names its figure."""

from dataclasses import replace

import pytest

from pairs.measure.validity import Measured, allowed_delay_s, hopeless_reasons, void_reasons, warm_strategies
from pairs.model.strategy import NUMBERS_OF_PERIODS, PERIOD_LENGTHS_S, Strategy

GOOD = Measured(
    passed=True,
    ticks=100,
    ticks_sent=100,
    delay_p99_s=0.001,
    due_in_interval=1_000,
    sent_in_interval=1_000,
    interval_s=60.0,
    p99_s=0.2,
    orders=425,
    triggers=210,
    strategies=25,
    warm_strategies=25,
)
EVERY_KIND = [  # the 50 combinations that the query generator draws from, each as often as the others
    Strategy("s", None, 1, "A", "B", 1_000 * seconds, periods, 1.5, 0.1)
    for seconds in PERIOD_LENGTHS_S
    for periods in NUMBERS_OF_PERIODS
]
HOUR = 3_600_000


def test_a_good_run_counts() -> None:
    """There is no reason against it."""
    assert void_reasons(GOOD) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"passed": False}, "validation FAILED"),
        ({"ticks_sent": 99}, "99 of 100 ticks were sent"),
        (
            {"delay_p99_s": 0.0201},
            "the driver's send delay was 20.1 ms at the 99th percentile, 20.0 ms are allowed",
        ),
        ({"delay_p99_s": None}, "a driver did not record its send delay"),
        (
            {"sent_in_interval": 989},
            "989 ticks sent in the measurement interval, 1,000 due in it: 1.1% off, 1% is allowed",
        ),
        (
            {"sent_in_interval": 1_011},
            "1,011 ticks sent in the measurement interval, 1,000 due in it: 1.1% off, 1% is allowed",
        ),
        ({"p99_s": None, "orders": 0, "triggers": 0}, "no order was triggered in the measurement interval"),
        ({"p99_s": -0.1}, "latencies are not above zero, so the clocks cannot be trusted"),
        (
            {"triggers": 12, "orders": 9_985},
            "the measurement interval has 9,985 orders of 12 triggers, 100 triggers are needed",
        ),
        (
            {"warm_strategies": 1},
            "4% of strategies (1 of 25) can answer when the measurement interval begins, all are needed",
        ),
        (
            {"interval_s": 19.9},
            "the measurement interval takes 19.9 s of wall time, 20 s are needed; give a lower --speed",
        ),
        ({"paced": False}, "the run was unpaced"),
        ({"failures": ("the engine ended with exit code 1",)}, "the engine ended with exit code 1"),
    ],
)
def test_what_makes_a_score_void(change: dict[str, object], reason: str) -> None:
    """Each of them alone, with its figure."""
    assert void_reasons(replace(GOOD, **change)) == [reason]  # type: ignore[arg-type]


def test_few_orders_are_of_few_triggers() -> None:
    """Eleven orders are too few in both ways, and both figures are given."""
    orders, triggers = void_reasons(replace(GOOD, orders=11, triggers=11))
    assert orders == "a 99th percentile needs 100 orders in the measurement interval, the run has 11"
    assert "of 11 triggers" in triggers
    _, one = void_reasons(replace(GOOD, orders=1, triggers=1))
    assert one == "the measurement interval has 1 order of 1 trigger, 100 triggers are needed"


@pytest.mark.parametrize(
    ("p99_s", "allowed"), [(None, 0.010), (0.02, 0.010), (0.2, 0.020), (1.0, 0.100), (90.0, 0.100)]
)
def test_the_send_delay_that_is_allowed(p99_s: float | None, allowed: float) -> None:
    """A tenth of the latency, at least 10 ms and at most 100 ms: a slow engine does not excuse a late driver."""
    assert allowed_delay_s(p99_s) == pytest.approx(allowed)


@pytest.mark.parametrize("sent", [990, 1_000, 1_010])
def test_a_rate_within_a_percent_counts(sent: int) -> None:
    """As the rule says."""
    assert not void_reasons(replace(GOOD, sent_in_interval=sent))


def test_all_reasons_are_given() -> None:
    """A run that fails in two ways says both."""
    assert len(void_reasons(replace(GOOD, passed=False, ticks_sent=1))) == 2


@pytest.mark.parametrize(("duration_ms", "warm"), [(120_000, 2), (360_000, 12), (2 * HOUR - 1, 49), (2 * HOUR, 50)])
def test_strategies_that_can_answer_when_the_interval_begins(duration_ms: int, warm: int) -> None:
    """4% of all kinds in two minutes, 24% in six, all of them in two hours and in nothing less."""
    assert warm_strategies(EVERY_KIND, duration_ms) == warm


def test_what_can_never_be_valid_is_known_before() -> None:
    """Two minutes at speed 1 lack strategies and triggers; two hours at speed 1000 lack time."""
    warm, triggers = hopeless_reasons(EVERY_KIND, 120_000, (30_000, 90_000), 1.0)
    assert warm.startswith("4% of strategies (2 of 50)")
    most = "windows end no more often than for 12 triggers in the measurement interval of 1m"
    assert triggers == f"{most}, 100 triggers are needed"
    (time,) = hopeless_reasons(EVERY_KIND, 2 * HOUR, (HOUR // 2, 3 * HOUR // 2), 1000.0)
    assert time.startswith("the measurement interval takes 3.6 s of wall time")


@pytest.mark.parametrize("speed", [1.0, 20.0, 60.0, None])
def test_two_hours_have_hope(speed: float | None) -> None:
    """At the speeds of the profiles, and where nothing is scored anyway."""
    assert not list(hopeless_reasons(EVERY_KIND, 2 * HOUR, (HOUR // 2, 3 * HOUR // 2), speed))
