"""How long runs will take, as far as that is known before they begin: estimates for people who wait."""

from math import ceil

AROUND_A_RUN_S = 30.0  # about what starting the engine, validation, score and report take


def run_seconds(duration_ms: int, speed: float) -> float:
    """Return about how many seconds a run takes with all that follows it."""
    return duration_ms / 1000 / speed + AROUND_A_RUN_S


def show_minutes(seconds: float) -> str:
    """Write a rough time for people: in seconds, minutes or hours, always rounded up."""
    if seconds <= 90:
        return f"{ceil(seconds)} s"
    minutes = ceil(seconds / 60)
    return f"{minutes} min" if minutes <= 90 else f"{minutes // 60} h {minutes % 60} min"
