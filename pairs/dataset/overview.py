"""An overview of a dataset for people: one pass over its ticks, drawn as text."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table

from pairs.core.progress import Progress
from pairs.core.units import show_duration
from pairs.dataset.folder import Dataset
from pairs.dataset.reader import read_ticks

_BARS = "▁▂▃▄▅▆▇█"
_SLOTS = 48
_FIRST_TICKS = 5


@dataclass
class Overview:
    """What one pass over the ticks gathers: ticks per slot of time, a pair's last price per slot, the first rows."""

    counts: NDArray[np.int64]
    prices: dict[str, NDArray[np.float64]]
    first: list[dict[str, Any]]


def overview(dataset: Dataset) -> RenderableType:
    """Return everything `pairs show` prints."""
    facts = dataset.facts()
    pair = dataset.correlations()[0]
    seen = survey(dataset, facts, [pair.symbol1, pair.symbol2])
    return Group(facts_table(dataset, facts), "", chart_table(facts, seen), "", ticks_table(seen.first))


def survey(dataset: Dataset, facts: dict[str, Any], pair: list[str]) -> Overview:
    """Read all ticks once."""
    seen = Overview(np.zeros(_SLOTS, np.int64), {symbol: np.full(_SLOTS, np.nan) for symbol in pair}, [])
    duration, done = facts["duration_ms"], 0
    with Progress("reading", facts["counts"]["ticks"], "ticks") as progress:
        for file in dataset.tick_files():
            for batch in read_ticks(file):
                if len(seen.first) < _FIRST_TICKS:
                    seen.first += batch.slice(0, _FIRST_TICKS - len(seen.first)).to_pylist()
                _add(seen, batch, duration)
                done += len(batch)
                progress.set(done)
    return seen


def _add(seen: Overview, batch: pa.RecordBatch, duration: int) -> None:
    times = batch["tickTS"].to_numpy()
    slots = np.minimum(times * _SLOTS // duration, _SLOTS - 1)
    seen.counts += np.bincount(slots, minlength=_SLOTS)
    for symbol, prices in seen.prices.items():
        mine = pc.equal(batch["symbol"], symbol).to_numpy(zero_copy_only=False)
        prices[slots[mine]] = batch["price"].to_numpy()[mine]  # of equal slots the last one stays


def sparkline(values: NDArray[Any], low: float, high: float) -> str:
    """Draw values as a line of bars; what is missing stays blank."""
    span = (high - low) or 1.0
    steps = np.nan_to_num(np.clip((values - low) / span * len(_BARS), 0, len(_BARS) - 1), nan=-1).astype(int)
    return "".join(" " if step < 0 else _BARS[step] for step in steps)


def facts_table(dataset: Dataset, facts: dict[str, Any]) -> Table:
    """Return the parameters and counts."""
    counts, parameters = facts["counts"], facts["parameters"]
    start, end = (show_duration(one) for one in facts["measurement_interval_ms"])
    size = sum(one["bytes"] for one in facts["files"])
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("dataset", str(dataset.path))
    table.add_row("profile", f"{facts['profile']}, scale factor {parameters['scale_factor']}, seed {facts['seed']}")
    standard = "yes" if facts["standard"] else f"no, because of {', '.join(facts['nonstandard'])}"
    table.add_row("standard", standard)
    table.add_row("ticks", f"{counts['ticks']:,} in {parameters['duration']}, measured from {start} to {end}")
    table.add_row("basis rate", f"{facts['basis_rate_per_second']:,.6g} ticks per simulated second")
    table.add_row(
        "market", f"{counts['markets']:,} with {counts['symbols']:,} symbols, {counts['correlations']:,} pairs"
    )
    table.add_row("demand", f"{counts['strategies']:,} strategies of {counts['users']:,} users")
    table.add_row("files", f"{len(facts['files']):,} {facts['format']}, {show_bytes(size)}")
    table.add_row("digest", facts["digest"])
    return table


def chart_table(facts: dict[str, Any], seen: Overview) -> Table:
    """Return rate and prices over time."""
    seconds = facts["duration_ms"] / 1000 / _SLOTS
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(no_wrap=True)
    table.add_column()
    peak = seen.counts.max()
    table.add_row("ticks/s", sparkline(seen.counts, 0, peak), f"0 to {peak / seconds:,.0f}")
    for symbol, cents in seen.prices.items():
        if np.isnan(cents).all():
            continue
        low, high = np.nanmin(cents), np.nanmax(cents)
        table.add_row(symbol, sparkline(cents, low, high), f"{low / 100:,.2f} to {high / 100:,.2f}")
    return table


def ticks_table(first: list[dict[str, Any]]) -> Table:
    """Return the first ticks, row by row."""
    table = Table(box=None, pad_edge=False)
    table.add_column("symbol")
    for name in ("price", "size", "tickTS"):
        table.add_column(name, justify="right")
    for tick in first:
        table.add_row(tick["symbol"], f"{tick['price']:,}", f"{tick['size']:,}", f"{tick['tickTS']:,}")
    return table


def show_bytes(size: float) -> str:
    """Write a number of bytes the way people read it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
