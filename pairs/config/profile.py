"""A profile: a workload and its recommended speed, which a run may override."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairs.config.settings import declared_in, parse_file, parse_flags, setting
from pairs.config.values import SPEEDS
from pairs.config.workload import Workload, complete


@dataclass(frozen=True)
class _ProfileFile(Workload):
    """The settings in a profile's file: those of the workload and the recommended speed."""

    speed: float = setting(SPEEDS, "--speed", "Recommended speed, simulated seconds per wall second.", 1.0)


@dataclass(frozen=True)
class Profile:
    """A named workload with its recommended speed."""

    name: str
    workload: Workload
    speed: float = 1.0  # simulated seconds per wall second


def load_profile(profile: str, flags: Mapping[str, Any]) -> Profile:
    """Read a profile, by shipped name or by path, override its workload with flags, and check the whole."""
    sourced = parse_file("profiles", profile, _ProfileFile).under(parse_flags(flags, Workload))
    known = declared_in(Workload)
    workload = complete({name: value for name, value in sourced.values.items() if name in known}, sourced.places)
    return Profile(Path(profile).stem, workload, sourced.values.get("speed", 1.0))
