"""An overview of a dataset: one pass over its ticks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pairs.core.progress import Progress
from pairs.dataset.folder import Dataset
from pairs.dataset.reader import read_ticks

_SLOTS = 48
_FIRST_TICKS = 5


@dataclass
class Overview:
    """Ticks per slot of time, a pair's last price per slot, the first rows."""

    counts: NDArray[np.int64]
    prices: dict[str, NDArray[np.float64]]
    first: list[dict[str, Any]]


def survey(dataset: Dataset) -> Overview:
    """Read all ticks once; prices are those of the first pair."""
    manifest, pair = dataset.manifest, dataset.correlations()[0]
    prices = {symbol: np.full(_SLOTS, np.nan) for symbol in (pair.symbol1, pair.symbol2)}
    seen = Overview(np.zeros(_SLOTS, np.int64), prices, [])
    duration, done = manifest.duration_ms, 0
    with Progress("reading", manifest.counts.ticks, "ticks") as progress:
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
