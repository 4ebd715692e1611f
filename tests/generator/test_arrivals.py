"""When ticks arrive: a Poisson process with the rate of the curve, whole at the borders of slices, or even spacing."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pairs.config.phases import Phase, PhaseRate
from pairs.config.workload import Workload, complete
from pairs.core.units import parse_duration_ms
from pairs.generator.arrivals import RateCurve, Timeline, poisson_quantile
from pairs.model.arrivals import burst_phases

ALARM = 1e-4  # false-alarm rate of every statistical test here, had its seed not been fixed

PROPERTY = settings(derandomize=True, deadline=None)
SLOW_MARKET = {"basis_rate": Fraction(10), "duration": 22_000_000}  # 100 ms between ticks, about six slices
LATE_MARKET = {"peak_factor": 1e-7, "symbols": 10}  # its first slices have nothing but the opening trade

CURVES = ("varying", "constant", "burst", "phases")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Knots = tuple[Floats, Floats]


def timeline(**values: Any) -> Timeline:
    """Return the timeline of a workload with these settings."""
    return Timeline(complete({"volatility": 0.0} | values))  # without prices days may be long


def all_times(line: Timeline) -> Ints:
    """Return tickTS of all ticks, slice after slice."""
    return np.concatenate([line.tick_times(line.slice(index)) for index in range(line.slices)])


def knots(workload: Workload) -> Knots:
    """Return the times in ms and the rates per ms between which the specification's curve is linear."""
    duration, basis = float(workload.duration), float(workload.basis_rate) / 1000
    peak = workload.peak_factor * basis
    times = np.array([0, duration / 120, duration / 4, duration / 2, 3 * duration / 4, duration])
    return times, np.array([0, peak, basis, peak, basis, peak])


def stretches(workload: Workload) -> list[tuple[float, float, float, float]]:
    """Return begin and end of each stretch in which the specified curve is linear, and the rates per ms there."""
    duration, basis = float(workload.duration), float(workload.basis_rate) / 1000
    if workload.curve == "constant":
        return [(0.0, duration, basis, basis)]
    if workload.curve == "phases":
        ends = [float(phase.until) for phase in workload.phases]
        rates = [phase.rate.value * (workload.basis_rate if phase.rate.is_share else 1) for phase in workload.phases]
        flat = [float(rate) / 1000 for rate in rates]
        return list(zip([0.0, *ends[:-1]], ends, flat, flat, strict=True))
    if workload.curve == "burst":
        begins, peak = duration * 360 / 670, workload.peak_factor * basis
        ends_burst = begins + min(10_000.0, duration * 10 / 670)
        return [
            (0.0, duration * 60 / 670, 0.0, basis),
            (duration * 60 / 670, begins, basis, basis),
            (begins, ends_burst, peak, peak),
            (ends_burst, duration, basis, basis),
        ]
    times, rates_at = (values.tolist() for values in knots(workload))
    return list(zip(times[:-1], times[1:], rates_at[:-1], rates_at[1:], strict=True))


def expected_ticks(workload: Workload, times: Any) -> Floats:
    """Integrate the curve from 0 to each time, stretch by stretch."""
    found = np.zeros(len(times))
    for begin, end, first, last in stretches(workload):
        inside = np.clip(np.asarray(times, np.float64), begin, end) - begin
        found += inside * (first + (last - first) / (end - begin) * inside / 2)
    return found


def rescaled_arrivals(line: Timeline) -> Floats:
    """Return all arrivals but the opening trade on the scale on which they have rate 1, spread within their ms."""
    times = all_times(line)[1:-1]
    spread = np.sort(times + np.random.default_rng(0).random(len(times)))
    return expected_ticks(line.workload, spread)


def two_sided(chi_square: float, degrees: int) -> float:
    """Return the p-value of a chi-square that may be too large or too small."""
    return float(2 * min(stats.chi2.cdf(chi_square, degrees), stats.chi2.sf(chi_square, degrees)))


@st.composite
def own_phases(draw: st.DrawFn, duration: int) -> tuple[Phase, ...]:
    """Draw phases of any length, some of them halts, with rates around the basis rate or far below it."""
    ends = sorted(draw(st.sets(st.integers(1, duration), max_size=12)) | {duration})
    shares = [Fraction(draw(st.sampled_from(["0", "0", "1/1000000", "1/100", "1", "3/2", "3"]))) for _ in ends]
    shares[draw(st.integers(0, len(ends) - 1))] = Fraction(1)
    rates = [PhaseRate(share, is_share=True) for share in shares]
    return tuple(Phase(str(place), *phase) for place, phase in enumerate(zip(ends, rates, strict=True)))


@st.composite
def workloads(draw: st.DrawFn, most_ticks: float = 150_000.0, curves: Sequence[str] = CURVES) -> Workload:
    """Draw a workload of any shape with a limited number of ticks."""
    duration = draw(st.integers(1, 10_000) | st.integers(1, 10_000_000))
    curve = draw(st.sampled_from(curves))
    ticks = draw(st.floats(-2, float(np.log10(most_ticks))).map(lambda power: 10**power) | st.just(most_ticks))
    values = {
        "duration": duration,
        "basis_rate": Fraction(ticks * 1000 / duration),
        "peak_factor": draw(st.sampled_from([0.01, 0.5, 1.0, 1.5, 3.0])),
        "arrivals": draw(st.sampled_from(["poisson", "constant"])),
        "curve": curve,
        "phases": draw(own_phases(duration)) if curve == "phases" else (),
        "symbols": draw(st.integers(2, 500)),
        "volatility": 0.0,
        "seed": draw(st.integers(0, 2**64 - 1)),
    }
    return complete(values)


@pytest.fixture(scope="module", autouse=True)
def _fixed_slices() -> Iterator[None]:
    """Give slices the length these tests are laid out for; the kit's own is a matter of speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pairs.generator.arrivals._TICKS_PER_SLICE", 65_536)
        yield


@pytest.fixture(scope="module")
def slow() -> Timeline:
    """Return a market so slow that whole milliseconds hardly matter."""
    return timeline(**SLOW_MARKET)


@pytest.fixture(scope="module")
def arrivals(slow: Timeline) -> Floats:
    """Return the slow market's arrivals on the scale on which they have rate 1."""
    return rescaled_arrivals(slow)


# The curve


def test_standard_curve_expects_44_85_million_ticks() -> None:
    """The standard day at scale factor 1 has 44.85 million ticks on average, split by the knots as specified."""
    curve = RateCurve.of(complete({}))
    minutes = np.array([0.0, 1.0, 30.0, 60.0, 90.0, 120.0])
    phases = np.diff(curve.mass(minutes * 60_000))
    np.testing.assert_allclose(phases, [225_000, 10_875_000, 11_250_000, 11_250_000, 11_250_000], rtol=1e-12)
    assert curve.mass(np.array([7_200_000.0]))[0] == pytest.approx(44_850_000, rel=1e-12)


@PROPERTY
@given(workload=workloads(), parts=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_mass_is_the_integral_of_the_curve(workload: Workload, parts: list[float]) -> None:
    """The mass before any time is the area under the specified curve up to it."""
    times = np.array(parts) * workload.duration
    scale = float(expected_ticks(workload, [workload.duration])[0])
    expected = expected_ticks(workload, times)
    np.testing.assert_allclose(RateCurve.of(workload).mass(times), expected, rtol=1e-9, atol=1e-12 * scale)


@PROPERTY
@given(workload=workloads(1e12), parts=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_inverse_inverts_mass(workload: Workload, parts: list[float]) -> None:
    """At the time that belongs to a mass the curve has that mass; times ascend with masses and stay in the day."""
    curve = RateCurve.of(workload)
    masses = np.sort(parts) * curve.masses[-1]
    times = curve.inverse(masses)
    np.testing.assert_allclose(curve.mass(times), masses, rtol=1e-9, atol=1e-12 * curve.masses[-1])
    assert (np.diff(times) >= -1e-9 * workload.duration).all()
    assert (times >= 0).all()
    assert (times <= workload.duration * (1 + 1e-12)).all()


def test_a_burst_has_the_published_lengths() -> None:
    """A minute of ramp-up, five at the basis rate, ten seconds at the peak, five minutes; else their shares."""
    curve = RateCurve.of(complete({"curve": "burst", "duration": 670_000}))
    borders = np.array([0, 60, 360, 370, 670]) * 1_000.0
    np.testing.assert_allclose(np.diff(curve.mass(borders)), [150_000, 1_500_000, 75_000, 1_500_000], rtol=1e-12)
    assert list(burst_phases(67_000).values()) == pytest.approx([0, 6_000, 36_000, 37_000])
    assert list(burst_phases(6_700_000).values()) == pytest.approx([0, 600_000, 3_600_000, 3_610_000])


# Counts


@PROPERTY
@given(
    cases=st.lists(st.tuples(st.floats(1e-12, 1 - 1e-12), st.floats(-9, 7)), min_size=1, max_size=30),
)
def test_poisson_quantile_is_scipys(cases: list[tuple[float, float]]) -> None:
    """The quantile is the least number whose distribution function reaches the chance, as scipy has it."""
    chances, means = np.array([chance for chance, _ in cases]), 10.0 ** np.array([power for _, power in cases])
    counts = poisson_quantile(chances, means)
    np.testing.assert_array_equal(counts, stats.poisson.ppf(chances, means))
    assert (stats.poisson.cdf(counts, means) >= chances).all()
    assert (stats.poisson.cdf(counts - 1, means) < chances).all()


def test_total_of_the_standard_day_has_the_mean_of_the_curve() -> None:
    """Over 100 seeds the standard day has 44.85 million arrivals, with Poisson scatter (alarm 1e-4 each)."""
    totals = np.array([timeline(seed=seed).ticks - 1 for seed in range(100)])
    deviations = (totals - 44_850_000) / np.sqrt(44_850_000)
    assert 2 * stats.norm.sf(abs(deviations.sum()) / np.sqrt(100)) > ALARM
    assert two_sided(float((deviations**2).sum()), 100) > ALARM


def test_counts_of_slices_are_dispersed_like_poisson() -> None:
    """Counts of 824 slices over 50 seeds scatter around the curve with variance equal to mean (alarm 1e-4)."""
    lines = [timeline(seed=seed) for seed in range(50)]
    means = np.diff(expected_ticks(lines[0].workload, lines[0].borders_ms))
    counts = np.diff([line.first_ticks for line in lines], axis=1)
    assert two_sided(float(((counts - means) ** 2 / means).sum()), counts.size) > ALARM


def test_counts_of_neighbouring_slices_are_independent() -> None:
    """The counts of neighbouring slices are not correlated (Pearson, alarm 1e-4)."""
    line = timeline()
    means = np.diff(expected_ticks(line.workload, line.borders_ms))
    deviations = (np.diff(line.first_ticks) - means) / np.sqrt(means)
    assert stats.pearsonr(deviations[:-1], deviations[1:]).pvalue > ALARM


def test_small_counts_have_the_poisson_distribution() -> None:
    """Counts of a tiny day over 4,000 seeds follow the Poisson distribution (chi-square, alarm 1e-4)."""
    tiny = {"basis_rate": Fraction(10), "duration": 600, "curve": "constant"}
    counts = np.array([timeline(seed=seed, **tiny).ticks - 1 for seed in range(4_000)])
    bins = np.arange(2, 14)  # 0 and 1 share a bin, as there is always the opening trade
    observed = np.bincount(np.digitize(counts, bins), minlength=len(bins) + 1)
    chances = np.diff([0.0, *stats.poisson.cdf(bins - 1, 6.0), 1.0])
    assert stats.chisquare(observed, 4_000 * chances).pvalue > ALARM


def test_slices_without_expectation_are_empty() -> None:
    """Where the curve is almost zero there is only the opening trade."""
    line = timeline(**LATE_MARKET)
    hardly_any = int((expected_ticks(line.workload, line.borders_ms) < 0.01).sum())
    assert hardly_any > 2
    assert line.first_ticks[:hardly_any].tolist() == [0] + [1] * (hardly_any - 1)


# Arrival times


def test_rescaled_gaps_are_exponential(arrivals: Floats) -> None:
    """Measured in expected ticks, gaps are exponential with mean 1 (Kolmogorov-Smirnov, alarm 1e-4)."""
    assert stats.kstest(np.diff(arrivals), "expon").pvalue > ALARM


@pytest.mark.parametrize("phase", range(5))
def test_rescaled_gaps_are_exponential_in_every_phase(slow: Timeline, arrivals: Floats, phase: int) -> None:
    """Gaps are exponential with mean 1 in the ramp-up and in each swing (Kolmogorov-Smirnov, alarm 1e-4)."""
    start, end = expected_ticks(slow.workload, knots(slow.workload)[0])[phase : phase + 2]
    inside = arrivals[(arrivals >= start) & (arrivals < end)]
    assert stats.kstest(np.diff(inside), "expon").pvalue > ALARM


def test_gaps_do_not_depend_on_their_predecessors(arrivals: Floats) -> None:
    """Consecutive gaps are not correlated (Pearson, alarm 1e-4)."""
    gaps = np.diff(arrivals)
    assert stats.pearsonr(gaps[:-1], gaps[1:]).pvalue > ALARM


def test_counts_of_short_windows_are_dispersed_like_poisson(slow: Timeline, arrivals: Floats) -> None:
    """Counts of 10,000 windows with the same expectation have variance equal to mean (chi-square, alarm 1e-4)."""
    total = float(expected_ticks(slow.workload, [slow.workload.duration])[0])
    counts = np.histogram(arrivals, bins=10_000, range=(0.0, total))[0]
    mean = total / 10_000
    assert two_sided(float(((counts - mean) ** 2 / mean).sum()), len(counts)) > ALARM


def test_arrivals_follow_the_curve_inside_a_slice() -> None:
    """Also a day of a single slice follows the curve (Kolmogorov-Smirnov, alarm 1e-4)."""
    line = timeline(basis_rate=Fraction(10), duration=4_000_000, seed=2)
    total = float(expected_ticks(line.workload, [line.workload.duration])[0])
    assert line.slices == 1
    assert stats.kstest(rescaled_arrivals(line) / total, "uniform").pvalue > ALARM


def test_process_does_not_notice_the_borders_of_slices() -> None:
    """From a border to the next arrival, and back to the last, is exponential, independently (alarm 1e-4 each)."""
    line = timeline(basis_rate=Fraction(10), duration=600_000_000, seed=3)
    borders = line.borders_ms[1:-1]
    ends = [line.tick_times(line.slice(index))[[0, -1]] for index in range(line.slices)]
    half_ms = 0.5
    after = expected_ticks(line.workload, np.array([first for first, _ in ends[1:]]) + half_ms)
    before = expected_ticks(line.workload, np.array([last for _, last in ends[:-1]]) + half_ms)
    forward = after - expected_ticks(line.workload, borders)
    backward = expected_ticks(line.workload, borders) - before
    assert len(borders) > 100
    assert stats.kstest(forward, "expon").pvalue > ALARM
    assert stats.kstest(backward, "expon").pvalue > ALARM
    assert stats.spearmanr(forward, backward).pvalue > ALARM


def test_flat_curve_spreads_arrivals_evenly() -> None:
    """With a constant curve arrivals are uniform over the day, at the basis rate (alarm 1e-4 each)."""
    line = timeline(**SLOW_MARKET, curve="constant")
    times, mean = all_times(line)[1:-1], 220_000
    assert stats.kstest(times / line.workload.duration, "uniform").pvalue > ALARM
    assert 2 * stats.norm.sf(abs(line.ticks - 1 - mean) / np.sqrt(mean)) > ALARM


@pytest.mark.parametrize("curve", ["varying", "constant"])
@pytest.mark.parametrize(("rate", "duration"), [(5_000, 60_000), (10, 100_000), (300, 7_000), (1, 999)])
def test_constant_arrivals_are_even_under_the_curve(curve: str, rate: int, duration: int) -> None:
    """Evenly spaced, tick i arrives where the curve has integrated to i + 1/2, rounded down to a millisecond."""
    line = timeline(basis_rate=Fraction(rate), duration=duration, curve=curve, arrivals="constant")
    times = all_times(line)[1:-1]
    halves = np.arange(1, len(times) + 1) + 0.5
    total = float(expected_ticks(line.workload, [duration])[0])
    assert abs(line.ticks - 1 - total) <= 0.5
    assert (expected_ticks(line.workload, times) <= halves + 1e-6).all()
    assert (expected_ticks(line.workload, times + 1) >= halves - 1e-6).all()


def test_constant_arrivals_on_a_flat_curve_have_equal_gaps() -> None:
    """At 10 ticks a second, evenly spaced and flat, ticks are exactly 100 ms apart behind the opening trade."""
    times = all_times(timeline(**SLOW_MARKET, curve="constant", arrivals="constant"))
    assert times.tolist() == [0, *range(150, 22_000_000, 100), 22_000_000]


# Phases


def day_of(*phases: tuple[str, str], **values: Any) -> Timeline:
    """Return the timeline of a market with these phases: until when, and at which rate."""
    parsed = [(parse_duration_ms(until), PhaseRate.parse(rate)) for until, rate in phases]
    return timeline(phases=tuple(Phase(str(place), *phase) for place, phase in enumerate(parsed)), **values)


def counts_of(line: Timeline) -> list[int]:
    """Count the arrivals of each phase, without the opening trade and the bell."""
    ends = [phase.until for phase in line.workload.phases]
    counts: list[int] = np.histogram(all_times(line)[1:-1], [0, *(end - 0.5 for end in ends)])[0].tolist()
    return counts


def test_every_phase_has_its_rate() -> None:
    """Shares are of the basis rate, rates are of all markets; counts have Poisson scatter (alarm 1e-4 each)."""
    line = day_of(("10m", "100%"), ("20m", "0"), ("30m", "300"), ("31m", "1000%"), basis_rate=Fraction(100), seed=5)
    observed = counts_of(line)
    expected = [60_000, 0, 180_000, 60_000]
    assert observed[1] == 0
    for count, mean in zip(observed, expected, strict=True):
        assert mean == count == 0 or 2 * stats.norm.sf(abs(count - mean) / np.sqrt(mean)) > ALARM


def test_evenly_spaced_phases_have_exact_counts() -> None:
    """At even spacing a phase has as many ticks as its rate and length say, and a halt none."""
    line = day_of(("1m", "10"), ("2m", "0"), ("3m", "20"), ("4m", "0%"), arrivals="constant")
    assert counts_of(line) == [599, 0, 1_200, 0]  # and the opening trade
    assert line.ticks == 1_801


@PROPERTY
@given(workload=workloads(curves=["phases"]))
def test_a_halt_has_no_ticks(workload: Workload) -> None:
    """Only the opening trade may fall into a halt, wherever slices end."""
    times = all_times(Timeline(workload))[1:-1]
    for begin, end, rate, _ in stretches(workload):
        assert rate > 0 or not ((times >= begin) & (times < end)).any()


# Order, opening and bell


@PROPERTY
@given(workload=workloads())
def test_time_runs_from_the_opening_to_the_bell(workload: Workload) -> None:
    """Ticks ascend in whole ms, the first is at 0, all are before D, the bell is at D."""
    times = all_times(Timeline(workload))
    assert (np.diff(times) >= 0).all()
    assert times[-1] == workload.duration
    assert (times[:-1] < workload.duration).all()
    assert len(times) > 1
    assert times[0] == 0


@PROPERTY
@given(workload=workloads())
def test_slices_partition_time_and_ticks(workload: Workload) -> None:
    """Slices follow each other without a gap, each has the ticks of its own time, and the last has the bell."""
    line = Timeline(workload)
    slices = [line.slice(index) for index in range(line.slices)]
    assert [piece.start_ms for piece in slices] == [0, *(piece.end_ms for piece in slices[:-1])]
    assert slices[-1].end_ms == workload.duration
    assert np.cumsum([0, *(piece.ticks for piece in slices)]).tolist() == [
        *(piece.first_tick for piece in slices),
        line.ticks,
    ]
    for piece in slices:
        times = line.tick_times(piece)
        assert len(times) == piece.ticks
        assert ((times >= piece.start_ms) & (times < piece.end_ms))[: piece.ticks - (piece is slices[-1])].all()


@pytest.mark.parametrize("values", [{}, SLOW_MARKET, LATE_MARKET, {"duration": 1_000}])
def test_slices_with_finds_exactly_the_slices_of_a_range(values: dict[str, Any]) -> None:
    """A range of ticks lies in the slices found for it, and its two ends in the first and the last of them."""
    line = timeline(**values)
    random = np.random.default_rng(1)
    edges = [0, 1, line.ticks - 1, line.ticks, *line.first_ticks.tolist(), *(line.first_ticks + 1).tolist()]
    for _ in range(500):
        first, end = sorted(random.choice(edges, 2) if random.random() < 0.5 else random.integers(0, line.ticks + 1, 2))
        if first == end:
            continue
        found = line.slices_with(first, end)
        head, tail = line.slice(found[0]), line.slice(found[-1])
        assert head.first_tick <= first < head.first_tick + head.ticks
        assert tail.first_tick < end <= tail.first_tick + tail.ticks


def test_length_of_slices_ignores_the_seed() -> None:
    """Slices are the same for every seed, so that they are a property of the workload alone."""
    assert timeline(seed=1).borders_ms.tolist() == timeline(seed=2).borders_ms.tolist()
