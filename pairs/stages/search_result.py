"""Takes the rate of a benchmark from what a search found: a share of the highest load that was sustained."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pairs.config.profile import Profile, load_profile
from pairs.config.run_settings import RunSettings
from pairs.config.values import show_fraction
from pairs.core.errors import BadInputError
from pairs.measure.recordings import Recorded, read_run
from pairs.measure.search_policy import highest
from pairs.stages.search_session import SEARCH_FILE, SearchManifest, outcome_of, runs_in, search_folder
from pairs.translator import targets

SEARCHED_PROFILE = "sprint"  # the profile of a search, if none is given
_TAKEN = {"scale_factor": "--sf", "basis_rate": "--basis-rate", "market_rate": "--market-rate"}


@dataclass(frozen=True)
class SustainedLoad:
    """The highest load that an engine sustained in a search."""

    folder: Path
    scale_factor: int
    ticks_per_second: Fraction  # basis rate, of wall time


def sustained_load(folder: Path) -> SustainedLoad:
    """Return the highest load of a search; refuse a folder without one."""
    file = folder / SEARCH_FILE
    if not file.is_file():
        raise BadInputError(
            f"{folder}: is not a search; make one with 'pairs search', or give its folder with --search"
        )
    limit_s = SearchManifest.read(file).limit_s
    runs = [read_run(run) for run in runs_in(folder)]
    top = highest([outcome_of(recorded, limit_s) for recorded in runs])
    if top is None:
        remedy = "search with a lower rate, or give --sf and --basis-rate"
        raise BadInputError(f"{folder}: no scale factor was sustained in this search; {remedy}")
    return SustainedLoad(folder, top, next(_basis_rate(found) for found in runs if found.scale_factor == top))


def _basis_rate(recorded: Recorded) -> Fraction:
    """Return the basis rate of a scored and paced run of a generated market, in ticks per wall second."""
    workload, speed = recorded.workload, recorded.speed
    if workload is None or speed is None:
        raise BadInputError(f"{recorded.run.path}: its rate is not known; remove it from the search")
    return workload.basis_rate * _exact(speed)


def profile_at(
    profile: str, flags: Mapping[str, Any], settings: RunSettings, share: Fraction, folder: Path | None
) -> tuple[Profile, SustainedLoad]:
    """Return a profile with the scale factor of a search and a share of its load, and that load."""
    for name, flag in _TAKEN.items():
        if name in flags:
            raise BadInputError(f"{flag}: --at takes scale factor and rate from a search; leave one of the two out")
    _, plan = targets.find_for(settings)
    load = sustained_load(folder or search_folder(SEARCHED_PROFILE, settings.target, plan))
    plain = load_profile(profile, flags)
    if any(phase.rate.value and not phase.rate.is_share for phase in plain.workload.phases):
        raise BadInputError("--at: phases of the profile have fixed rates; give shares of the basis rate such as 100%")
    speed = settings.speed if isinstance(settings.speed, float) else plain.speed
    basis_rate = share * load.ticks_per_second / _exact(speed)
    taken = {"scale_factor": str(load.scale_factor), "basis_rate": show_fraction(basis_rate)}
    chosen = load_profile(profile, {**flags, **taken})
    return replace(chosen, name=f"{chosen.name}-at-{float(share * 100):g}"), load


def _exact(speed: float) -> Fraction:
    """Return a speed as it is written, without the digits that binary numbers add."""
    return Fraction(str(speed))
