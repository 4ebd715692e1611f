"""The workload: every parameter of a market and its strategies, with defaults that follow from the scale factor."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor, log, log10, sqrt
from typing import Any

from pairs.config.phases import PHASES, Phase
from pairs.config.settings import as_plain, declared_in, defaults_of, parse_record, setting
from pairs.config.values import HIGHEST_RATE, Plain, choice, number, rate, time_span, whole
from pairs.core.errors import BadInputError
from pairs.core.units import show_duration
from pairs.model.arrivals import Knots, burst_phases, rate_knots, usual_phases
from pairs.model.strategy import STRATEGIES_PER_UNIT, STRATEGIES_PER_USER, SYMBOLS_PER_MARKET, markets_of

LOWEST_INITIAL_CENTS = 3_000
HIGHEST_INITIAL_CENTS = 16_000

_MOST_SYMBOLS = 26**5  # a 26th of all six-letter words, so that unique words are found quickly
_LARGEST_CENTS = 2**31 - 1
_FOLLOWING = ("basis_rate", "symbols", "correlations", "strategies")  # have a default that follows from other settings
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
        choice("varying", "constant", "burst", "phases"),
        "--curve",
        "Rate over time: swings between basis and peak, flat, flat with a burst at the peak, or the profile's phases.",
        "varying",
    )
    phases: tuple[Phase, ...] = setting(
        PHASES, None, "Parts of the day with a rate each; tables [[phase]] of a profile.", (), key="phase"
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
    def phase_begins(self) -> dict[str, int]:
        """When each phase of a run begins, ms of simulated time: those of the profile, of the burst, or the usual."""
        if self.phases:
            names = [phase.name for phase in self.phases]
            return dict(zip(names, [0, *(phase.until for phase in self.phases)], strict=False))
        if self.curve == "burst":
            return {name: round(begin) for name, begin in burst_phases(self.duration).items()}
        return usual_phases(self.duration, self.measurement_interval)

    @property
    def steps(self) -> list[tuple[int, Fraction]]:
        """Until when each phase lasts, ms of simulated time, and its rate as a multiple of the basis rate."""
        return [(phase.until, phase.rate.over(self.basis_rate)) for phase in self.phases]

    def rate_knots(self, basis: float) -> Knots:
        """Return the knots of the rate over the day: times in ms, rates in the unit in which `basis` is given."""
        steps = [(until, float(factor)) for until, factor in self.steps]
        return rate_knots(self.curve, float(self.duration), basis, self.peak_factor, steps)

    @property
    def nonstandard(self) -> list[str]:
        """Names of the settings that make a score with this workload not comparable."""
        standard = complete({"scale_factor": self.scale_factor})
        free = {"scale_factor", "seed", "market_rate"}
        free |= {"curve"} if self.phases else set()  # it follows from them
        names = [name for name in declared_in(self) if name not in free]
        return [name for name in names if getattr(self, name) != getattr(standard, name)]

    @property
    def derived(self) -> list[str]:
        """Names of the settings that have the value that follows from the others."""
        values = {name: getattr(self, name) for name in declared_in(self)}
        followed = {name: _with_defaults({key: values[key] for key in values if key != name}) for name in _FOLLOWING}
        return [name for name in _FOLLOWING if followed[name][name] == values[name]]

    def as_plain(self) -> dict[str, Plain]:
        return as_plain(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], place: str) -> "Workload":
        sourced = parse_record(values, cls, place)
        return complete(sourced.values, sourced.places)


def complete(values: Mapping[str, Any], places: Mapping[str, str] | None = None) -> Workload:
    """Fill in the defaults that follow from the scale factor, and check the whole; `places` is for error messages."""
    workload = Workload(**_with_defaults(values))
    _check(workload, places or {})
    _check_phases(workload, places or {})
    return workload


def _with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    fixed = {name: value for name, value in defaults_of(Workload).items() if value is not None}
    phases: tuple[Phase, ...] = values.get("phases", ())
    known = fixed | ({"duration": phases[-1].until, "curve": "phases"} if phases else {}) | dict(values)
    markets = markets_of(known["scale_factor"])
    known.setdefault("basis_rate", known["market_rate"] * markets)
    known.setdefault("symbols", SYMBOLS_PER_MARKET * markets)
    known.setdefault("correlations", max(1, known["symbols"] // 4))
    known.setdefault("strategies", STRATEGIES_PER_UNIT * known["scale_factor"])
    return known


def _check(workload: Workload, places: Mapping[str, str]) -> None:
    """Refuse values that are valid alone but not together."""
    if workload.symbols > _MOST_SYMBOLS:
        more = f"{workload.symbols:,} symbols are more than {_MOST_SYMBOLS:,}"
        raise _refusal(places, more, {"scale_factor": "give a lower scale factor"})
    if HIGHEST_RATE < workload.basis_rate == workload.market_rate * workload.markets:  # if given, it has its own bound
        more = f"{float(workload.basis_rate):,.0f} ticks per second are more than {float(HIGHEST_RATE):,.0f}"
        raise _refusal(places, more, dict.fromkeys(("market_rate", "scale_factor"), "give a lower value"))
    _check_correlations(workload, places)
    _check_volatility(workload, places)


def _refusal(places: Mapping[str, str], problem: str, remedies: Mapping[str, str]) -> BadInputError:
    """Blame what the user gave: of the settings with a remedy the first with a flag, or else the first in a file."""

    def distance(name: str) -> int:
        return 2 if name not in places else 0 if places[name].startswith("--") else 1

    name = min(remedies, key=distance)
    return BadInputError(f"{places.get(name, name)}: {problem}; {remedies[name]}")


def _check_correlations(workload: Workload, places: Mapping[str, str]) -> None:
    symbols, correlations = workload.symbols, workload.correlations
    if 2 * correlations > symbols:
        needed = f"{correlations:,} correlations need {2 * correlations:,} symbols and there are {symbols:,}"
        remedies = {"correlations": f"give at most {symbols // 2:,}", "symbols": f"give at least {2 * correlations:,}"}
        if "symbols" not in places:
            remedies["scale_factor"] = f"give at most {symbols // 2:,} correlations"
        raise _refusal(places, needed, remedies)


def _check_volatility(workload: Workload, places: Mapping[str, str]) -> None:
    room = log(_LARGEST_CENTS / HIGHEST_INITIAL_CENTS) - _SAFE_SIGMAS * workload.spread
    most = room / (_SAFE_SIGMAS * sqrt(workload.duration / 1000))
    if workload.volatility > most:
        within = f"within {show_duration(workload.duration)} at a volatility of {workload.volatility:g}"
        at_most, longest_s = f"at most {_rounded_down(most):g}", int((room / (_SAFE_SIGMAS * workload.volatility)) ** 2)
        lower = f"give a volatility of {at_most}"
        shorter = f"give at most {show_duration(1000 * longest_s)}" if longest_s else lower
        remedies = {"volatility": f"give {at_most}", "duration": shorter, "phases": lower, "spread": lower}
        raise _refusal(places, f"{within} a price can grow {exp(room):,.0f}-fold, past 32 bits", remedies)


def _rounded_down(value: float) -> float:
    """Return a number with two digits that is not above another."""
    step = 10.0 ** (floor(log10(value)) - 1)
    return floor(value / step) * step


def _check_phases(workload: Workload, places: Mapping[str, str]) -> None:
    """Refuse a curve or a duration that contradicts the phases."""
    curve, duration = places.get("curve", "curve"), places.get("duration", "duration")
    if not workload.phases:
        if workload.curve == "phases":
            raise BadInputError(f"{curve}: there are no phases; add tables [[phase]] to the profile")
        return
    if workload.curve != "phases":
        raise BadInputError(f"{curve}: {workload.curve!r} contradicts the phases of the profile; leave it out")
    end = workload.phases[-1].until
    if workload.duration != end:
        given, ends = show_duration(workload.duration), f"the last phase ends at {show_duration(end)}"
        raise BadInputError(f"{duration}: {given}, but {ends}; leave the duration out, or end the last phase there")
