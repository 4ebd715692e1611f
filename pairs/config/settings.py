"""Settings: declared once as fields of a dataclass, read from TOML files and flags, and merged.

A setting has the kind of its value, its flag if it has one, its help text, its default, and its key in files if that
is not its name; an unknown key is refused with the nearest valid key. A file holds the settings of one group, or, as
`pairs config` prints it, the tables [profile] and [run], of which each reader takes its own.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from pairs.config.values import Kind, Plain, nearest, suggestion
from pairs.core.errors import BadInputError
from pairs.core.files import shipped_folder

_TABLES = {"profiles": "profile", "runs": "run"}  # of a file that has both, by group
_LARGEST_FILE = 1_000_000  # bytes
_MOST_DOTS = 100  # of a line


def setting(kind: Kind, flag: str | None, text: str, default: Any = None, key: str | None = None) -> Any:
    return field(metadata={"kind": kind, "flag": flag, "help": text, "default": default, "key": key})


def declared_in(group: Any) -> dict[str, Field[Any]]:
    """Return the settings of a group by name."""
    return {declared.name: declared for declared in fields(group) if "kind" in declared.metadata}


def flags_of(group: type) -> dict[str, str]:
    """Return the flags of those settings that have one."""
    return {name: flag for name, declared in declared_in(group).items() if (flag := declared.metadata["flag"])}


def _key(declared: Field[Any]) -> str:
    return declared.metadata["key"] or declared.name


def defaults_of(settings: type) -> dict[str, Any]:
    """Return the fixed defaults of a group of settings; None for those that follow from other settings."""
    return {name: declared.metadata["default"] for name, declared in declared_in(settings).items()}


def as_plain(settings: Any) -> dict[str, Plain]:
    """Return every setting that is set as a TOML or JSON value."""
    shown = {
        _key(declared): declared.metadata["kind"].show(getattr(settings, name))
        for name, declared in declared_in(settings).items()
    }
    return {key: value for key, value in shown.items() if value is not None}


@dataclass(frozen=True)
class Sourced:
    """Values by setting name, and the place of each for error messages."""

    values: dict[str, Any]
    places: dict[str, str]

    def under(self, other: "Sourced") -> "Sourced":
        """Return these values overridden by another source's."""
        return Sourced(self.values | other.values, self.places | other.places)


def parse_settings(raw: Mapping[str, Any], settings: type, places: Mapping[str, str], origin: str) -> Sourced:
    """Parse the values of a group of settings; refuse a key that it does not have."""
    declared = {_key(known): known for known in declared_in(settings).values()}
    for key in raw:
        if key not in declared:
            raise BadInputError(f"{origin}: unknown key {key!r}; {suggestion(key, declared)}")
    values = {declared[key].name: declared[key].metadata["kind"].read(value, places[key]) for key, value in raw.items()}
    return Sourced(values, {declared[key].name: place for key, place in places.items()})


def parse_record(raw: Mapping[str, Any], settings: type, origin: str) -> Sourced:
    """Parse the settings in a file of the name `origin`."""
    return parse_settings(raw, settings, {key: f"{origin}: {key}" for key in raw}, origin)


def parse_flags(flags: Mapping[str, Any], settings: type) -> Sourced:
    """Parse the flags of a group of settings; ignore those of other groups."""
    declared = flags_of(settings)
    known = {name: raw for name, raw in flags.items() if name in declared}
    return parse_settings(known, settings, {name: declared[name] for name in known}, "flags")


def parse_file(group: str, name: str, settings: type) -> Sourced:
    """Parse a TOML file of the group `profiles` or `runs`, by shipped name or by path."""
    path = _find(group, name)
    content = _read_toml(path)
    if not any(isinstance(content.get(table), dict) for table in _TABLES.values()):
        return parse_record(content, settings, str(path))
    table, beside = _TABLES[group], [key for key in content if key not in _TABLES.values()]
    if beside:
        raise BadInputError(
            f"{path}: {beside[0]!r} stands beside the tables [profile] and [run]; move it into one of them"
        )
    if not isinstance(content.get(table), dict):
        raise BadInputError(f"{path}: has no table [{table}]; add it, or give another file with --{table}")
    return parse_record(content[table], settings, f"{path}: [{table}]")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as source:
            text = source.read(_LARGEST_FILE + 1).decode("utf-8")
        _refuse_endless(text)
        return tomllib.loads(text)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, tables in tables without end
        raise BadInputError(f"{path}: not valid TOML: {error}; fix it there") from None


def _refuse_endless(text: str) -> None:
    """Refuse what the TOML parser would take all memory for: it keeps every beginning of a dotted key."""
    if len(text) > _LARGEST_FILE:
        raise ValueError(f"it has more than {_LARGEST_FILE:,} bytes")
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _MOST_DOTS and not line.lstrip().startswith("#"):
            raise ValueError(f"line {number}: more than {_MOST_DOTS} dots")


def shipped(group: str) -> dict[str, str]:
    """Return the shipped `profiles` or `runs` by name, each with its purpose, the first line of the file."""
    paths = sorted((shipped_folder("configs") / group).glob("*.toml"))
    return {path.stem: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in paths}


def _find(group: str, name: str) -> Path:
    known = list(shipped(group))
    if name in known:
        return shipped_folder("configs") / group / f"{name}.toml"
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return path
    kind, near = _TABLES[group], nearest(name, known)
    meant = "" if near is None else f" (did you mean {near!r}?)"
    raise BadInputError(
        f"--{kind}: no {kind} {name!r}{meant}; give one of {', '.join(known)}, or the path of a .toml file"
    )
