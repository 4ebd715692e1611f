"""An overview of a dataset from one pass over its ticks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from pairs.core.progress import Progress
from pairs.dataset.folder import Dataset

_FIRST_TICKS = 5


@dataclass
class Overview:
    """Ticks per slot of time, a pair's last price per slot, the first rows."""

    counts: NDArray[np.int64]
    prices: dict[str, NDArray[np.float64]]
    first: list[dict[str, Any]]


def survey(dataset: Dataset, slots_of_day: int) -> Overview:
    """Read all ticks once; prices are those of the first pair."""
    manifest, pair = dataset.manifest, dataset.correlations()[0]
    prices = {symbol: np.full(slots_of_day, np.nan) for symbol in (pair.symbol1, pair.symbol2)}
    found = Overview(np.zeros(slots_of_day, np.int64), prices, [])
    with Progress("reading", manifest.counts.ticks, "ticks") as progress:
        for batch in dataset.ticks():
            found.first += batch.slice(0, _FIRST_TICKS - len(found.first)).to_pylist()
            slots = np.minimum(batch["tickTS"].to_numpy() * slots_of_day // manifest.duration_ms, slots_of_day - 1)
            found.counts += np.bincount(slots, minlength=slots_of_day)
            for symbol, prices_of_slots in prices.items():
                rows = pc.equal(batch["symbol"], symbol).to_numpy(zero_copy_only=False)
                prices_of_slots[slots[rows]] = batch["price"].to_numpy()[rows]  # the last price of a slot stays
            progress.set(int(found.counts.sum()))
    return found
