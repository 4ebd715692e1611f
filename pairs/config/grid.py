"""Flags with several values, separated by commas: every combination is a point of a grid. Pure functions."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass
from itertools import product
from typing import Any

from pairs.config.run_settings import NOT_VARIED, RunSettings
from pairs.config.settings import declared_in
from pairs.core.errors import BadInputError

MOST_REPETITIONS = 1_000  # of a point
_COMMA = re.compile(r"(?<!\\),")  # separates values; a backslash before it makes it part of a value


@dataclass(frozen=True)
class GridPoint:
    """A combination of values: all flags with a value each, and those that are not the same at all points."""

    flags: dict[str, Any]
    varied: dict[str, str]


@dataclass(frozen=True)
class _Axis:
    """The values of a flag, or of one occurrence of a repeated flag."""

    setting: str
    label: str
    values: tuple[str, ...]
    prefix: str | None = None  # of each value of a repeated flag: KEY= of an engine setting


def grid(flags: Mapping[str, Any]) -> list[GridPoint]:
    """Return all combinations of the values of flags of a run; flags of a workload have one value each."""
    declared = {name: known for name, known in declared_in(RunSettings).items() if name not in NOT_VARIED}
    axes = [axis for name in flags if name in declared for axis in _axes(declared[name], flags[name])]
    labels = _distinct([axis.label for axis in axes])
    others = {name: value for name, value in flags.items() if name not in declared}
    return [_point(others, axes, labels, values) for values in product(*(axis.values for axis in axes))]


def _point(others: Mapping[str, Any], axes: list[_Axis], labels: list[str], values: tuple[str, ...]) -> GridPoint:
    flags, varied = dict(others), {}
    for axis, label, value in zip(axes, labels, values, strict=True):
        if axis.prefix is None:
            flags[axis.setting] = value
        else:
            flags[axis.setting] = [*flags.get(axis.setting, []), axis.prefix + value]
        if len(axis.values) > 1:
            varied[label] = value
    return GridPoint(flags, varied)


def _axes(declared: Field[Any], raw: str | bool | list[str]) -> Iterator[_Axis]:
    flag = declared.metadata["flag"]
    if isinstance(raw, bool):
        raw = str(raw).lower()
    if isinstance(raw, str):
        yield _Axis(declared.name, flag.lstrip("-"), _values(raw, flag))
        return
    seen: set[str] = set()
    for entry in raw:
        key, equals, written = entry.partition("=") if "=" in entry else ("", "", entry)
        if equals and key in seen:
            raise BadInputError(f"{flag}: {key} is given twice; separate its values with commas, as in {key}=1,2")
        seen.add(key)
        yield _Axis(declared.name, key or flag.lstrip("-"), _values(written, flag), key + equals)


def _values(raw: str, flag: str) -> tuple[str, ...]:
    """Split a text at its commas; a text without any is a value as it stands, be it empty."""
    values = tuple(value.replace("\\,", ",") for value in _COMMA.split(raw))
    if len(values) > 1 and "" in values:
        raise BadInputError(
            f"{flag}: {raw!r} has an empty value; give a value on both sides of a comma, or '\\,' for one"
        )
    if len(set(values)) < len(values):
        raise BadInputError(f"{flag}: {raw!r} has a value twice; give each once, and --repeat to run it several times")
    return values


def _distinct(labels: list[str]) -> list[str]:
    """Return labels with a number after those that occur again."""
    return [
        label if (before := labels[:place].count(label)) == 0 else f"{label} {before + 1}"
        for place, label in enumerate(labels)
    ]
