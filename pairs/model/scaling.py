"""The scaling rules: sizes that follow from the scale factor."""

SYMBOLS_PER_MARKET = 100
STRATEGIES_PER_UNIT = 25
STRATEGIES_PER_USER = 5
UNITS_PER_MARKET = 10


def markets_of(scale_factor: int) -> int:
    """Return the number of markets at a scale factor."""
    return -(-scale_factor // UNITS_PER_MARKET)
