"""Phases of one's own: the parts of a trading day with a rate each, read from the [[phase]] tables of a profile."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from pairs.config.settings import as_plain, parse_record, setting
from pairs.config.values import HIGHEST_RATE, LOWEST_RATE, Kind, Plain, fraction, show_fraction, time_span
from pairs.core.errors import BadInputError
from pairs.core.units import show_duration

LONGEST_NAME = 40
_HIGHEST_SHARE = 1_000


@dataclass(frozen=True)
class PhaseRate:
    """Ticks per simulated second of all markets together, or a share of the basis rate; 0 is a halt."""

    value: Fraction
    is_share: bool = False

    @classmethod
    def parse(cls, raw: Any) -> "PhaseRate":
        """Read a rate such as 5000, 5000/60 or 150%; anything else raises ValueError."""
        is_share = isinstance(raw, str) and raw.rstrip().endswith("%")
        value = fraction(raw.rstrip().removesuffix("%")) / 100 if is_share else fraction(raw)
        if value and not LOWEST_RATE <= value <= (_HIGHEST_SHARE if is_share else HIGHEST_RATE):
            raise ValueError
        return cls(value, is_share)

    def show(self) -> str | int:
        return f"{show_fraction(self.value * 100)}%" if self.is_share else show_fraction(self.value)

    def over(self, basis_rate: Fraction) -> Fraction:
        """Return the rate as a multiple of the basis rate."""
        return self.value if self.is_share else self.value / basis_rate


def _parse_name(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip() or len(raw) > LONGEST_NAME or not raw.isprintable():
        raise ValueError
    return raw


_NAMES = Kind("NAME", f"a text of 1 to {LONGEST_NAME} printable characters", _parse_name)
_RATES = Kind(
    "R", "ticks per second such as 5000 or 5000/60, a share such as 150%, or 0", PhaseRate.parse, PhaseRate.show
)


@dataclass(frozen=True)
class Phase:
    """A part of the day with a constant rate, from the end of the phase before."""

    name: str = setting(_NAMES, None, "Name of the phase.")
    until: int = setting(time_span(), None, "End of the phase in simulated time.")
    rate: PhaseRate = setting(_RATES, None, "Rate of the phase.")


@dataclass(frozen=True)
class _PhaseTables(Kind):
    """The kind of the [[phase]] tables of a profile; errors name the phase by its number."""

    def read(self, raw: Any, place: str) -> tuple[Phase, ...]:
        tables = super().read(raw, place)
        phases = tuple(_phase(table, f"{place} {number}") for number, table in enumerate(tables, 1))
        _check(phases, place)
        return phases


def _tables(raw: Any) -> list[Mapping[str, Any]]:
    if not isinstance(raw, list) or not raw or not all(isinstance(table, Mapping) for table in raw):
        raise ValueError
    return raw


def _show(phases: tuple[Phase, ...]) -> list[dict[str, Plain]] | None:
    return [as_plain(phase) for phase in phases] or None


PHASES = _PhaseTables("TABLES", "tables [[phase]], each with name, until and rate", _tables, _show)


def _phase(table: Mapping[str, Any], place: str) -> Phase:
    for declared in fields(Phase):
        if declared.name not in table:
            raise BadInputError(f"{place}: {declared.name}: is missing; give {declared.metadata['kind'].wanted}")
    return Phase(**parse_record(table, Phase, place).values)


def _check(phases: tuple[Phase, ...], place: str) -> None:
    """Refuse phases that are valid alone but not together."""
    numbers: dict[str, int] = {}
    end = 0
    for number, phase in enumerate(phases, 1):
        if phase.name in numbers:
            first = f"{phase.name!r} is the name of phase {numbers[phase.name]}"
            raise BadInputError(f"{place} {number}: name: {first}; give each phase a name of its own")
        if phase.until <= end:
            ends = f"{show_duration(phase.until)} is not after {show_duration(end)}, when phase {number - 1} ends"
            raise BadInputError(f"{place} {number}: until: {ends}; give a later time")
        numbers[phase.name], end = number, phase.until
    if not any(phase.rate.value for phase in phases):
        raise BadInputError(f"{place} 1: rate: is 0 as in all phases; give at least one phase a rate above zero")
