"""The query generator: the strategies that watch a market, their users and their parameters."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from pairs.dataset.folder import Correlation
from pairs.generator.randomness import Purpose, whole_numbers
from pairs.model.strategy import (
    AVAILABLE_FUNDS_CENTS,
    BANDS_MULTIPLIERS,
    NUMBERS_OF_PERIODS,
    PERIOD_LENGTHS_S,
    STOP_LOSS_FRACTIONS,
    STRATEGIES_PER_USER,
    UNITS_PER_MARKET,
    Strategy,
    StrategySet,
)

Value = TypeVar("Value")


def generate_strategies(pairs: Sequence[Correlation], count: int, seed: int, market_close_ms: int) -> StrategySet:
    """Assign strategies to pairs and users, and draw their parameters.

    A larger count only adds strategies, as long as no pair has more than ten.
    """
    funds = _drawn(AVAILABLE_FUNDS_CENTS, seed, 0, count)
    lengths = _drawn(PERIOD_LENGTHS_S, seed, 1, count)
    periods = _drawn(NUMBERS_OF_PERIODS, seed, 2, count)
    multipliers = _drawn(BANDS_MULTIPLIERS, seed, 3, count)
    stop_losses = _drawn(STOP_LOSS_FRACTIONS, seed, 4, count)
    return StrategySet(
        market_close_ms,
        tuple(
            Strategy(
                alias=f"st_{number + 1:05d}",
                user=f"u_{number // STRATEGIES_PER_USER + 1:05d}",
                available_funds_cents=funds[number],
                symbol1=pair.symbol1,
                symbol2=pair.symbol2,
                period_ms=1_000 * lengths[number],
                num_periods=periods[number],
                bands_multiplier=multipliers[number],
                stop_loss_fraction=stop_losses[number],
            )
            for number, pair in enumerate(assigned_pairs(pairs, count))
        ),
    )


def assigned_pairs(pairs: Sequence[Correlation], count: int) -> Iterator[Correlation]:
    """Yield the pair that each strategy watches, in the order of the strategies.

    Markets are filled in order with ten strategies a pair, or more if that is not enough for all. Within a market
    strategies cycle through its pairs, so that the five consecutive strategies of a user watch five different pairs.
    """
    rounds = max(UNITS_PER_MARKET, -(-count // len(pairs)))
    left = count
    for _, group in groupby(pairs, lambda pair: pair.market):
        market = list(group)
        here = min(left, rounds * len(market))
        yield from (market[number % len(market)] for number in range(here))
        left -= here


def _drawn(choices: Sequence[Value], seed: int, parameter: int, count: int) -> list[Value]:
    """Draw a parameter of all strategies, uniform over its choices, from its own stream."""
    places = whole_numbers(seed, Purpose.STRATEGY, parameter, count, len(choices))
    return [choices[place] for place in places.tolist()]
