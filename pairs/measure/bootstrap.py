"""How certain a 99th percentile is: a bootstrap that draws whole triggers, as their orders are late together."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairs.measure.reduce import Floats, Wholes

_SHARE = 0.99
_CONFIDENCE = 0.95
_RESAMPLES = 2_000
_SEED = 20_260_101
_TOP = 0.06  # share of the latencies that is looked at first: the 99th percentile of a resample is nearly always there
_CELLS = 4_000_000  # of a matrix of resamples by latencies, 32 MB


def p99_interval(latencies_s: Floats, triggers: Wholes) -> tuple[float, float] | None:
    """Return the 95 % interval of the 99th percentile; None if there are fewer than two triggers.

    Each resample draws as many triggers as there are, with replacement, each with all its latencies.
    """
    _, trigger = np.unique(triggers, return_inverse=True)
    count = int(trigger.max(initial=-1)) + 1
    if count < 2:
        return None
    found = np.concatenate(list(_resampled(latencies_s, trigger, count)))
    low, high = np.quantile(found, ((1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2), method="inverted_cdf")
    return float(low), float(high)


def _resampled(latencies_s: Floats, trigger: Wholes, count: int) -> Iterator[Floats]:
    """Yield the 99th percentile of resamples, some at a time."""
    order = np.argsort(-latencies_s, kind="stable")
    ranked, of_trigger = latencies_s[order], trigger[order]
    sizes = np.bincount(trigger, minlength=count)
    top = min(max(int(_TOP * len(ranked)), 1_000), len(ranked))
    random = np.random.default_rng(_SEED)
    at_a_time = max(_CELLS // max(top, count), 1)
    for first in range(0, _RESAMPLES, at_a_time):
        rows = min(at_a_time, _RESAMPLES - first)
        drawn = random.multinomial(count, np.full(count, 1 / count), size=rows)
        yield _percentiles(ranked, of_trigger, top, drawn, drawn @ sizes)


def _percentiles(
    ranked: Floats, of_trigger: Wholes, top: int, drawn: NDArray[np.int64], totals: NDArray[np.int64]
) -> Floats:
    """Return nearest-rank percentiles of latencies in falling order, each as often as its trigger was drawn."""
    rank = np.ceil(_SHARE * totals - 1e-9).astype(np.int64)
    beyond = totals - rank  # so many are greater than the percentile, or equal to it
    reached = np.cumsum(drawn[:, of_trigger[:top]], axis=1) > beyond[:, None]
    place = np.argmax(reached, axis=1)
    found: Floats = ranked[place]
    for row in np.flatnonzero(~reached[:, -1]).tolist():  # the top was not enough
        found[row] = ranked[int(np.argmax(np.cumsum(drawn[row, of_trigger]) > beyond[row]))]
    return found
