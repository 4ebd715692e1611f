"""Records as a kit would write them, with plain values, for tests that need some."""

from typing import Any

from pairs.config.profile import load_profile
from pairs.config.run_settings import load_run
from pairs.dataset.manifest import Content, DatasetManifest, TickFileEntry, describe_generated
from pairs.model.plan import all_steps
from pairs.run_folder.records import Environment, RunManifest


def dataset_manifest(**flags: str) -> DatasetManifest:
    """Return the manifest of a quick dataset of one file."""
    files = (TickFileEntry(name="part-00000.parquet", ticks=10, bytes=1_000),)
    content = Content(format="parquet", digest="d", correlations_digest="c", files=files)
    return describe_generated(load_profile("quick", flags), content)


def run_manifest(**changes: Any) -> RunManifest:
    """Return the manifest of a paced run that ended."""
    manifest = RunManifest(
        dataset="/data/market",
        dataset_manifest=dataset_manifest(),
        strategies_digest="s",
        strategies_generated=True,
        strategies=25,
        warm_strategies=25,
        load=3.0,
        plan_class="block",
        plan_steps=dict(all_steps("block")),
        settings=load_run("local", {"target": "bare", "plan": "vectorized", "speed": "60"}),
        ticks=10,
        duration_ms=7_200_000,
        phases_ms={"ramp-up": 0, "warm-up": 60_000, "measurement": 1_800_000, "cool-down": 5_400_000},
        measurement_interval_ms=(1_800_000, 5_400_000),
        command=("pairs", "run"),
        environment=Environment(system="Linux", processor="x86", cores=2, memory_bytes=1, versions={"python": "3.11"}),
        engine_versions={},
        state="ended",
        start_us=1_700_000_000_000_000,
        seconds=120.0,
        ticks_per_second=5_000.0,
        exit_codes={"engine": 0},
    )
    return manifest.model_copy(update=changes)
