"""Tests of the reference against cases worked out by hand, a rule of the specification at a time.

Most use two periods and a multiplier of a half. Two ratios a and b deviate by |b - a| / 1.41 and lie |b - a| / 2 off
their mean, so every rise is beyond the upper band and every fall beyond the lower: a rise after a fall is an up
signal, a fall after a rise a down signal.
"""

from math import fsum, sqrt

import pytest

from pairs.model.strategy import Strategy, StrategySet
from pairs.model.tuples import Indicator, MarketOrder, StockTick
from pairs.validator.state_machine import Answer, replay_by_tick
from tests.validator.markets import at_ratios, pair, ticks_of, windows_of

NEVER = 10**9


def answers(ticks: list[StockTick], *strategies: Strategy, close: int = NEVER) -> list[Answer]:
    """Return the answers of the reference; to a default strategy if none is given."""
    return list(replay_by_tick(StrategySet(close, strategies or (pair(),)), ticks))


def indicators(ticks: list[StockTick], *strategies: Strategy, close: int = NEVER) -> list[tuple[float, float, int]]:
    """Return ratio, average and time of the indicators."""
    found = answers(ticks, *strategies, close=close)
    return [(answer.ratio, answer.avgRatio, answer.inputTickTS) for answer in found if isinstance(answer, Indicator)]


def orders(ticks: list[StockTick], *strategies: Strategy, close: int = NEVER) -> list[str]:
    """Return the orders, short."""
    found = answers(ticks, *strategies, close=close)
    return [
        f"{answer.type} {answer.size} {answer.symbol} at {answer.price} @{answer.inputTickTS}"
        for answer in found
        if isinstance(answer, MarketOrder)
    ]


def test_the_trigger_belongs_to_the_new_window() -> None:
    """A tick at the end of a window closes it, and its price counts only in the next window."""
    ticks = ticks_of("A100@0 B100@1 A300@1000 B100@1001 X1@2000")
    assert indicators(ticks) == [(3.0, 2.0, 2_000)]


def test_a_tick_before_the_end_belongs_to_the_window() -> None:
    """The last millisecond of a window is part of it."""
    ticks = ticks_of("A100@0 B100@999 A300@1000 B100@1999 X1@2500")
    assert indicators(ticks) == [(3.0, 2.0, 2_500)]


def test_of_several_ticks_at_the_end_of_a_window_the_first_is_the_trigger() -> None:
    """The others have the same time, but come later."""
    ticks = ticks_of("B100@0 A200@1 B100@1000 A100@1001 B100@2000 A200@2001 X1@3000 A999@3000 B999@3000")
    assert orders(ticks) == ["BUY 100 B at 100 @3000"]


def test_any_symbol_closes_windows() -> None:
    """The stream of all ticks is the clock, also those of symbols that nobody watches."""
    ticks = ticks_of("A100@0 B100@1 X1@1000 A300@1001 B100@1002 X1@2345 A1@2346 B1@2347")
    assert indicators(ticks) == [(3.0, 2.0, 2_345)]


def test_a_jump_over_windows_closes_the_one_that_holds_ticks() -> None:
    """The windows jumped over are empty, and the next window ends where it would have without the jump."""
    ticks = ticks_of("A100@0 B100@1 A200@1000 B100@1001 A100@5500 B100@5501 X1@6000")
    assert indicators(ticks) == [(2.0, 1.5, 5_500), (1.0, 1.5, 6_000)]


def test_windows_count_from_time_zero() -> None:
    """A stream that begins late begins within a window."""
    ticks = ticks_of("A100@9500 B100@9501 A300@10000 B100@10001 X1@11000")
    assert indicators(ticks) == [(3.0, 2.0, 11_000)]


@pytest.mark.parametrize("incomplete", ["A200", "B200", "X1"])
def test_a_window_without_both_symbols_yields_nothing(incomplete: str) -> None:
    """It has no ratio and no answer, and its ticks do not count later."""
    ticks = windows_of("A100 B100", incomplete, "A300 B100", "X1")
    assert indicators(ticks) == [(3.0, 2.0, 3_000)]


def test_the_ratio_is_that_of_the_average_prices() -> None:
    """A averages 200 and B 100, though A has a sum three times as large."""
    assert indicators(windows_of("A100 B50 A200 A300 B150", "A100 B100", "X1")) == [(1.0, 1.5, 2_000)]


def test_the_ratio_is_rounded_step_by_step() -> None:
    """Each average is a double before they are divided."""
    [indicator] = answers(windows_of("A50 A50 B33 B34 B34", "A50 A50 B33 B34 B34", "X1"))
    assert isinstance(indicator, Indicator)
    assert indicator.ratio == (100 / 2) / (101 / 3) != 300 / 202


def test_too_few_ratios_give_no_indicator() -> None:
    """Two of three periods are not enough."""
    assert indicators(at_ratios(1, 2), pair(periods=3)) == []
    assert indicators(at_ratios(1, 2, 3), pair(periods=3)) == [(3.0, 2.0, 3_000)]


def test_an_indicator_covers_the_last_periods_only() -> None:
    """Older ratios are forgotten."""
    assert indicators(at_ratios(9, 1, 2, 3, 7), pair(periods=3)) == [
        (2.0, 4.0, 3_000),
        (3.0, 2.0, 4_000),
        (7.0, 4.0, 5_000),
    ]


def test_bands_use_the_sample_deviation() -> None:
    """The deviation of 1, 2 and 3 is 1, divided by two and not by three."""
    assert answers(at_ratios(1, 2, 3), pair(periods=3, multiplier=2.0)) == [Indicator("s", 3.0, 2.0, 4.0, 0.0, 3_000)]


def test_bands_are_rounded_step_by_step() -> None:
    """Sums run from the oldest ratio on, rounded at every step; here any other way gives other last digits."""
    ratios = (0.1, 0.3, 0.7, 0.6)
    average = (((0.1 + 0.3) + 0.7) + 0.6) / 4
    first, second, third, fourth = ((ratio - average) * (ratio - average) for ratio in ratios)
    deviation = sqrt((((first + second) + third) + fourth) / 3)
    assert average != fsum(ratios) / 4
    assert deviation != sqrt((((fourth + third) + second) + first) / 3)
    [indicator] = answers(at_ratios(*ratios), pair(periods=4, multiplier=1.0))
    assert indicator == Indicator("s", 0.6, average, average + deviation, average - deviation, 4_000)


def test_the_first_indicator_gives_no_signal() -> None:
    """It may be beyond a band, but there is no earlier indicator that was not."""
    assert orders(at_ratios(1, 2)) == []
    assert orders(at_ratios(2, 1)) == []


def test_an_upward_crossing_buys_symbol2() -> None:
    """A rise after a fall."""
    assert orders(at_ratios(2, 1, 2)) == ["BUY 100 B at 100 @3000"]


def test_a_downward_crossing_buys_symbol1() -> None:
    """A fall after a rise."""
    assert orders(at_ratios(1, 2, 1)) == ["BUY 100 A at 100 @3000"]


def test_a_ratio_on_the_band_has_crossed_it() -> None:
    """The deviation of three even steps is one step: with one deviation the last ratio lies on the band."""
    strategy = pair(periods=3, multiplier=1.0)
    assert orders(at_ratios(4, 1, 2, 3), strategy) == ["BUY 100 B at 100 @4000"]
    assert orders(at_ratios(1, 4, 3, 2), strategy) == ["BUY 50 A at 200 @4000"]


def test_a_ratio_that_was_on_the_band_already_does_not_cross_it() -> None:
    """All but the first lie on a band, each after an indicator that did."""
    strategy = pair(periods=3, multiplier=1.0)
    assert orders(at_ratios(1, 2, 3, 4, 5), strategy) == []
    assert orders(at_ratios(5, 4, 3, 2, 1), strategy) == []


def test_a_ratio_that_stays_beyond_the_band_gives_no_new_signal() -> None:
    """It crossed once; after the stop-loss at 3 the rise to 4 buys nothing."""
    assert orders(at_ratios(2, 1, 2, 3, 4)) == ["BUY 100 B at 100 @3000", "SELL 100 B at 100 @4000"]


def test_bands_without_width_are_crossed_both_ways() -> None:
    """Equal ratios lie on both bands: a flat strategy follows the up signal, a short-long strategy the down signal."""
    strategy = pair(multiplier=1.0, stop_loss=0.9)
    assert orders(at_ratios(1, 2, 2), strategy) == ["BUY 100 B at 100 @3000"]
    assert orders(at_ratios(1, 2, 2, 3, 3), strategy)[1:] == ["SELL 100 B at 100 @5000", "BUY 30 A at 300 @5000"]


def test_a_signal_towards_the_present_position_changes_nothing() -> None:
    """Of 4 1 2 3 3 5, 3 lies on the upper band, the next 3 between the bands, and 5 crosses again; then the mirror."""
    strategy = pair(periods=3, multiplier=1.0, stop_loss=0.9)
    assert orders(at_ratios(4, 1, 2, 3, 3, 5), strategy) == ["BUY 100 B at 100 @4000"]
    assert orders(at_ratios(1, 8, 6, 4, 4, 2), strategy) == ["BUY 20 A at 400 @4000"]


def test_a_signal_towards_the_present_position_does_not_hide_the_stop_loss() -> None:
    """The same, but 5 is more than 1.5 times 3 and 2 half of 4. One transition a window: the strategy ends flat."""
    strategy = pair(periods=3, multiplier=1.0, stop_loss=0.5)
    for close in (6_001, NEVER):
        expected = ["BUY 100 B at 100 @4000", "SELL 100 B at 100 @6000"]
        assert orders([*at_ratios(4, 1, 2, 3, 3, 5), *ticks_of("X1@6500")], strategy, close=close) == expected
        expected = ["BUY 20 A at 400 @4000", "SELL 20 A at 200 @6000"]
        assert orders([*at_ratios(1, 8, 6, 4, 4, 2), *ticks_of("X1@6500")], strategy, close=close) == expected


def test_stop_loss_of_a_short_long_position() -> None:
    """Taken at 2, left as soon as the ratio is one and a half times that, whatever it was in between."""
    assert orders(at_ratios(2, 1, 2, 2.99)) == ["BUY 100 B at 100 @3000"]
    assert orders(at_ratios(2, 1, 2, 2.99, 3)) == ["BUY 100 B at 100 @3000", "SELL 100 B at 100 @5000"]


def test_stop_loss_of_a_long_short_position() -> None:
    """Taken at 1, left as soon as the ratio is half of that, whatever it was in between."""
    assert orders(at_ratios(1, 2, 1, 0.51)) == ["BUY 100 A at 100 @3000"]
    assert orders(at_ratios(1, 2, 1, 0.51, 0.5)) == ["BUY 100 A at 100 @3000", "SELL 100 A at 50 @5000"]


@pytest.mark.parametrize(
    ("stop_loss", "ratios", "sells"),
    [
        (0.1, (0.6, 2, 0.6, 0.54), True),
        (0.3, (1.3, 2, 1.3, 0.91), False),  # 0.7 times 1.3 is a bit less than 0.91
        (0.1, (2, 1, 1.9, 2.09), True),
        (0.3, (2, 1, 1.5, 1.95), False),  # 1.3 times 1.5 is a bit more than 1.95
    ],
)
def test_stop_loss_multiplies_in_doubles(stop_loss: float, ratios: tuple[float, ...], sells: bool) -> None:
    """At the limit to the cent, rounding decides; to divide by the ratio of the position would decide otherwise."""
    assert len(orders(at_ratios(*ratios), pair(stop_loss=stop_loss))) == 1 + sells


def test_stop_loss_counts_from_the_present_position() -> None:
    """The first position was taken at 2, the second at 1: it is kept at 0.9 and left at 0.5."""
    assert orders(at_ratios(2, 1, 2, 1, 0.9, 0.5)) == [
        "BUY 100 B at 100 @3000",
        "SELL 100 B at 100 @4000",
        "BUY 100 A at 100 @4000",
        "SELL 100 A at 50 @6000",
    ]


def test_a_strategy_trades_again_after_a_stop_loss() -> None:
    """Flat, it follows the next signal with what the sale left."""
    assert orders(at_ratios(1, 2, 1, 0.5, 2)) == [
        "BUY 100 A at 100 @3000",
        "SELL 100 A at 50 @4000",
        "BUY 50 B at 100 @5000",
    ]


def test_a_signal_goes_before_the_stop_loss() -> None:
    """B is bought at 1. Then 1.1 is below the lower band of 1.25, 1, 1.1 (1.1104) and yet 10% more: the signal wins."""
    strategy = pair(periods=3, multiplier=0.05, stop_loss=0.05)
    assert orders(at_ratios(2, 0.7, 1.25, 1, 1.1), strategy) == [
        "BUY 100 B at 100 @4000",
        "SELL 100 B at 100 @5000",
        "BUY 90 A at 110 @5000",
    ]


def test_a_sale_pays_for_the_purchase() -> None:
    """Of 10,600 cents, 100 shares leave 600; sold at 204 they make 21,000, and all of that is spent."""
    assert orders(at_ratios(1, 2, 1, 2.04), pair(funds=10_600)) == [
        "BUY 100 A at 100 @3000",
        "SELL 100 A at 204 @4000",
        "BUY 210 B at 100 @4000",
    ]


def test_shares_come_in_tens() -> None:
    """What does not pay for ten more stays in the balance."""
    assert orders(at_ratios(2, 1, 2), pair(funds=10_999)) == ["BUY 100 B at 100 @3000"]
    assert orders(at_ratios(2, 1, 2), pair(funds=11_000)) == ["BUY 110 B at 100 @3000"]
    assert orders(at_ratios(2, 1, 2), pair(funds=1_000)) == ["BUY 10 B at 100 @3000"]


def test_a_symbol_too_dear_leaves_the_strategy_flat_with_its_money() -> None:
    """A is bought, sold on the way to B, which is out of reach, and bought again with the proceeds and the rest."""
    ticks = windows_of("B3000 A1000", "B3000 A1600", "B3000 A1000", "B3000 A1600", "B3000 A1000", "B3000")
    assert orders(ticks, pair(funds=14_000)) == [
        "BUY 10 A at 1000 @3000",
        "SELL 10 A at 1600 @4000",
        "BUY 20 A at 1000 @5000",
    ]


def test_a_strategy_left_flat_for_want_of_money_follows_the_next_signal() -> None:
    """No position was taken, so there is nothing to sell, not even at the bell."""
    ticks = windows_of("B2000 A2000", "B2000 A1000", "B2000 A1500", "B2000 A1000", "B2000")
    assert orders(ticks, pair(funds=10_000)) == ["BUY 10 A at 1000 @4000"]
    assert orders(ticks, pair(funds=10_000), close=3_001) == []


def test_the_price_is_that_of_the_last_trade() -> None:
    """Not the average of the window or its first price; the last trade may be of an earlier window."""
    ticks = windows_of("B100 A200", "B100 A100", "B90 A200 B110", "X1")
    assert orders(ticks) == ["BUY 90 B at 110 @3000"]
    ticks = windows_of("A100 B100", "A200 B100", "B100 A90 A110", "X1")
    assert orders(ticks) == ["BUY 90 A at 110 @3000"]


def test_the_price_of_the_trigger_is_the_last_trade() -> None:
    """The tick that closes the window is traded at, though it does not count in the window."""
    ticks = windows_of("B100 A200", "B100 A100", "B100 A200", "B125 B500")
    assert orders(ticks) == ["BUY 80 B at 125 @3000"]


def test_the_trigger_is_the_last_trade_of_what_is_sold_too() -> None:
    """A is sold at the price of the trigger, and B bought with that."""
    ticks = windows_of("A100 B100", "A200 B100", "A100 B100", "A200 B100", "A150 B100")
    assert orders(ticks) == ["BUY 50 A at 200 @3000", "SELL 50 A at 150 @4000", "BUY 70 B at 100 @4000"]


def test_the_bell_closes_windows_and_sells_without_heeding_signals() -> None:
    """The rise to 2 would sell A and buy B; at the bell there is an indicator, and A is sold."""
    assert answers(at_ratios(1, 2, 1, 2), close=4_000)[2:] == [
        MarketOrder("s", "BUY", "A", 100, 100, 3_000),
        Indicator("s", 2.0, 1.5, 1.5 + 0.5 * sqrt(0.5), 1.5 - 0.5 * sqrt(0.5), 4_000),
        MarketOrder("s", "SELL", "A", 200, 100, 4_000),
    ]


def test_the_bell_buys_nothing() -> None:
    """A flat strategy stays so, though the bell closes a window with a signal."""
    assert orders(at_ratios(2, 1, 2), close=3_000) == []
    assert orders(at_ratios(2, 1, 2), close=3_001) == ["BUY 100 B at 100 @3000"]


def test_the_bell_does_not_sell_twice() -> None:
    """A stop-loss that the bell's window would call for is not acted on; the bell sells once."""
    assert orders(at_ratios(1, 2, 1, 0.5), close=4_000) == ["BUY 100 A at 100 @3000", "SELL 100 A at 50 @4000"]


def test_the_bell_sells_at_its_own_price() -> None:
    """If it is a tick of the symbol owned."""
    ticks = windows_of("B100 A200", "B100 A100", "B100 A200", "B100", "B70")
    assert orders(ticks, close=4_000) == ["BUY 100 B at 100 @3000", "SELL 100 B at 70 @4000"]


def test_ticks_after_the_bell_are_ignored() -> None:
    """Even at the same time: no answer, no price."""
    ticks = at_ratios(1, 2, 1) + ticks_of("X1@4000 A999@4000 A100@4001 B100@4002 A900@5000 B100@5001 X1@6000")
    before = ["BUY 100 A at 100 @3000", "SELL 100 A at 100 @4000"]
    assert orders(ticks, close=4_000) == before
    assert indicators(ticks, close=4_000) == indicators(ticks[:8], close=4_000)


def test_the_market_may_close_within_a_window() -> None:
    """The bell sells at once; the window that it falls into does not close."""
    ticks = at_ratios(1, 2, 1) + ticks_of("A200@3001 X1@3500 X1@4000")
    assert orders(ticks, close=3_456) == ["BUY 100 A at 100 @3000", "SELL 100 A at 200 @3500"]
    assert [tick_ts for *_, tick_ts in indicators(ticks, close=3_456)] == [2_000, 3_000]


def test_a_bell_after_the_end_of_the_window_closes_it() -> None:
    """The market closes within the window, but the first tick from then on comes after its end."""
    ticks = at_ratios(1, 2, 1) + ticks_of("A200@3001 X1@4321")
    assert orders(ticks, close=3_456) == ["BUY 100 A at 100 @3000", "SELL 100 A at 200 @4321"]
    assert [tick_ts for *_, tick_ts in indicators(ticks, close=3_456)] == [2_000, 3_000, 4_321]


def test_without_a_bell_positions_stay_open() -> None:
    """The last window does not close and nothing is sold if the ticks end before the market does."""
    ticks = [*at_ratios(1, 2, 1), StockTick("A", 100, 100, 3_999)]
    assert orders(ticks, close=4_000) == ["BUY 100 A at 100 @3000"]
    assert [tick_ts for *_, tick_ts in indicators(ticks, close=4_000)] == [2_000, 3_000]


def test_strategies_share_symbols_and_keep_their_own_periods() -> None:
    """One sees a window of two seconds, the other two of one second; the legs may be swapped."""
    ticks = windows_of("A100 B100", "A300 B100", "A100 B100", "A100 B100", "X1")
    long, swapped = pair("long", period_ms=2_000), pair("swapped", ("B", "A"))
    found = [answer for answer in answers(ticks, long, swapped) if isinstance(answer, Indicator)]
    assert [(answer.strategy, answer.ratio, answer.inputTickTS) for answer in found] == [
        ("swapped", 1 / 3, 2_000),
        ("swapped", 1.0, 3_000),
        ("long", 1.0, 4_000),
        ("swapped", 1.0, 4_000),
    ]
    assert [answer.avgRatio for answer in found if answer.strategy == "long"] == [1.5]


def test_strategies_have_their_own_money() -> None:
    """Orders of a strategy do not affect the other; answers come in the order of the set."""
    ticks = at_ratios(2, 1, 2)
    found = answers(ticks, pair("rich", funds=20_000), pair("poor", funds=1_000))
    orders = [answer for answer in found if isinstance(answer, MarketOrder)]
    assert [(order.strategy, order.size) for order in orders] == [("rich", 200), ("poor", 10)]
    assert [answer.strategy for answer in found[2:]] == ["rich", "rich", "poor", "poor"]
