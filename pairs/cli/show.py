"""pairs show: parameters, rate and prices over time, first ticks."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from pairs.cli.options import DatasetArgument
from pairs.core.errors import one_line
from pairs.core.units import show_duration
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import DatasetManifest
from pairs.model.strategy_xml import scan

if TYPE_CHECKING:
    from pairs.dataset.overview import Overview

_BARS = "▁▂▃▄▅▆▇█"


def show(dataset: DatasetArgument) -> None:
    """Show a dataset: its parameters and digest, its rate over time, its first trades, a pair's prices."""
    from pairs.dataset.overview import survey
    from pairs.generator import virtual  # noqa: F401 - registers the format

    chosen = Dataset(dataset)
    found = survey(chosen)
    console = Console(soft_wrap=True, markup=False)
    console.print(_parameters(chosen, chosen.manifest), "", sep="\n")
    console.print(_charts(chosen.manifest, found), "", _ticks(found.first), sep="\n")


def _sparkline(values: NDArray[Any], low: float, high: float) -> str:
    """Draw values as a line of bars; missing values are blank."""
    span = (high - low) or 1.0
    steps = np.nan_to_num(np.clip((values - low) / span * len(_BARS), 0, len(_BARS) - 1), nan=-1).astype(int)
    return "".join(" " if step < 0 else _BARS[step] for step in steps)


def _parameters(dataset: Dataset, manifest: DatasetManifest) -> Table:
    counts, workload = manifest.counts, manifest.workload
    start, end = (show_duration(time) for time in manifest.measurement_interval_ms)
    table = Table(Column(style="bold"), Column(overflow="fold"), box=None, show_header=False, pad_edge=False)
    table.add_row("dataset", str(dataset.path))
    table.add_row("profile", f"{manifest.profile}, scale factor {workload.scale_factor}, seed {workload.seed}")
    standard = "yes" if manifest.standard else f"no, because of {', '.join(manifest.nonstandard)}"
    table.add_row("standard", standard)
    table.add_row("ticks", f"{counts.ticks:,} in {show_duration(manifest.duration_ms)}, measured from {start} to {end}")
    table.add_row("basis rate", f"{manifest.basis_rate_per_second:,.6g} ticks per simulated second")
    table.add_row("market", f"{counts.markets:,} with {counts.symbols:,} symbols, {counts.correlations:,} pairs")
    table.add_row("strategies", _strategies(dataset, manifest))
    table.add_row("files", f"{len(manifest.files):,} {manifest.format}, {decimal(manifest.bytes)}")
    table.add_row("digest", manifest.digest)
    return table


def _strategies(dataset: Dataset, manifest: DatasetManifest) -> str:
    """Describe strategies.xml as it is, and the strategies that belong to the dataset where it has others."""
    file, belonging = dataset.strategies_file, f"{manifest.counts.strategies:,} of {manifest.counts.users:,} users"
    if not file.is_file():
        return f"none yet, {belonging} belong to the dataset; make them with 'pairs strategies {dataset.path}'"
    found, problems = scan(file, last_ts=dataset.last_ts())
    if found is None:
        return f"not valid: line {problems[0].line}: {one_line(problems[0].text)}"
    users = len({strategy.user for strategy in found.strategies} - {None})
    there = f"{len(found.strategies):,}" + (f" of {users:,} users" if users else "")
    return there if there == belonging else f"{there} in {file.name}, {belonging} belong to the dataset"


def _charts(manifest: DatasetManifest, overview: "Overview") -> Table:
    seconds = manifest.duration_ms / 1000 / len(overview.counts)
    table = Table(Column(style="bold"), Column(no_wrap=True), box=None, show_header=False, pad_edge=False)
    peak = overview.counts.max()
    table.add_row("ticks/s", _sparkline(overview.counts, 0, peak), f"0 to {peak / seconds:,.0f}")
    for symbol, cents in overview.prices.items():
        if np.isnan(cents).all():
            continue
        low, high = np.nanmin(cents), np.nanmax(cents)
        table.add_row(symbol, _sparkline(cents, low, high), f"{low / 100:,.2f} to {high / 100:,.2f}")
    return table


def _ticks(first: list[dict[str, Any]]) -> Table:
    numbers = [Column(name, justify="right") for name in ("price", "size", "tickTS")]
    table = Table("symbol", *numbers, box=None, pad_edge=False)
    for tick in first:
        table.add_row(tick["symbol"], f"{tick['price']:,}", f"{tick['size']:,}", f"{tick['tickTS']:,}")
    return table
