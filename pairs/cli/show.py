"""pairs show: parameters, rate and prices over time, first ticks."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.filesize import decimal

from pairs.cli.layout import plain, print_definitions, print_table, width
from pairs.cli.options import DatasetArgument
from pairs.core.errors import one_line
from pairs.core.units import counted, show_duration
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import DatasetManifest
from pairs.model.strategy_xml import scan

if TYPE_CHECKING:
    from pairs.dataset.overview import Overview

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
_MOST_BARS = 48


def show(dataset: DatasetArgument) -> None:
    """Show a dataset: its parameters and digest, its rate and a pair's prices over time, its first ticks."""
    from pairs.dataset.overview import survey
    from pairs.generator import virtual  # noqa: F401 - registers the format

    chosen = Dataset(dataset)
    found = survey(chosen, min(_MOST_BARS, width()))
    print_definitions(list(_parameters(chosen, chosen.manifest).items()))
    print()
    _print_charts(chosen.manifest, found)
    print()
    _print_ticks(found.first)


def _parameters(dataset: Dataset, manifest: DatasetManifest) -> dict[str, str]:
    counts, workload = manifest.counts, manifest.workload
    start, end = (show_duration(time) for time in manifest.measurement_interval_ms)
    symbols, pairs = counted(counts.symbols, "symbol"), counted(counts.correlations, "pair")
    return {
        "dataset": str(dataset.path),
        "profile": f"{manifest.profile}, scale factor {workload.scale_factor}, seed {workload.seed}",
        "standard": "yes" if manifest.standard else f"no, because of {', '.join(manifest.nonstandard)}",
        "ticks": f"{counts.ticks:,} in {show_duration(manifest.duration_ms)}, measured from {start} to {end}",
        "basis rate": f"{manifest.basis_rate_per_second:,.6g} ticks per simulated second",
        "market": f"{counts.markets:,} with {symbols}, {pairs}",
        "strategies": _strategies(dataset, manifest),
        "files": f"{len(manifest.files):,} {manifest.format}, {decimal(manifest.bytes)}",
        "digest": manifest.digest,
    }


def _strategies(dataset: Dataset, manifest: DatasetManifest) -> str:
    """Describe strategies.xml as it is, and the strategies that belong to the dataset where it has others."""
    file, counts = dataset.strategies_file, manifest.counts
    belonging = f"{counts.strategies:,} of {counted(counts.users, 'user')}"
    if not file.is_file():
        return f"none yet, {belonging} belong to the dataset; make them with 'pairs strategies {dataset.path}'"
    found, problems = scan(file, last_ts=dataset.last_ts())
    if found is None:
        return f"not valid: line {problems[0].line}: {one_line(problems[0].text)}"
    users = len({strategy.user for strategy in found.strategies} - {None})
    there = f"{len(found.strategies):,}" + (f" of {counted(users, 'user')}" if users else "")
    return there if there == belonging else f"{there} in {file.name}, {belonging} belong to the dataset"


def _print_charts(manifest: DatasetManifest, overview: "Overview") -> None:
    """Print the rate and prices over time, each beside its name and range, or below them."""
    charts = list(_charts(manifest, overview))
    longest = max(len(name) for name, _, _ in charts)
    beside = max(len(f"{name:{longest}}  {bars}  {span}") for name, bars, span in charts) <= width()
    for name, bars, span in charts:
        print(f"{name:{longest}}  {bars}  {span}" if beside else f"{name:{longest}}  {span}\n{bars}")


def _charts(manifest: DatasetManifest, overview: "Overview") -> Iterator[tuple[str, str, str]]:
    seconds = manifest.duration_ms / 1000 / len(overview.counts)
    peak = overview.counts.max()
    yield "ticks/s", _sparkline(overview.counts, 0, peak), f"0 to {peak / seconds:,.0f}"
    for symbol, cents in overview.prices.items():
        if not np.isnan(cents).all():
            low, high = np.nanmin(cents), np.nanmax(cents)
            yield plain(symbol), _sparkline(cents, low, high), f"{low / 100:,.2f} to {high / 100:,.2f}"


def _sparkline(values: NDArray[Any], low: float, high: float) -> str:
    """Draw values as a line of bars; missing values are blank."""
    bars, span = _bars(), (high - low) or 1.0
    steps = np.nan_to_num(np.clip((values - low) / span * len(bars), 0, len(bars) - 1), nan=-1).astype(int)
    return "".join(" " if step < 0 else bars[step] for step in steps)


def _bars() -> str:
    """Return signs from low to high that the terminal has."""
    try:
        _BARS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return _ASCII_BARS
    return _BARS


def _print_ticks(first: list[dict[str, Any]]) -> None:
    numbers = ("price", "size", "tickTS")
    rows = [(tick["symbol"], *(f"{tick[name]:,}" for name in numbers)) for tick in first]
    print_table(("symbol", *numbers), rows, right=numbers)
