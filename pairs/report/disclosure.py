"""All that one needs to repeat a run, or to doubt it."""

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
    environment = manifest.environment.model_dump()
    machine = environment | {"memory_bytes": decimal(manifest.environment.memory_bytes)}
    run: dict[str, Any] = {
        "state": manifest.state,
        "reason": manifest.reason or "none",
        "seconds with the start of the engine": None if manifest.seconds is None else f"{manifest.seconds:.1f}",
        "first tick due, µs since 1970": manifest.start_us,
        "exit code": manifest.exit_codes,
        "kit version": manifest.kit_version,
        "folder": str(recorded.run.path.absolute()),
    }
    market: dict[str, Any] = {"folder": str(recorded.dataset.path), "ticks": manifest.ticks}
    digests = {"strategies": manifest.strategies_digest}
    if known is not None:
        market |= {"profile": known.profile, **known.parameters, "count of": known.counts.model_dump()}
        digests |= {"dataset": known.digest, "pairs (correlations.csv)": known.correlations_digest}
    return [
        Group("How it was run", [*flattened(manifest.settings.as_plain()), *flattened(run)]),
        Group("The market", list(flattened(market))),
        Group("The engine", [*flattened(manifest.engine_versions, "version of "), *_engine_settings(recorded)]),
        Group("Digests", list(flattened(digests))),
        Group("Machine and versions", list(flattened(machine))),
    ]


def _engine_settings(recorded: Recorded) -> list[tuple[str, str]]:
    """Return the settings that were in effect in the engine, also those that nobody had set."""
    return sorted(recorded.engine_settings.items()) or [("effective settings", "not recorded")]
