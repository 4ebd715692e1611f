"""Makes trades as a feed might have them: uneven symbols, rows out of order, fractions of cents, times with zones."""

import csv
from pathlib import Path

import numpy as np

SYMBOLS = ("ALFA", "BETA", "GAMMA", "DELTA", "RARE")
NASTY_SYMBOLS = ("a\"b'c\n{x}", "../../../tmp/x", "<script>x", "{{ 7 * 7 }}", "$(id);%n")
_WEIGHTS = (0.4, 0.3, 0.15, 0.149, 0.001)
_START_MS = 1_704_205_800_000  # 2024-01-02T14:30:00Z
_SECONDS = 1_200
COLUMNS = ("--symbol-column", "ticker", "--price-column", "last", "--time-column", "when", "--size-column", "volume")


def write_trades(folder: Path, symbols: tuple[str, ...] = SYMBOLS, trades: int = 20_000, seed: int = 3) -> list[Path]:
    """Write two CSV files of twenty minutes; the first two symbols move together, and the next two."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(3, _SECONDS)) * 0.002
    own = rng.normal(size=(len(symbols), _SECONDS)) * 0.0008
    walks = 50 * np.exp(np.cumsum(steps[[0, 0, 1, 1, 2]] + own, axis=1)) * np.array([[1], [2.5], [0.7], [3], [1]])
    when_ms = np.sort(rng.integers(0, _SECONDS * 1_000, trades))
    which = rng.choice(len(symbols), trades, p=_WEIGHTS)
    when_ms[0] = 0
    rows = []
    for number in rng.permutation(trades).tolist():
        time_ms, symbol = int(when_ms[number]), int(which[number])
        price = walks[symbol, time_ms // 1_000] * (1 + 1e-5 * (number % 7))
        rows.append([number, symbols[symbol], f"{price:.5f}", int(rng.integers(1, 500)), _iso(time_ms, number % 2)])
    files = [folder / "first.csv", folder / "second.csv"]
    for place, file in enumerate(files):
        with file.open("w", newline="", encoding="utf-8") as target:
            writer = csv.writer(target)
            writer.writerow(["id", "ticker", "last", "volume", "when"])
            writer.writerows(rows[place::2])
    return files


def _iso(time_ms: int, in_new_york: int) -> str:
    """Write a time in one of two zones."""
    shift_ms = 5 * 3_600_000 * in_new_york
    local = np.datetime64(_START_MS + time_ms - shift_ms, "ms")
    return f"{local}{'-05:00' if in_new_york else 'Z'}"
