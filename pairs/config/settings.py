"""Settings: declared once as fields of a dataclass, read from TOML files and flags, and merged.

A field has the kind of its value, its flag, its help text and its default; an unknown key is refused with the nearest
valid key.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from pairs.config.values import Kind, Plain, nearest
from pairs.core import resources
from pairs.core.errors import BadInputError

DERIVED: Any = object()  # marks a setting whose default follows from other settings


def setting(kind: Kind, flag: str, text: str, default: Any = DERIVED) -> Any:
    """Declare a setting: its kind, its flag, its help text and its default."""
    return field(metadata={"kind": kind, "flag": flag, "help": text, "default": default})


def default_of(declared: Field[Any]) -> Any:
    """Return a setting's fixed default; None if it follows from other settings."""
    value = declared.metadata["default"]
    return None if value is DERIVED else value


def as_plain(settings: Any) -> dict[str, Plain]:
    """Return every setting as a TOML or JSON value."""
    return {
        declared.name: declared.metadata["kind"].show(getattr(settings, declared.name)) for declared in fields(settings)
    }


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
    declared = {known.name: known for known in fields(settings)}
    for key in raw:
        if key not in declared:
            raise BadInputError(f"{origin}: unknown key {key!r}; did you mean {nearest(key, list(declared))!r}?")
    return Sourced(
        {key: declared[key].metadata["kind"].read(value, places[key]) for key, value in raw.items()}, dict(places)
    )


def parse_flags(flags: Mapping[str, Any], settings: type) -> Sourced:
    """Parse the flags of a group of settings; ignore those of other groups."""
    declared = {known.name: known.metadata["flag"] for known in fields(settings)}
    known = {name: raw for name, raw in flags.items() if name in declared}
    return parse_settings(known, settings, {name: declared[name] for name in known}, "flags")


def parse_file(group: str, name: str, settings: type) -> Sourced:
    """Parse a TOML file of the group `profiles` or `runs`, by shipped name or by path."""
    path = _find(group, name)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: not valid TOML: {error}; fix it there") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    return parse_settings(content, settings, {key: f"{path}: {key}" for key in content}, str(path))


def shipped(group: str) -> dict[str, str]:
    """Return the shipped `profiles` or `runs` by name, each with its purpose, the first line of the file."""
    paths = sorted((resources.folder("configs") / group).glob("*.toml"))
    return {path.stem: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in paths}


def _find(group: str, name: str) -> Path:
    known = list(shipped(group))
    if name in known:
        return resources.folder("configs") / group / f"{name}.toml"
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return path
    kind = group.removesuffix("s")
    raise BadInputError(
        f"--{kind}: no {kind} {name!r} (did you mean {nearest(name, known)!r}?); "
        f"give one of {', '.join(known)}, or the path of a .toml file"
    )
