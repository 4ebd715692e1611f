"""The market as it opens: the symbols in their trading cycle, the correlated pairs, the initial prices."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pairs.config.workload import HIGHEST_INITIAL_CENTS, LOWEST_INITIAL_CENTS, Workload
from pairs.generator.portable import Floats
from pairs.generator.randomness import Ints, Purpose, whole_numbers, words

_LETTERS = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
_SYMBOL_LENGTH = 6


@dataclass(frozen=True)
class Market:
    """Everything fixed before the first tick. Symbols are identified by their position in the cycle."""

    workload: Workload

    @cached_property
    def symbols(self) -> list[str]:
        """The names in the order of the trading cycle."""
        wanted = self.workload.symbols
        drawn = words(self.workload.seed, Purpose.SYMBOL, 0, 2 * wanted + 100) % np.uint64(26**_SYMBOL_LENGTH)
        unique = drawn.astype(np.int64)[np.sort(np.unique(drawn, return_index=True)[1])[:wanted]]
        digits = unique[:, None] // 26 ** np.arange(_SYMBOL_LENGTH - 1, -1, -1) % 26
        return ["".join(letters) for letters in _LETTERS[digits]]

    @cached_property
    def pairs(self) -> Ints:
        """A row (market, position of symbol1, position of symbol2) for each pair; symbol1 trades first in the cycle."""
        workload, rows, begin = self.workload, [], 0
        couples = _spread(workload.symbols // 2, workload.markets)
        correlations = _spread(workload.correlations, workload.markets)
        for market, (size, paired) in enumerate(zip(couples, correlations, strict=True)):
            shuffled = np.argsort(words(workload.seed, Purpose.PAIRING, market, 2 * size), kind="stable")
            legs = np.sort(begin + shuffled[: 2 * paired].reshape(-1, 2), axis=1)
            rows.append(np.column_stack([np.full(paired, market), legs]))
            begin += 2 * size
        return np.concatenate(rows)

    @cached_property
    def initial_prices(self) -> Floats:
        choices = HIGHEST_INITIAL_CENTS - LOWEST_INITIAL_CENTS + 1
        drawn = whole_numbers(self.workload.seed, Purpose.INITIAL_PRICE, 0, self.workload.symbols, choices)
        return (LOWEST_INITIAL_CENTS + drawn).astype(np.float64)


def _spread(total: int, parts: int) -> list[int]:
    """Split a number into parts that differ by at most one, larger parts first."""
    share, rest = divmod(total, parts)
    return [share + (part < rest) for part in range(parts)]
