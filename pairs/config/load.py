"""The configuration: profiles (the workload) and run files (how it is executed), merged with the flags."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pairs.config.faults import FaultSpec
from pairs.config.values import Kind, nearest, pace, text, time_span, whole
from pairs.config.workload import Workload, complete, default_of, setting
from pairs.core import resources
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset

DEFAULT_MASTER = "local[*,4]"  # all cores of this machine; a task that fails is tried up to four times


def _settings_kind() -> Kind:
    """Accept a table of engine settings: names to plain values, kept as text."""

    def parse(raw: Any) -> dict[str, str]:
        if isinstance(raw, list):  # flags, each KEY=VALUE; unpacking raises ValueError where there is no '='
            raw = dict(one.split("=", 1) for one in raw)
        if not isinstance(raw, Mapping) or any(isinstance(value, dict | list) for value in raw.values()):
            raise ValueError
        return {str(name): str(value).lower() if isinstance(value, bool) else str(value) for name, value in raw.items()}

    return Kind("KEY=VALUE", "settings by name, such as spark.sql.shuffle.partitions=2", parse)


def _faults_kind() -> Kind:
    """Accept faults, each written KIND@TIME."""

    def parse(raw: Any) -> tuple[FaultSpec, ...]:
        if not isinstance(raw, list | tuple) or not all(isinstance(fault, str) for fault in raw):
            raise ValueError
        return tuple(sorted(map(FaultSpec.parse, raw)))

    def show(faults: tuple[FaultSpec, ...]) -> Any:
        return [str(fault) for fault in faults]

    return Kind("KIND@TIME", "a fault and its simulated time such as kill@30m or kill@90s", parse, show)


@dataclass(frozen=True)
class RunSettings:
    """How a workload is executed: which engine, which plan, at what pace, with which engine settings."""

    target: str = setting(text("NAME"), "--target", "Engine to run.", "pyspark")
    plan: str | None = setting(
        text("NAME"), "--plan", "How the target lays out its work; default: the target's first plan."
    )
    speed: float | str = setting(
        pace(), "--speed", "Simulated seconds per wall second, or max for unpaced; default: the profile's."
    )
    drivers: int = setting(whole(1, 16), "--drivers", "Processes that send the ticks.", 1)
    master: str = setting(
        text("URL"), "--master", "Spark master of the kit's own jobs; the engine's is --set master=URL.", DEFAULT_MASTER
    )
    stall_timeout: int = setting(
        time_span(), "--stall-timeout", "End the run as failed if the engine consumes no tick for so long.", 60_000
    )
    max_behind: int = setting(
        time_span(), "--max-behind", "End the run as overloaded if the engine is so far behind the drivers.", 120_000
    )
    faults: tuple[FaultSpec, ...] = setting(
        _faults_kind(),
        "--fault",
        "A fault at a simulated time, such as kill@30m: the engine is killed and started again; repeatable.",
        (),
    )
    settings: dict[str, str] = setting(_settings_kind(), "--set", "An engine setting; repeatable.", {})

    def as_plain(self) -> dict[str, Any]:
        """Return every setting as TOML or JSON would hold it."""
        return {one.name: one.metadata["kind"].show(getattr(self, one.name)) for one in fields(self)}


@dataclass(frozen=True)
class Sourced:
    """Values by setting name, and for each the place it came from, for error messages."""

    values: dict[str, Any]
    places: dict[str, str]

    def under(self, other: "Sourced") -> "Sourced":
        """Return these values overridden by another source's."""
        return Sourced(self.values | other.values, self.places | other.places)


def load_workload(profile: str, flags: Mapping[str, Any]) -> Workload:
    """Read a profile, by shipped name or by path, override it with flags and check the whole."""
    sourced = _read_file("profiles", profile, Workload).under(_read_flags(flags, Workload))
    return complete(sourced.values, sourced.places)


def load_run(run: str, flags: Mapping[str, Any], speed: float | str) -> RunSettings:
    """Read a run file, by shipped name or by path, and override it with flags; `speed` is the profile's own."""
    defaults = {one.name: default_of(one) for one in fields(RunSettings)} | {"speed": speed}
    sourced = _read_file("runs", run, RunSettings).under(_read_flags(flags, RunSettings))
    return RunSettings(**defaults | sourced.values)


def natural_speed(path: Path) -> float:
    """Return the speed that the profile of a dataset is made for; 1 if the dataset does not say."""
    dataset = Dataset(path)
    if not dataset.facts_file.is_file():
        return 1.0
    return float(workload_from_plain(dataset.facts()["parameters"], str(dataset.facts_file)).speed)


def shipped(group: str) -> list[str]:
    """Return the names of the shipped `profiles` or `runs`."""
    return sorted(path.stem for path in (resources.folder("configs") / group).glob("*.toml"))


def first_comment(group: str, name: str) -> str:
    """Return the line a shipped configuration opens with: what it is for."""
    return (resources.folder("configs") / group / f"{name}.toml").read_text().splitlines()[0].lstrip("# ")


def workload_from_plain(values: Mapping[str, Any], place: str) -> Workload:
    """Read back what `Workload.as_plain` gave."""
    sourced = _parse_all(values, Workload, {key: f"{place}: {key}" for key in values}, place)
    return complete(sourced.values, sourced.places)


def _read_flags(flags: Mapping[str, Any], settings: type) -> Sourced:
    """Parse the flags that this group of settings knows; others belong to another group."""
    declared = {one.name: one for one in fields(settings)}
    known = {name: raw for name, raw in flags.items() if name in declared}
    return _parse_all(known, settings, {name: declared[name].metadata["flag"] for name in known}, "flags")


def _read_file(group: str, name: str, settings: type) -> Sourced:
    path = _find(group, name)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: not valid TOML: {error}; mend it there") from None
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    return _parse_all(content, settings, {key: f"{path}: {key}" for key in content}, str(path))


def _find(group: str, name: str) -> Path:
    """Find a configuration: a shipped one by its bare name, any other by its path."""
    if name in shipped(group):
        return resources.folder("configs") / group / f"{name}.toml"
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return path
    known = shipped(group)
    raise BadInputError(
        f"--{group.removesuffix('s')}: no {group.removesuffix('s')} {name!r} (did you mean {nearest(name, known)!r}?); "
        f"give one of {', '.join(known)}, or the path of a .toml file"
    )


def _parse_all(raw: Mapping[str, Any], settings: type, places: Mapping[str, str], origin: str) -> Sourced:
    declared = {one.name: one for one in fields(settings)}
    for key in raw:
        if key not in declared:
            raise BadInputError(f"{origin}: unknown key {key!r}; did you mean {nearest(key, list(declared))!r}?")
    return Sourced(
        {key: declared[key].metadata["kind"].read(value, places[key]) for key, value in raw.items()}, dict(places)
    )
