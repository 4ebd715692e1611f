"""What ticks cost: Brownian motions exact in continuous time, whole at the borders of slices, correlated in pairs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pairs.config.workload import complete
from pairs.generator.prices import SlicePath
from pairs.generator.ticks import TickSource

ALARM = 1e-4  # false-alarm rate of every statistical test here, had its seed not been fixed
PROPERTY = settings(derandomize=True, deadline=None, max_examples=25)

# Cents are too coarse for the standard volatility over milliseconds, so these markets move faster.
WIDE = {"symbols": 2_000, "basis_rate": Fraction(20_000), "duration": 20_000, "volatility": 0.15}
DENSE = {"symbols": 4, "correlations": 2, "basis_rate": Fraction(100), "duration": 1_000_000, "volatility": 0.022}
PAIRED = {"symbols": 200, "correlations": 100, "basis_rate": Fraction(1_000), "duration": 600_000, "volatility": 0.03}
COINTEGRATED_WIDE = WIDE | {"market": "cointegrated"}
REVERTING = {
    "market": "cointegrated",
    "symbols": 1_000,
    "correlations": 500,
    "basis_rate": Fraction(5_000),
    "duration": 100_000,
    "volatility": 0.0,  # leg 1 stands still, so leg 2 shows the log-ratio
    "spread": 0.3,
}
SMALL = {"symbols": 6, "basis_rate": Fraction(5_000), "duration": 50_000}
LATE = {"symbols": 10, "peak_factor": 1e-7}  # its first slices have nothing but the opening trade

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@pytest.fixture(scope="module", autouse=True)
def _fixed_slices() -> Iterator[None]:
    """Give slices the length these tests are laid out for; the kit's own is a matter of speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pairs.generator.arrivals._TICKS_PER_SLICE", 65_536)
        yield


@dataclass(frozen=True)
class Board:
    """All complete cycles of a market, a row a cycle and a column a symbol."""

    source: TickSource
    seconds: Floats
    slices: Ints
    prices: Ints

    @property
    def drift_free(self) -> Floats:
        """Log-returns since time 0 without the drift that makes the price a martingale."""
        variance = self.source.workload.volatility**2
        drift_free: Floats = np.log(self.prices / self.source.market.initial_prices) + variance / 2 * self.seconds
        return drift_free

    def independent(self, role: str) -> Ints:
        """Return the columns of the second legs, or of all other symbols: neither has a pair among them."""
        legs2 = self.source.market.pairs[:, 2]
        return legs2 if role == "second legs" else np.setdiff1d(np.arange(self.prices.shape[1]), legs2)

    def returns(self, role: str, stride: int = 1) -> Floats:
        """Return log-returns over `stride` cycles in standard deviations; some role's symbols only."""
        columns = self.independent(role)
        moved = np.diff(self.drift_free[::stride, columns], axis=0)
        return moved / (self.source.workload.volatility * np.sqrt(np.maximum(self.gaps(role, stride), 0.001)))

    def gaps(self, role: str, stride: int = 1) -> Floats:
        """Return the seconds over which each of `returns` was made."""
        return np.diff(self.seconds[::stride, self.independent(role)], axis=0)

    def across_borders(self, role: str) -> Mask:
        """Return which of `returns` over a cycle begin in one slice and end in another."""
        across: Mask = np.diff(self.slices[:, self.independent(role)], axis=0) > 0
        return across


def whole_table(source: TickSource) -> pa.Table:
    """Draw all ticks of a source."""
    return pa.concat_tables(piece for piece, _ in source.draw(0, source.timeline.ticks))


@cache
def board(**values: Any) -> Board:
    """Draw a workload with these settings."""
    source = TickSource(complete(values))
    table, symbols = whole_table(source), source.workload.symbols
    shape = len(table) // symbols, symbols
    ticks = np.arange(shape[0] * symbols)
    slices = np.searchsorted(source.timeline.first_ticks[:-1], ticks, side="right")
    seconds = table["tickTS"].to_numpy()[ticks].reshape(shape) / 1000
    return Board(source, seconds, slices.reshape(shape), table["price"].to_numpy()[ticks].reshape(shape))


def looks_standard_normal(values: Floats) -> bool:
    """Apply the tests of Kolmogorov-Smirnov and, for the variance, chi-square."""
    return float(stats.kstest(values.ravel(), "norm").pvalue) > ALARM and has_variance_1(values)


def has_variance_1(values: Floats) -> bool:
    """Test the mean square of centred normal values, which may be too large or too small."""
    squares, count = float((values**2).sum()), values.size
    return bool(2 * min(stats.chi2.cdf(squares, count), stats.chi2.sf(squares, count)) > ALARM)


def look_uncorrelated(first: Floats, second: Floats) -> bool:
    """Test Pearson's correlation of two samples."""
    return float(stats.pearsonr(first.ravel(), second.ravel()).pvalue) > ALARM


def look_all_uncorrelated(samples: Floats, couples: Mask | None = None) -> bool:
    """Test the strongest of Pearson's correlations of all couples of rows, or of these, after Bonferroni."""
    chosen = np.triu(np.ones((len(samples), len(samples)), np.bool_), 1) if couples is None else couples
    strongest = np.abs(np.asarray(np.corrcoef(samples))[chosen]).max()
    return bool(2 * chosen.sum() * stats.norm.sf(np.arctanh(strongest) * sqrt(samples.shape[1] - 3)) > ALARM)


def mean_looks_like_0(values: Floats) -> bool:
    """Apply Student's test to the mean."""
    return float(stats.ttest_1samp(values.ravel(), 0.0).pvalue) > ALARM


both_roles = pytest.mark.parametrize("role", ["second legs", "all others"])


# One symbol


@both_roles
def test_returns_are_normal_with_the_elapsed_time_as_variance(role: str) -> None:
    """Log-returns over volatility times the root of the elapsed time are standard normal (alarm 1e-4 each)."""
    assert looks_standard_normal(board(**WIDE).returns(role))


@both_roles
@pytest.mark.parametrize("quarter", range(4))
def test_variance_grows_with_time_not_with_ticks(role: str, quarter: int) -> None:
    """The shortest quarter of all gaps has the same standardized variance as the longest (alarm 1e-4 each)."""
    dense = board(**DENSE)
    gaps, long_enough = dense.gaps(role), 0.002  # below that, cents blur the return
    low, high = np.quantile(gaps[gaps > 0], [quarter / 4, quarter / 4 + 0.25])
    assert has_variance_1(dense.returns(role)[(gaps > max(low, long_enough)) & (gaps <= high)])


@both_roles
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_variance_of_long_returns_is_that_of_their_time(role: str, parts: int) -> None:
    """Over the whole day, a half or a seventh of it returns are standard normal too (alarm 1e-4 each)."""
    wide = board(**WIDE)
    assert looks_standard_normal(wide.returns(role, stride=(len(wide.prices) - 1) // parts))


@both_roles
def test_path_starts_at_the_initial_price(role: str) -> None:
    """The return from the initial price to a symbol's first tick fits the time since 0 (alarm 1e-4 each)."""
    wide = board(**WIDE)
    seconds = wide.seconds[0, wide.independent(role)]
    moved = wide.drift_free[0, wide.independent(role)][seconds > 0]
    assert looks_standard_normal(moved / (wide.source.workload.volatility * np.sqrt(seconds[seconds > 0])))


@both_roles
def test_returns_across_borders_of_slices_are_like_all_others(role: str) -> None:
    """Returns that span a border are standard normal, and independent of those around (alarm 1e-4 each)."""
    wide = board(**WIDE)
    returns, across = wide.returns(role), wide.across_borders(role)
    assert across.sum() > 4_000
    assert looks_standard_normal(returns[across])
    assert look_uncorrelated(returns[across], returns[np.roll(across, -1, axis=0)])
    assert look_uncorrelated(returns[across], returns[np.roll(across, 1, axis=0)])


@both_roles
@pytest.mark.parametrize("stride", [1, 10, 35])
def test_returns_do_not_depend_on_their_predecessors(role: str, stride: int) -> None:
    """Consecutive returns are not correlated, over short spans or longer than a slice (alarm 1e-4)."""
    returns = board(**WIDE).returns(role, stride)
    assert look_uncorrelated(returns[:-1], returns[1:])


def test_values_at_borders_are_a_random_walk() -> None:
    """From border to border all driving processes move normally and independently (alarm 1e-4 each)."""
    source = TickSource(complete({"symbols": 4_000, "duration": 730_000}))
    paths = list(source.prices.paths(range(source.timeline.slices)))
    seconds = np.array([[path.piece.end_ms - path.piece.start_ms] for path in paths]) / 1000
    moves = np.array([path.at_end - path.at_start for path in paths]) / np.sqrt(seconds)
    assert len(paths) > 30
    assert looks_standard_normal(moves)
    assert look_all_uncorrelated(moves)
    chances = stats.chi2.cdf((moves**2).sum(axis=1), moves.shape[1])
    assert stats.kstest(chances, "uniform").pvalue > ALARM


@pytest.mark.parametrize("market", ["gbm", "cointegrated"])
def test_prices_meet_at_the_borders(market: str) -> None:
    """A price at the end of a slice is that at the start of the next slice, to the cent."""
    source = TickSource(complete({"symbols": 50, "duration": 60_000, "volatility": 0.1, "market": market}))
    paths = list(source.prices.paths(range(source.timeline.slices)))
    assert len(paths) > 3
    for first, second in pairwise(paths):
        before, after = (prices_at(source, path, first.piece.end_ms) for path in (first, second))
        assert before.tolist() == after.tolist()


def prices_at(source: TickSource, path: SlicePath, time_ms: int) -> Ints:
    """Return the prices of all symbols, in the order of the cycle, as if each traded once in the slice, just then."""
    symbols = source.workload.symbols
    prices = source.prices.cents(path, np.full(symbols, time_ms, np.int64))
    return np.roll(prices.astype(np.int64), path.piece.first_tick % symbols)


@both_roles
def test_slices_do_not_repeat_each_other(role: str) -> None:
    """The first cycles of any two slices are not correlated (Pearson, alarm 1e-4 over all couples of slices)."""
    wide, cycles = board(**WIDE), 10
    first_cycles = wide.source.timeline.first_ticks[:-2] // wide.source.workload.symbols + 1
    blocks = np.array([wide.returns(role)[first : first + cycles].ravel() for first in first_cycles])
    assert len(blocks) > 5
    assert look_all_uncorrelated(blocks)


@both_roles
@pytest.mark.parametrize("part", [0.3, 1.0])
def test_price_is_a_martingale(role: str, part: float) -> None:
    """The mean log-return is minus half its variance, and the mean price the initial price (alarm 1e-4 each)."""
    source = TickSource(
        complete({"symbols": 4_000, "correlations": 2_000, "volatility": 0.3, "duration": 10_000, "seed": 4})
    )
    end = int(source.timeline.ticks * part)
    ticks = np.arange(end - 4_000, end)
    table = pa.concat_tables(piece for piece, _ in source.draw(end - 4_000, end))
    chosen = np.isin(ticks % 4_000, source.market.pairs[:, 2]) == (role == "second legs")
    growth = (table["price"].to_numpy() / source.market.initial_prices[ticks % 4_000])[chosen]
    variance = 0.3**2 * table["tickTS"].to_numpy()[chosen] / 1000
    assert mean_looks_like_0(np.log(growth) + variance / 2)
    assert not mean_looks_like_0(np.log(growth))
    assert mean_looks_like_0(growth - 1)


# Two symbols


@pytest.mark.parametrize("correlation", [0.8, -0.5])
@pytest.mark.parametrize("horizon_s", [0.2, 1, 10, 60])
@pytest.mark.parametrize("lag", [-1, 0, 1, 2])
def test_legs_are_correlated_in_continuous_time(correlation: float, horizon_s: float, lag: int) -> None:
    """Two legs' returns covary by the time they have in common, over short horizons too (alarm 1e-4 each)."""
    paired = board(**PAIRED, correlation=correlation)
    stride = round(horizon_s / float(np.diff(paired.seconds, axis=0).mean()))
    products, common = products_of_legs(paired, stride, lag)
    assert (common.max() > 0) == (lag in (0, 1))
    expected = correlation * common
    deviation = (products - expected).sum() / sqrt((1 + expected**2).sum())
    assert 2 * stats.norm.sf(abs(deviation)) > ALARM


def products_of_legs(paired: Board, stride: int, lag: int) -> tuple[Floats, Floats]:
    """Return products of standardized returns of both legs, the first `lag` spans later, and what they overlap.

    These are the terms of Hayashi and Yoshida's covariance: legs trade in turn, so spans overlap at lags 0 and 1 only.
    """
    leg1, leg2 = paired.source.market.pairs[:, 1], paired.source.market.pairs[:, 2]
    seconds, moved = paired.seconds[::stride], paired.drift_free[::stride] / paired.source.workload.volatility
    start1, start2 = lagged(seconds[:-1, leg1], seconds[:-1, leg2], lag)
    end1, end2 = lagged(seconds[1:, leg1], seconds[1:, leg2], lag)
    moved1, moved2 = lagged(np.diff(moved[:, leg1], axis=0), np.diff(moved[:, leg2], axis=0), lag)
    scale = np.sqrt((end1 - start1) * (end2 - start2))
    overlap = np.clip(np.minimum(end1, end2) - np.maximum(start1, start2), 0.0, None)
    return moved1 * moved2 / scale, overlap / scale


def lagged(first: Floats, second: Floats, lag: int) -> tuple[Floats, Floats]:
    """Align each row of the first with the row of the second that is `lag` rows earlier."""
    rows = len(first)
    return first[max(lag, 0) : rows + min(lag, 0)], second[max(-lag, 0) : rows - max(lag, 0)]


@pytest.mark.parametrize(
    ("values", "sign"),
    [
        ({"correlation": 1.0}, 1),
        ({"correlation": -1.0}, -1),
        ({"market": "cointegrated", "spread": 0.0}, 1),
    ],
)
def test_fully_correlated_legs_follow_one_path(values: dict[str, Any], sign: int) -> None:
    """With correlation 1 or -1 the second leg trades on the first leg's path, or its mirror (alarm 1e-4 each)."""
    paired = board(**PAIRED, **values)
    pairs = paired.source.market.pairs[:, 1:]
    seconds = paired.seconds[:, pairs].transpose(1, 0, 2).reshape(len(pairs), -1)
    path = (paired.drift_free[:, pairs] * [1, sign]).transpose(1, 0, 2).reshape(len(pairs), -1)
    gaps, long_enough = np.diff(seconds), 0.05  # below that, cents blur the return
    returns = np.diff(path) / (paired.source.workload.volatility * np.sqrt(np.maximum(gaps, 0.001)))
    assert looks_standard_normal(returns[gaps > long_enough])
    both = (gaps[:, :-1] > long_enough) & (gaps[:, 1:] > long_enough)
    assert look_uncorrelated(returns[:, :-1][both], returns[:, 1:][both])


@pytest.mark.parametrize("stride", [1, 5, 60])
@pytest.mark.parametrize("values", [PAIRED, PAIRED | {"correlations": 10, "market": "cointegrated"}])
def test_strangers_are_not_correlated(values: dict[str, Any], stride: int) -> None:
    """Symbols that are no pair have unrelated returns (Pearson, alarm 1e-4 over all couples, Bonferroni)."""
    paired = board(**values)
    moved = np.diff(paired.drift_free[::stride], axis=0) / np.sqrt(np.diff(paired.seconds[::stride], axis=0))
    strangers = np.triu(np.ones((200, 200), np.bool_), 1)
    strangers[paired.source.market.pairs[:, 1], paired.source.market.pairs[:, 2]] = False
    assert look_all_uncorrelated(moved.T, strangers)


# Cointegrated pairs


def log_ratios(half_life: int = 3_000, stride: int = 1) -> tuple[Floats, Floats]:
    """Return the seconds and the log-ratios of all pairs of the reverting market."""
    reverting = board(**REVERTING, half_life=half_life)
    legs2 = reverting.source.market.pairs[:, 2]
    return reverting.seconds[::stride, legs2], reverting.drift_free[::stride, legs2]


def innovations(seconds: Floats, ratios: Floats, half_life: int = 3_000) -> Floats:
    """Return what is new in each log-ratio, in the standard deviations of an Ornstein-Uhlenbeck process."""
    kept = 0.5 ** (np.diff(seconds, axis=0) * 1000 / half_life)
    fresh: Floats = (ratios[1:] - kept * ratios[:-1]) / (0.3 * np.sqrt(1 - kept**2))
    return fresh


any_half_life = pytest.mark.parametrize("half_life", [1, 3_000, 30_000])  # a slice lasts 8.7 s


@any_half_life
@pytest.mark.parametrize("stride", [1, 6, 60])
def test_log_ratio_is_ornstein_uhlenbeck(half_life: int, stride: int) -> None:
    """Over a cycle, a second or a slice, a ratio reverts by its half-life, the rest is new (alarm 1e-4 each)."""
    seconds, ratios = log_ratios(half_life, stride)
    fresh = innovations(seconds, ratios, half_life)
    assert looks_standard_normal(fresh)
    assert look_uncorrelated(fresh, ratios[:-1])
    assert look_uncorrelated(fresh[:-1], fresh[1:])


@any_half_life
def test_log_ratio_does_not_notice_the_borders_of_slices(half_life: int) -> None:
    """Innovations that span a border are standard normal and independent of the ratio before (alarm 1e-4 each)."""
    seconds, ratios = log_ratios(half_life)
    across = board(**REVERTING, half_life=half_life).across_borders("second legs")
    fresh = innovations(seconds, ratios, half_life)
    assert across.sum() > 4_000
    assert looks_standard_normal(fresh[across])
    assert look_uncorrelated(fresh[across], ratios[:-1][across])


def test_log_ratios_at_borders_are_ornstein_uhlenbeck() -> None:
    """From border to border log-ratios move as from tick to tick (alarm 1e-4 each)."""
    day = REVERTING | {"symbols": 4_000, "correlations": 2_000, "duration": 730_000, "half_life": 20_000}
    source = TickSource(complete(day))
    paths = list(source.prices.paths(range(source.timeline.slices)))
    values = np.array([path.at_start[source.prices.leg2] for path in paths])
    seconds = np.array([[path.piece.start_ms] for path in paths]) / 1000
    fresh = innovations(seconds, values, half_life=20_000)
    assert len(paths) > 30
    assert looks_standard_normal(fresh)
    assert look_uncorrelated(fresh, values[:-1])
    assert look_all_uncorrelated(fresh)


def test_log_ratio_with_the_longest_half_life_hardly_moves() -> None:
    """With a half-life of a year the ratio stays near its start, however little is left of each step."""
    _, ratios = log_ratios(half_life=366 * 86_400_000)
    assert np.abs(ratios).max() < 0.3 * sqrt(2 * 0.7 * 100 / (366 * 86_400)) * 6


def test_log_ratio_starts_at_its_mean() -> None:
    """At first the ratio is that of the initial prices, and its variance grows from 0 (alarm 1e-4)."""
    seconds, ratios = log_ratios()
    since_open = np.vstack([np.zeros_like(seconds[0]), seconds[0]])
    started = np.vstack([np.zeros_like(ratios[0]), ratios[0]])
    assert looks_standard_normal(innovations(since_open, started))


def test_log_ratio_stays_in_its_spread() -> None:
    """Ten half-lives apart, ratios are independent and normal with the spread as deviation (alarm 1e-4 each)."""
    _, ratios = log_ratios()
    ten_half_lives = len(ratios) * 30 // 100
    apart = ratios[ten_half_lives::ten_half_lives] / 0.3
    assert len(apart) >= 3
    assert looks_standard_normal(apart)
    assert look_uncorrelated(apart[:-1], apart[1:])


def test_log_ratios_of_different_pairs_are_unrelated() -> None:
    """Innovations of any two pairs are not correlated (Pearson, alarm 1e-4 over all couples, Bonferroni)."""
    assert look_all_uncorrelated(innovations(*log_ratios()).T)


def test_first_legs_of_cointegrated_pairs_are_brownian() -> None:
    """In a cointegrated market all but the second legs are as in any other (alarm 1e-4 each)."""
    assert looks_standard_normal(board(**COINTEGRATED_WIDE).returns("all others"))


def test_second_leg_is_first_leg_times_ratio() -> None:
    """A cointegrated second leg moves by what the first leg's path and the log-ratio give together."""
    moving = {"volatility": 0.02}
    together, path, ratio = (board(**REVERTING | change) for change in (moving, moving | {"spread": 0.0}, {}))
    legs2 = together.source.market.pairs[:, 2]
    expected = path.drift_free[:, legs2] + ratio.drift_free[:, legs2]
    cent = sum(1 / source.prices[:, legs2] for source in (together, path, ratio))
    assert (np.abs(together.drift_free[:, legs2] - expected) <= cent).all()


# Cents


@pytest.mark.parametrize("values", [{}, {"market": "cointegrated", "spread": 0.0}])
def test_without_volatility_prices_stand_still(values: dict[str, Any]) -> None:
    """At volatility 0 every tick costs the initial price."""
    still = board(**SMALL, volatility=0.0, **values)
    assert (still.prices == still.source.market.initial_prices).all()


def test_prices_are_rounded_to_the_nearest_cent() -> None:
    """Moves of less than half a cent, up or down, do not change the initial price."""
    quiet = board(**SMALL, volatility=5e-7)
    assert (quiet.prices == quiet.source.market.initial_prices).all()


def test_trades_at_the_same_millisecond_cost_the_same() -> None:
    """No time passes between ticks of a symbol with the same tickTS, so its price does not move."""
    busy = board(symbols=2, basis_rate=Fraction(20_000), duration=2_000, volatility=0.5)
    same = np.diff(busy.seconds, axis=0) == 0
    assert same.sum() > 10_000
    assert (np.diff(busy.prices, axis=0)[same] == 0).all()


def test_no_price_falls_below_one_cent() -> None:
    """However low its path goes, a price is a whole number of cents, at least 1."""
    workload = complete({"symbols": 500, "duration": 10_000})
    source = TickSource(replace(workload, volatility=0.95))  # more than is allowed, to get there at all
    prices = np.concatenate(
        [
            source.prices.cents(path, source.timeline.tick_times(path.piece))
            for path in source.prices.paths(range(source.timeline.slices))
        ]
    )
    assert np.issubdtype(prices.dtype, np.integer)
    assert prices.min() == 1
    assert (prices == 1).sum() > 100


@pytest.mark.parametrize("values", [SMALL, WIDE, REVERTING, LATE])
def test_opening_trade_costs_the_initial_price(values: dict[str, Any]) -> None:
    """The first tick, at time 0, has its symbol's initial price."""
    source = TickSource(complete(values))
    table, _ = next(source.draw(0, 1))
    assert table["tickTS"][0].as_py() == 0
    assert table["price"][0].as_py() == source.market.initial_prices[0]


# Ranges of ticks

KINDS = [{}, {"market": "cointegrated"}, {"arrivals": "constant", "seed": 5}]


@cache
def small_day(**values: Any) -> pa.Table:
    """Draw a small day of several slices at once."""
    source = TickSource(complete(SMALL | values))
    assert source.timeline.slices > 2
    return whole_table(source)


@PROPERTY
@given(kind=st.sampled_from(KINDS), ends=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_any_range_of_ticks_is_a_range_of_the_whole(kind: dict[str, Any], ends: tuple[float, float]) -> None:
    """Ticks [a, b) drawn by themselves are rows [a, b) of the whole day."""
    whole = small_day(**kind)
    first, end = sorted(int(part * len(whole)) for part in ends)
    end = max(end, min(first + 1, len(whole)))
    if first < end:
        part = pa.concat_tables(piece for piece, _ in TickSource(complete(SMALL | kind)).draw(first, end))
        assert part.equals(whole.slice(first, end - first))


@pytest.mark.parametrize("kind", KINDS)
def test_slices_can_be_drawn_in_any_order(kind: dict[str, Any]) -> None:
    """A slice has the same ticks whichever were drawn before it by the same source."""
    source = TickSource(complete(SMALL | kind))
    backwards = []
    for index in reversed(range(source.timeline.slices)):
        piece = source.timeline.slice(index)
        backwards += [ticks for ticks, _ in source.draw(piece.first_tick, piece.first_tick + piece.ticks)]
    assert pa.concat_tables(reversed(backwards)).equals(small_day(**kind))


def test_another_seed_is_another_day() -> None:
    """Two seeds have different times, prices and sizes."""
    first, second = small_day(), small_day(seed=2)
    common = min(len(first), len(second)) - 1
    for column in ("symbol", "price", "size", "tickTS"):
        assert not first[column].slice(1, common).equals(second[column].slice(1, common))
