"""The rate of arrivals over a trading day: corners between which it is linear."""

LONGEST_BURST_MS = 10_000


def burst_of(duration_ms: float) -> tuple[float, float]:
    """Return when the burst of a day begins and ends, ms of simulated time, with the curve `burst`."""
    begins = duration_ms / 2
    return begins, begins + min(LONGEST_BURST_MS, duration_ms / 10)


def rate_knots(curve: str, duration_ms: float, basis: float, peak_factor: float) -> tuple[list[float], list[float]]:
    """Return times and rates between which the rate of a curve is linear."""
    peak = basis * peak_factor
    if curve == "constant":
        return [0.0, duration_ms], [basis, basis]
    if curve == "burst":  # after a ramp-up flat, but for the burst, whose flanks are a thousandth of it
        begins, ends = burst_of(duration_ms)
        flank = (ends - begins) / 1000
        times = [0.0, duration_ms / 12, begins, begins + flank, ends, ends + flank, duration_ms]
        return times, [0.0, basis, basis, peak, peak, basis, basis]
    shares = [0.0, 1 / 120, 1 / 4, 1 / 2, 3 / 4, 1.0]
    return [duration_ms * share for share in shares], [0.0, peak, basis, peak, basis, peak]
