"""What the verbs of the command line do: call a stage, tell the user what came of it."""

import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pairs import config
from pairs.dataset import Dataset, new_dataset
from pairs.values import choice, show_duration, whole
from pairs.workload import Workload

_FORMATS = choice("parquet", "csv")


def generate(
    workload: Workload, profile: str, path: Path, files: str | None, suffix: str, master: str, overwrite: bool
) -> None:
    """Generate a dataset on Spark."""
    count = None if files is None else whole(1, 1_000_000).read(files, "--files")
    _FORMATS.read(suffix, "--format")
    from generator import job
    from generator.files import write_file
    from generator.ticks import TickSource
    from pairs import spark

    source = TickSource(workload)
    ranges = job.cut_into_files(source.timeline.ticks, count)
    with new_dataset(path, overwrite) as dataset, spark.session("pairs generate", master) as running:
        spark.warm_up(running, write_file)
        started = time.perf_counter()
        written = job.generate(running, source, dataset, profile, suffix, ranges)
        seconds = time.perf_counter() - started
    rows = sum(one.digest.rows for one in written)
    print(
        f"{path}: {rows:,} ticks in {seconds:.1f} s ({rows / seconds / 1e6:.2f} million/s once Spark was up), "
        f"digest {Dataset(path).facts()['digest'][:16]}"
    )


def estimate(workload: Workload, suffix: str) -> None:
    """Print what a workload amounts to."""
    _FORMATS.read(suffix, "--format")
    from generator.estimate import estimate as estimated
    from pairs.overview import show_bytes

    result = estimated(workload, suffix)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_row("ticks", f"{result.ticks:,} in {show_duration(workload.duration)}")
    table.add_row("bytes", f"about {show_bytes(result.bytes)} of {suffix}")
    table.add_row("strategies", f"{workload.strategies:,} of {workload.users:,} users")
    table.add_row("answers", f"about {result.indicators:,} indicators and {result.orders:,} orders")
    table.add_row("time", f"about {_seconds(result.seconds)} on {result.cores} cores, once Spark is up")
    standard = "yes" if not workload.nonstandard else f"no, because of {', '.join(workload.nonstandard)}"
    table.add_row("standard", standard)
    Console().print(table)


def show(path: Path) -> None:
    """Print an overview of a dataset."""
    from pairs.overview import overview

    Console(soft_wrap=True).print(overview(Dataset(path)))


def check(path: Path, master: str) -> None:
    """Compare every row of a dataset with its digest."""
    dataset = Dataset(path)
    dataset.facts()
    from pairs import spark
    from pairs.check import check as checked

    with spark.session("pairs check", master) as running:
        digest = checked(running, dataset)
    print(f"{path}: whole, digest {digest}")


def show_config(workload: Workload, run: config.RunSettings) -> None:
    """Print a resolved configuration as TOML."""
    print("\n".join([*_toml("profile", dict(workload.as_plain())), "", *_toml("run", dict(run.as_plain()))]))


def list_profiles() -> None:
    """Print the shipped configurations with their first lines."""
    table = Table(box=None, pad_edge=False)
    for heading in ("kind", "name", "what it is for"):
        table.add_column(heading)
    for group in ("profiles", "runs"):
        for name in config.shipped(group):
            table.add_row(group.removesuffix("s"), name, config.first_comment(group, name))
    Console().print(table)


def _toml(name: str, values: dict[str, Any]) -> list[str]:
    """Write a table and the tables in it; JSON's texts and numbers are TOML's too."""
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    lines = [f"[{name}]"]
    for key, value in values.items():
        if key not in tables:
            lines.append(f"{key if key.isidentifier() else json.dumps(key)} = {json.dumps(value)}")
    for key, value in tables.items():
        lines += ["", *_toml(f"{name}.{key}", value)]
    return lines


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else show_duration(round(seconds) * 1000)
