"""Estimates the size of a workload before it is generated, from formulas and a drawn sample."""

import os
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from pairs.config.workload import Workload
from pairs.core.files import temporary_folder
from pairs.core.progress import waiting
from pairs.dataset.formats import FORMATS
from pairs.generator.arrivals import Timeline, ticks_per_slice
from pairs.generator.ticks import TickSource
from pairs.generator.virtual import recipe
from pairs.model.strategy import NUMBERS_OF_PERIODS, PERIOD_LENGTHS_S

_SAMPLE_TICKS = 1_000_000
_MOST_SLICES = 50_000  # whose ticks are counted, which takes a second or two; more than at SF 1,000
_MOST_SYMBOLS = 20_000  # in the market that the sample is drawn from, as at SF 2,000
_DRAWN_PER_SYMBOL = 3  # values in a slice beyond its ticks
_HIGHEST_RATE = 1_000_000  # of that market, ticks per second
_ORDERS_PER_INDICATOR = 0.08  # 0.067 at standard SF 1, 0.082 at SF 10


@dataclass(frozen=True)
class Estimate:
    """Sizes of a workload: ticks are exact unless there are very many, the rest are expected values."""

    ticks: int
    exact: bool
    bytes: int
    indicators: int
    orders: int
    seconds: float
    cores: int


@waiting("drawing a sample")
def estimate(workload: Workload, suffix: str) -> Estimate:
    """Draw and write a sample from the middle of the day, and scale its size and time to the whole."""
    timeline = Timeline(workload)
    exact = timeline.slices <= _MOST_SLICES
    ticks = timeline.ticks if exact else int(timeline.curve.mass(np.array([float(workload.duration)]))[0]) + 1
    small = _bounded(workload)
    tick_bytes, tick_seconds = _measure_sample(small, suffix)
    seconds = tick_seconds * _work(workload) / _work(small) * ticks
    cores = os.cpu_count() or 1
    indicators = expected_indicators(workload)
    orders = int(indicators * _ORDERS_PER_INDICATOR)
    return Estimate(ticks, exact, int(tick_bytes * ticks), indicators, orders, seconds / cores, cores)


def _bounded(workload: Workload) -> Workload:
    """Return a workload of bounded size with ticks that are alike; most workloads are of such a size."""
    symbols = min(workload.symbols, _MOST_SYMBOLS)
    share = Fraction(symbols, workload.symbols)
    return replace(
        workload,
        scale_factor=max(1, int(workload.scale_factor * share)),
        symbols=symbols,
        correlations=max(1, int(workload.correlations * share)),
        basis_rate=min(workload.basis_rate * share, Fraction(_HIGHEST_RATE)),
    )


def _measure_sample(workload: Workload, suffix: str) -> tuple[float, float]:
    """Return bytes and seconds of a tick."""
    source = TickSource(workload)
    ticks = source.timeline.ticks
    sample = min(ticks, _SAMPLE_TICKS)
    first = (ticks - sample) // 2
    with temporary_folder() as folder:
        file = folder / "sample"
        started = time.perf_counter()
        with FORMATS[suffix].writer(file, recipe(workload, first, first + sample)) as target:
            for piece, _ in source.draw(first, first + sample):
                target.write(piece)
        return file.stat().st_size / sample, (time.perf_counter() - started) / sample


def _work(workload: Workload) -> float:
    """Return roughly how many values are drawn for a tick: every slice draws some for each symbol, traded or not."""
    return 1 + _DRAWN_PER_SYMBOL * workload.symbols / ticks_per_slice(workload.symbols)


def expected_indicators(workload: Workload) -> int:
    """Return the windows of an average strategy after its warm-up, times the strategies."""
    windows = [
        max(0, int(_filled_windows(workload, length)) - periods + 1)
        for length in PERIOD_LENGTHS_S
        for periods in NUMBERS_OF_PERIODS
    ]
    return round(workload.strategies * sum(windows) / len(windows))


def _filled_windows(workload: Workload, seconds: int) -> float:
    """Return roughly how many windows of a length have trades of both symbols, which trade in a cycle."""
    begin, windows = 0, 0.0
    for until, factor in workload.steps or [(workload.duration, Fraction(1))]:
        filled = min(1.0, float(factor * workload.basis_rate) * seconds / workload.symbols) ** 2
        windows += (until - begin) / (1000 * seconds) * filled
        begin = until
    return windows
