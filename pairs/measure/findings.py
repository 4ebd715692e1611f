"""Questions to ask of any run before its numbers are trusted, with their answers in plain sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from pairs.measure.latency import quarters
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import Floats, percentile
from pairs.measure.resources import Usage, usage
from pairs.measure.score import DELAY_SHARE
from pairs.measure.stability import Trend, p99_bounds, trend
from pairs.measure.throughput import MUCH_BACKLOG_S, Backlog, backlog_of
from pairs.model.streams import SCORED
from pairs.run_folder.records import Adaptivity, LatencySummary, Recovery

_UNLIKE = 2.0  # ratio of the p99 of two quarters
_FEW_BEYOND = 10  # answers beyond the 99th percentile
_WIDE = 0.5  # width of a confidence interval, as a share of the value
_BUSY = 0.9  # share of the cores
_OWN_SHARE = 0.2  # share of the cores that drivers and sink may take
_LONGEST_GAP_S = 5.0

Level = Literal["good", "note", "bad"]
Answer = tuple[Level, str]


@dataclass(frozen=True)
class Finding:
    """A sentence about a run: `good`, `note`, or `bad` where a number should not be trusted."""

    level: Level
    title: str
    sentence: str


def findings(recorded: Recorded) -> list[Finding]:
    if recorded.speed is None:
        return [Finding("bad", "Nothing was timed", recorded.why_untimed)]
    measured, used, score = recorded.measured(SCORED), usage(recorded), recorded.score
    found = [
        *latency_findings(measured, *recorded.manifest.measurement_interval_ms),
        backlog_finding(backlog_of(recorded)),
    ]
    if used is not None and recorded.manifest.environment.cores:
        found += machine_findings(used, recorded.manifest.environment.cores)
    if len(measured):
        sent = measured.from_send_time
        sent_p99_s = None if sent is None else percentile(sent.latency_s, 0.99)
        found.append(send_delay_finding(percentile(measured.latency_s, 0.99), sent_p99_s))
    if score is not None and score.adaptivity is not None:
        found.append(burst_finding(score.adaptivity))
    if score is not None and score.recovery is not None:
        found.append(recovery_finding(score.recovery))
    return sorted(found, key=lambda finding: ("bad", "note", "good").index(finding.level))


def latency_findings(timed: Timed, begin: float, end: float) -> Iterator[Finding]:
    if not len(timed):
        yield Finding("bad", "No latency", "No order was triggered in the measurement interval: nothing to judge.")
        return
    yield _finding("Is latency growing?", _growth(trend(timed, begin, end)))
    yield _finding("Do the quarters agree?", _agreement(quarters(timed, begin, end)))
    yield _finding("Are there enough orders?", _certainty(timed.latency_s))


def _finding(title: str, answer: Answer) -> Finding:
    level, sentence = answer
    return Finding(level, title, sentence)


def _growth(found: Trend | None) -> Answer:
    if found is None:
        return "note", "Unknown: orders were too few or too short in time to see a trend."
    if found.growing:
        return "bad", (
            f"Yes: the median grew by {found.growth:.0%} within the interval, far beyond chance. A longer run would "
            "give a worse number, so this number should not be trusted."
        )
    if found.falling:
        return "bad", (
            f"It is falling: the median went down by {-found.growth:.0%} within the interval. The engine was still "
            "warming up when the measurement began; a longer warm-up would give a better number."
        )
    if found.certain:
        return "note", f"A little: {found.growth:+.0%} within the interval, small but steady. The load is symmetric."
    return "good", (
        "No: the medians of slots of time show no trend. Load rises and falls symmetrically in the interval, so it "
        "cannot hide a trend."
    )


def _agreement(found: Sequence[LatencySummary]) -> Answer:
    values = [quarter.p99 for quarter in found if quarter.p99 is not None]
    if len(values) < 4 or min(values) <= 0:
        return "bad", "Unknown: a quarter of the measurement interval has no orders."
    ratio = max(values) / min(values)
    listed = ", ".join(f"{value * 1000:,.0f}" for value in values)
    if ratio <= _UNLIKE:
        return "good", f"Yes: their 99th percentiles are {listed} ms, a factor of {ratio:.2f} apart."
    return "bad", (
        f"No: their 99th percentiles are {listed} ms, a factor of {ratio:.1f} apart. The score is made in quarter "
        f"{values.index(max(values)) + 1} alone; look at what happened there."
    )


def _certainty(latencies_s: Floats) -> Answer:
    count, bounds = len(latencies_s), p99_bounds(latencies_s)
    beyond = count - ceil(0.99 * count)
    if beyond < _FEW_BEYOND or bounds is None:
        return "bad", (
            f"No: {count:,} orders leave only {beyond:,} beyond the 99th percentile, so chance decides about it. "
            "Repeat the run, or use a longer duration or a larger scale factor."
        )
    low, high = bounds
    wide = high - low > _WIDE * percentile(latencies_s, 0.99)
    return "note" if wide else "good", (
        f"{'Hardly' if wide else 'Yes'}: {count:,} orders put the 99th percentile between {low * 1000:,.0f} and "
        f"{high * 1000:,.0f} ms (95 % confidence, if orders were independent; they come in batches, so the truth is "
        "wider)."
    )


def backlog_finding(found: Backlog | None) -> Finding:
    title = "Did the backlog drain?"
    if found is None:
        return Finding("note", title, "Unknown: the backlog was not recorded.")
    worst = f"at worst the engine was {found.worst_s:,.2f} s of input behind"
    if found.growing:
        grew = f"it grew from {found.at_begin_s:,.2f} s to {found.at_end_s:,.2f} s of input"
        unsustained = "The engine did not sustain this load."
        return Finding("bad", title, f"No: {grew} within the measurement interval; {worst}. {unsustained}")
    left = f"{found.last_s:,.2f} s of input were left when it was last noted; {worst}"
    if max(found.last_s, found.at_end_s) > MUCH_BACKLOG_S:
        return Finding("note", title, f"It did not grow, but stayed: {left}.")
    return Finding("good", title, f"Yes: {left}.")


def machine_findings(used: Usage, cores: float) -> Iterator[Finding]:
    title = "Was the machine large enough?"
    own = used.total - used.engine
    busy = f"{used.total:.2f} of {cores:g} cores were in use by this run on average"
    busy += f", {own:.2f} of them by drivers and sink"
    if used.total > _BUSY * cores:
        yield Finding("bad", title, f"No: {busy}. What was measured is the machine as much as the engine.")
    elif own > _OWN_SHARE * cores:
        yield Finding("note", title, f"Barely: {busy}, which share the machine with the engine.")
    else:
        yield Finding("good", title, f"Yes: {busy}.")
    if used.longest_gap_s > _LONGEST_GAP_S:
        gap = f"For {used.longest_gap_s:.1f} s nothing could be sampled, though a sample is taken every second."
        held = "Something else held the machine, and latency with it."
        yield Finding("bad", "Did the machine stand still?", f"{gap} {held}")


def send_delay_finding(scheduled_p99_s: float, sent_p99_s: float | None) -> Finding:
    """Say how much of the scored latency was the driver's own."""
    title = "Was the driver on time?"
    if sent_p99_s is None:
        return Finding("note", title, "The send delay of each tick was not recorded, only that of all ticks together.")
    share = 1 - sent_p99_s / scheduled_p99_s if scheduled_p99_s > 0 else 0.0
    sent = f"{sent_p99_s * 1000:,.1f} ms from the send time"
    both = f"p99 is {scheduled_p99_s * 1000:,.1f} ms from the scheduled and {sent}"
    if share > DELAY_SHARE:
        return Finding("bad", title, f"No: {both}, so {share:.0%} of the scored latency is the driver's.")
    return Finding("good", title, f"Yes: {both}.")


def burst_finding(found: Adaptivity) -> Finding:
    title, ratio, after = "How did it take the burst?", found.peak_degradation_ratio, found.post_peak_variation_ratio
    worst = f"at worst an answer took {found.max_peak_latency_s * 1000:,.0f} ms"
    if found.recovery_time_s is None:
        return Finding("bad", title, f"It did not recover within the run; {worst}.")
    slower = "" if ratio is None else f", p99.9 was {ratio:.1f} times that before"
    then = "" if after is None else f", and mean latency was then {after:.2f} times that before"
    return Finding("note", title, f"It took {found.recovery_time_s:.1f} s to recover{then}; {worst}{slower}.")


def recovery_finding(found: Recovery) -> Finding:
    never = sum(seconds is None for seconds in found.times_s)
    caught_up = ", ".join(f"{seconds:.1f} s" for seconds in found.times_s if seconds is not None)
    sentence = (
        f"After {found.faults} fault{'s' if found.faults > 1 else ''} its recovery was of the class {found.kind}: "
        f"{found.explanation}. It had caught up after {caught_up or 'no time that was seen'}."
    )
    if never:
        sentence += f" {never} times it did not catch up within the run."
    orders = found.latency_s[SCORED.name]
    if orders.p50 is not None and orders.max is not None:
        sentence += f" The {orders.count:,} orders that were due meanwhile came late: half of them by more than "
        sentence += f"{orders.p50:.1f} s, the worst by {orders.max:.1f} s."
    return Finding("good" if found.kind == "precise" and not never else "bad", "How did it recover?", sentence)
