"""Why runs should not be compared, or only with care."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from rich.filesize import decimal

from pairs.measure.recordings import Recorded

KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True)
class Compared:
    """A run under the name it has in the comparison."""

    name: str
    recorded: Recorded

    @property
    def engine(self) -> str:
        """Its target and plan."""
        settings = self.recorded.manifest.settings
        return f"{settings.target}, {settings.plan}"


@dataclass(frozen=True)
class Caution:
    """Why two or more runs should not be compared (`bad`), or only with care (`note`)."""

    level: str
    sentence: str


def cautions(runs: Sequence[Compared]) -> list[Caution]:
    """Return why these runs should not be compared; nothing if they may."""
    return [*_void(runs), *_machines(runs), *_markets(runs), *_speeds(runs), *_standard(runs), *_versions(runs)]


def _void(runs: Sequence[Compared]) -> Iterator[Caution]:
    for run in runs:
        score = run.recorded.score
        if score is None:
            yield Caution("bad", f"{run.name} was not scored.")
        elif not score.valid:
            yield Caution("bad", f"{run.name} is void: {'; '.join(score.reasons)}. Its number means nothing.")


def _machines(runs: Sequence[Compared]) -> Iterator[Caution]:
    groups = _grouped(runs, _machine)
    if len(groups) > 1:
        told = "; ".join(f"{_names(found)} on {machine}" for machine, found in groups.items())
        yield Caution("bad", f"Different machines: {told}. Latencies of different machines say nothing about engines.")


def _machine(run: Compared) -> str:
    found = run.recorded.manifest.environment
    return f"{found.processor}, {found.cores or '?'} cores, {decimal(found.memory_bytes)}"


def _markets(runs: Sequence[Compared]) -> Iterator[Caution]:
    for scale_factor, found in _grouped(runs, lambda run: run.recorded.scale_factor).items():
        if len({_digests(run) for run in found}) > 1:
            yield Caution(
                "bad",
                f"{_names(found)} have the same scale factor, {scale_factor}, but not the same market or strategies: "
                "their digests differ. They had different work to do.",
            )


def _digests(run: Compared) -> tuple[str | None, str]:
    known = run.recorded.dataset_manifest
    return None if known is None else known.digest, run.recorded.manifest.strategies_digest


def _speeds(runs: Sequence[Compared]) -> Iterator[Caution]:
    groups = _grouped(runs, lambda run: (run.recorded.manifest.speed, run.recorded.manifest.duration_ms))
    if len(groups) > 1:
        told = "; ".join(
            f"{_names(found)} replayed {duration_ms / 60_000:g} min "
            + ("unpaced" if speed is None else f"at speed {speed:g}")
            for (speed, duration_ms), found in groups.items()
        )
        yield Caution("bad", f"Different speed or length: {told}.")


def _standard(runs: Sequence[Compared]) -> Iterator[Caution]:
    scored = [run for run in runs if run.recorded.score is not None]
    other = [run for run in scored if run.recorded.score is not None and not run.recorded.score.standard]
    if other and len(other) < len(scored):
        yield Caution("bad", f"Not standard, unlike the others: {_names(other)}. Such scores are not comparable.")
    elif other:
        yield Caution("note", "None of these runs is standard, so none compares with the published engines X and Y.")


def _versions(runs: Sequence[Compared]) -> Iterator[Caution]:
    if len({run.recorded.manifest.kit_version for run in runs}) > 1:
        yield Caution("note", "The runs were made by different versions of the kit, which may measure differently.")
    for first, second in combinations(runs, 2):
        if first.recorded.run.path.absolute() == second.recorded.run.path.absolute():
            yield Caution("note", f"{first.name} is given twice.")


def _grouped(runs: Sequence[Compared], key: Callable[[Compared], KeyT]) -> dict[KeyT, list[Compared]]:
    groups: dict[KeyT, list[Compared]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def _names(runs: Sequence[Compared]) -> str:
    return ", ".join(run.name for run in runs)
