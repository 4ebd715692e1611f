"""All that is needed to repeat a run, or to doubt it."""

from dataclasses import dataclass
from typing import Any

from rich.filesize import decimal

from pairs.measure.recordings import Recorded
from pairs.report.wording import flattened


@dataclass(frozen=True)
class Group:
    """Some settings under a heading."""

    title: str
    rows: list[tuple[str, str]]


def disclosure(recorded: Recorded) -> list[Group]:
    """Return everything that is known of how a run was made."""
    manifest, known = recorded.manifest, recorded.dataset_manifest
    machine = manifest.environment.model_dump(exclude={"memory_bytes", "versions"})
    machine["memory"] = decimal(manifest.environment.memory_bytes)
    run: dict[str, Any] = {
        "state": manifest.state,
        "reason": manifest.reason or "none",
        "seconds with the start of the engine": None if manifest.seconds is None else f"{manifest.seconds:.1f}",
        "first tick due, µs since 1970": manifest.start_us,
        **{f"exit code of {part}": code for part, code in manifest.exit_codes.items()},
        "kit version": manifest.kit_version,
        "folder": str(recorded.run.path.absolute()),
    }
    market: dict[str, Any] = {"folder": str(recorded.dataset.path), "ticks": manifest.ticks}
    digests = {"strategies": manifest.strategies_digest}
    if known is not None:
        market |= {"profile": known.profile, **known.parameters}
        market |= {f"count of {name}": count for name, count in known.counts.model_dump().items()}
        digests |= {"dataset": known.digest, "pairs (correlations.csv)": known.correlations_digest}
    return [
        Group("How it was run", [*flattened(manifest.settings.as_plain()), *flattened(run)]),
        Group("The market", list(flattened(market))),
        Group("The engine", [*flattened(manifest.engine_versions, "version of "), *_engine_settings(recorded)]),
        Group("Digests", list(flattened(digests))),
        Group("Machine and versions", [*flattened(machine), *flattened(manifest.environment.versions, "version of ")]),
    ]


def _engine_settings(recorded: Recorded) -> list[tuple[str, str]]:
    """Return the settings that were in effect in the engine, also those that nobody had set."""
    return sorted(recorded.engine_settings.items()) or [("effective settings", "not recorded")]
