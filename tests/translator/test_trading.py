"""The steps of generated programs give the answers of the reference, however ticks, state and pairs are cut."""

from dataclasses import replace
from pathlib import Path

import pytest

from pairs.model.tuples import MarketOrder
from pairs.validator.state_machine import Answer
from tests.translator.programs import load_steps, pieces_of, play_columns, play_rows, translated
from tests.validator.golden import DATASETS, GoldenDataset
from tests.validator.in_process import in_order, reference
from tests.validator.markets import Market, random_grid, random_walk

SEEDS = range(60)
LARGEST_SIZE = 2**31 - 1  # an order's size is an int; who gets richer than that in a random market is of no interest


def cuts(seed: int, ticks: int) -> tuple[list[int], list[int]]:
    """Choose where batches and pieces are cut: sometimes everywhere, sometimes nowhere."""
    every = [[], list(range(1, ticks)), list(range(7, ticks, 7)), [ticks // 3, ticks // 2], list(range(50, ticks, 50))]
    return every[seed % 5], every[(seed // 5) % 5]


def expected(market: Market) -> list[Answer]:
    """Return the answers of the reference, with the wall time that the test's ticks have."""
    answers = reference(market.strategies, market.ticks)
    if any(isinstance(answer, MarketOrder) and answer.size > LARGEST_SIZE for answer in answers):
        pytest.skip("a strategy got too rich")
    return with_wall_time(answers)


def with_wall_time(answers: list[Answer]) -> list[Answer]:
    """Add the wall time that the test's ticks have."""
    return [replace(answer, inputTS=answer.inputTickTS * 1000 + 7) for answer in answers]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [random_walk, random_grid])
def test_columns_answer_like_the_reference(tmp_path: Path, make: object, seed: int) -> None:
    """Bit for bit, for any shards, batches and pieces."""
    market: Market = make(seed)  # type: ignore[operator]
    app = translated(market.strategies, tmp_path, "pyspark", "vectorized")
    batches = pieces_of(market.ticks, *cuts(seed, len(market.ticks)))
    answers = play_columns(load_steps(app), app, batches, shards=(1, 2, 5)[seed % 3])
    assert in_order(market.strategies, answers) == expected(market)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [random_walk, random_grid])
def test_rows_answer_like_the_reference(tmp_path: Path, make: object, seed: int) -> None:
    """Bit for bit, for any batches and pieces."""
    market: Market = make(seed)  # type: ignore[operator]
    app = translated(market.strategies, tmp_path, "pyspark", "keyed")
    batches = pieces_of(market.ticks, *cuts(seed, len(market.ticks)))
    assert in_order(market.strategies, play_rows(load_steps(app), app, batches)) == expected(market)


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("target", ["pyspark", "bare"])
def test_columns_give_the_golden_answers(tmp_path: Path, target: str, name: str) -> None:
    """Bit for bit, also where prices stand still and rounding decides."""
    golden = DATASETS[name]
    app = translated(golden.strategies(), tmp_path, target, "vectorized")
    batches = pieces_of(golden.ticks(), range(997, len(golden.ticks()), 997), ())
    answers = play_columns(load_steps(app), app, batches, shards=2)
    assert in_order(golden.strategies(), answers) == golden_answers(golden)


@pytest.mark.parametrize("name", DATASETS)
def test_rows_give_the_golden_answers(tmp_path: Path, name: str) -> None:
    """Bit for bit, also where prices stand still and rounding decides."""
    golden = DATASETS[name]
    app = translated(golden.strategies(), tmp_path, "pyspark", "keyed")
    batches = pieces_of(golden.ticks(), range(4_999, len(golden.ticks()), 4_999), ())
    assert in_order(golden.strategies(), play_rows(load_steps(app), app, batches)) == golden_answers(golden)


def golden_answers(golden: GoldenDataset) -> list[Answer]:
    """Return the answers of a golden dataset, with the wall time that the test's ticks have."""
    return with_wall_time(in_order(golden.strategies(), [*golden.indicators(), *golden.orders()]))


def test_the_markets_are_not_boring() -> None:
    """The random markets above make strategies trade."""
    markets = [make(seed) for seed in SEEDS for make in (random_walk, random_grid)]
    answers = [reference(market.strategies, market.ticks) for market in markets]
    orders = [sum(isinstance(answer, MarketOrder) for answer in given) for given in answers]
    assert sum(orders) > 2_000
    assert sum(number > 0 for number in orders) > len(orders) // 2
