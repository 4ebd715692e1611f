"""Estimates the size of a workload before it is generated, from formulas and a drawn sample."""

import os
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pairs.config.workload import Workload
from pairs.core.progress import waiting
from pairs.dataset.formats import FORMATS
from pairs.generator.ticks import TickSource
from pairs.generator.virtual import recipe
from pairs.model.strategy import NUMBERS_OF_PERIODS, PERIOD_LENGTHS_S

_SAMPLE_TICKS = 1_000_000
_ORDERS_PER_INDICATOR = 0.08  # 0.067 at standard SF 1, 0.082 at SF 10


@dataclass(frozen=True)
class Estimate:
    """Sizes of a workload: ticks are exact, the rest are expected values."""

    ticks: int
    bytes: int
    indicators: int
    orders: int
    seconds: float
    cores: int


@waiting("drawing a sample")
def estimate(workload: Workload, suffix: str) -> Estimate:
    """Draw and write a sample from the middle of the day, and scale its size and time to the whole."""
    source = TickSource(workload)
    ticks = source.timeline.ticks
    sample = min(ticks, _SAMPLE_TICKS)
    first = (ticks - sample) // 2
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sample"
        started = time.perf_counter()
        with FORMATS[suffix].writer(file, recipe(workload, first, first + sample)) as target:
            for piece, _ in source.draw(first, first + sample):
                target.write(piece)
        seconds = (time.perf_counter() - started) / sample * ticks
        size = file.stat().st_size * ticks // sample
    cores = os.cpu_count() or 1
    indicators = expected_indicators(workload)
    return Estimate(ticks, size, indicators, int(indicators * _ORDERS_PER_INDICATOR), seconds / cores, cores)


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
