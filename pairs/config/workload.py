"""The workload: every parameter of a market and its strategies, with defaults that follow from the scale factor."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

from pairs.config.settings import as_plain, defaults_of, parse_record, setting
from pairs.config.values import Plain, choice, number, rate, time_span, whole
from pairs.core.errors import BadInputError
from pairs.model.strategy import STRATEGIES_PER_UNIT, STRATEGIES_PER_USER, SYMBOLS_PER_MARKET, markets_of

LOWEST_INITIAL_CENTS = 3_000
HIGHEST_INITIAL_CENTS = 16_000

_MOST_SYMBOLS = 26**5  # a 26th of all six-letter words, so that unique words are found quickly
_LARGEST_CENTS = 2**31 - 1
_SAFE_SIGMAS = 8.0  # a price leaves the 32-bit range with a probability of about 1e-15
SEEDS = whole(0, 2**64 - 1)
_PEAK_FACTORS = number("a number above zero, at most 1000", lambda factor: 0 < factor <= 1000)
_VOLATILITIES = number("a number from 0 up", lambda volatility: volatility >= 0)
_CORRELATIONS = number("a number from -1 to 1", lambda correlation: -1 <= correlation <= 1)
_SPREADS = number("a number from 0 to 0.5", lambda spread: 0 <= spread <= 0.5)


@dataclass(frozen=True)
class Workload:
    """What is generated. Equal workloads give equal ticks, row by row, on any machine."""

    scale_factor: int = setting(
        whole(1, 1_000_000), "--sf", "Scale factor: 25 strategies a unit, a market of 100 symbols every 10.", 1
    )
    seed: int = setting(SEEDS, "--seed", "Seed of every random draw.", 1)
    duration: int = setting(time_span(), "--duration", "Length of the trading day in simulated time.", 7_200_000)
    market_rate: Fraction = setting(
        rate(), "--market-rate", "Basis rate of each market, ticks per simulated second.", Fraction(5_000)
    )
    basis_rate: Fraction = setting(
        rate(), "--basis-rate", "Basis rate of all markets together; default: market rate times markets."
    )
    peak_factor: float = setting(_PEAK_FACTORS, "--peak-factor", "Peak rate over basis rate.", 1.5)
    arrivals: str = setting(
        choice("poisson", "constant"), "--arrivals", "Arrival times: a Poisson process, or evenly spaced.", "poisson"
    )
    curve: str = setting(
        choice("varying", "constant", "burst"),
        "--curve",
        "Rate over time: swings between basis and peak, flat, or flat with ten seconds at the peak.",
        "varying",
    )
    symbols: int = setting(
        whole(2, _MOST_SYMBOLS), "--symbols", "Symbols in all markets together; default: 100 a market."
    )
    correlations: int = setting(
        whole(1, _MOST_SYMBOLS), "--correlations", "Correlated pairs; default: a quarter of the symbols."
    )
    strategies: int = setting(whole(1), "--strategies", "Strategies; default: 25 times the scale factor.")
    market: str = setting(
        choice("gbm", "cointegrated"),
        "--market",
        "Pairs of correlated geometric Brownian motions, or with a ratio that reverts to its mean.",
        "gbm",
    )
    volatility: float = setting(
        _VOLATILITIES, "--volatility", "Standard deviation of a log-return over one second.", 0.005
    )
    correlation: float = setting(
        _CORRELATIONS, "--correlation", "Correlation of the two Brownian motions behind a pair (gbm).", 0.8
    )
    spread: float = setting(
        _SPREADS, "--spread", "Standard deviation of a pair's log-ratio around its mean (cointegrated).", 0.02
    )
    half_life: int = setting(
        time_span(),
        "--half-life",
        "Time in which a pair's log-ratio halves its distance to the mean (cointegrated).",
        60_000,
    )

    @property
    def markets(self) -> int:
        return markets_of(self.scale_factor)

    @property
    def users(self) -> int:
        return -(-self.strategies // STRATEGIES_PER_USER)

    @property
    def measurement_interval(self) -> tuple[int, int]:
        """Start and end (exclusive) of the measurement interval, the middle half, ms of simulated time."""
        return -(-self.duration // 4), -(-3 * self.duration // 4)

    @property
    def nonstandard(self) -> list[str]:
        """Names of the settings that make a score with this workload not comparable."""
        standard = complete({"scale_factor": self.scale_factor})
        free = {"scale_factor", "seed", "market_rate"}
        names = [declared.name for declared in fields(self) if declared.name not in free]
        return [name for name in names if getattr(self, name) != getattr(standard, name)]

    def as_plain(self) -> dict[str, Plain]:
        return as_plain(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], place: str) -> "Workload":
        sourced = parse_record(values, cls, place)
        return complete(sourced.values, sourced.places)


def complete(values: Mapping[str, Any], places: Mapping[str, str] | None = None) -> Workload:
    """Fill in the defaults that follow from the scale factor, and check the whole; `places` is for error messages."""
    known = {name: value for name, value in defaults_of(Workload).items() if value is not None} | dict(values)
    markets = markets_of(known["scale_factor"])
    known.setdefault("basis_rate", known["market_rate"] * markets)
    known.setdefault("symbols", SYMBOLS_PER_MARKET * markets)
    known.setdefault("correlations", max(1, known["symbols"] // 4))
    known.setdefault("strategies", STRATEGIES_PER_UNIT * known["scale_factor"])
    workload = Workload(**known)
    _check(workload, places or {})
    return workload


def _check(workload: Workload, places: Mapping[str, str]) -> None:
    """Refuse values that are valid alone but not together."""
    symbols, correlations = workload.symbols, workload.correlations
    if symbols > _MOST_SYMBOLS:
        place = places.get("scale_factor", "scale_factor")
        raise BadInputError(f"{place}: {symbols:,} symbols are more than {_MOST_SYMBOLS:,}; give a lower SF")
    if 2 * correlations > symbols:
        place = places.get("correlations", "correlations")
        needed = f"{correlations:,} correlations need {2 * correlations:,} symbols and there are {symbols:,}"
        raise BadInputError(f"{place}: {needed}; give at most {symbols // 2:,}")
    room = log(_LARGEST_CENTS / HIGHEST_INITIAL_CENTS) - _SAFE_SIGMAS * workload.spread
    most = room / (_SAFE_SIGMAS * sqrt(workload.duration / 1000))
    if workload.volatility > most:
        place = places.get("volatility", "volatility")
        raise BadInputError(
            f"{place}: at {workload.volatility:g} a price can grow {exp(room):,.0f}-fold, past 32 bits, within the "
            f"duration; give at most {most:.2g}"
        )
