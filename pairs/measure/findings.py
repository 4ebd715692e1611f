"""Questions to ask of any run before its numbers are trusted, with their answers in plain sentences.

What makes a score void is `bad`, and nothing else is: the score and these answers say the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pairs.core.units import counted
from pairs.measure.latency import quarters
from pairs.measure.latency_parts import where_it_goes
from pairs.measure.recordings import Recorded, Timed
from pairs.measure.reduce import percentile
from pairs.measure.resources import Disturbance, Usage, disturbance, executors_sentence, usage
from pairs.measure.stability import Trend, trend
from pairs.measure.throughput import MUCH_BACKLOG_S, Backlog, backlog_of
from pairs.measure.validity import DELAY_SHARE
from pairs.model.streams import SCORED
from pairs.run_folder.records import Adaptivity, LatencySummary, Recovery, ScoreRecord

_UNLIKE = 2.0  # ratio of the p99 of two quarters
_WIDE = 0.5  # width of the interval of the 99th percentile, as a share of the value
_BUSY = 0.9  # share of the cores
_OWN_SHARE = 0.2  # share of the cores that drivers and sink may take
_LONGEST_GAP_S = 5.0
MOST_DISTURBED = 0.1  # share of the machine that others may take, be it processes outside the run or the host

LEVELS = ("bad", "warning", "note", "good")
Level = Literal["bad", "warning", "note", "good"]
Answer = tuple[Level, str]


@dataclass(frozen=True)
class Finding:
    """A sentence about a run: `bad` if the score is void for it, `warning` if it should be taken with care."""

    level: Level
    title: str
    sentence: str


def findings(recorded: Recorded, score: ScoreRecord | None) -> list[Finding]:
    """Return the answers to all questions that there is something to say about, those that matter most first."""
    found = [] if score is None else [validity_finding(score)]
    if recorded.speed is None:
        found.append(Finding("note", "Was anything timed?", f"No. {recorded.why_untimed}"))
    else:
        found += _timed_findings(recorded, score)
    if score is not None and score.adaptivity is not None:
        found.append(burst_finding(score.adaptivity))
    if score is not None and score.recovery is not None:
        found.append(recovery_finding(score.recovery))
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def _timed_findings(recorded: Recorded, score: ScoreRecord | None) -> Iterator[Finding]:
    measured, used = recorded.measured(SCORED), usage(recorded)
    yield from latency_findings(measured, *recorded.manifest.measurement_interval_ms)
    if score is not None and score.p99 is not None:
        yield _finding("How certain is the 99th percentile?", _certainty(score))
    yield backlog_finding(backlog_of(recorded))
    if used is not None and recorded.manifest.environment.cores:
        yield from machine_findings(used, recorded.manifest.environment.cores)
    if (told := executors_sentence(recorded)) is not None:
        yield Finding("note", "What did the executors use?", told)
    yield disturbance_finding(disturbance(recorded))
    if len(measured):
        sent = measured.from_send_time
        sent_p99_s = None if sent is None else percentile(sent.latency_s, 0.99)
        yield send_delay_finding(percentile(measured.latency_s, 0.99), sent_p99_s)
    if (where := where_it_goes(recorded)) is not None:
        yield Finding("note", "Where does latency go?", where)


def validity_finding(score: ScoreRecord) -> Finding:
    title = "Does the score count?"
    if not score.valid:
        return Finding("bad", title, f"No: {'; '.join(score.reasons)}.")
    sample = f"the sample has {counted(score.orders, 'order')} of {counted(score.triggers, 'trigger')}"
    return Finding("good", title, f"Yes: every answer is right, the load was offered as planned, and {sample}.")


def latency_findings(timed: Timed, begin: float, end: float) -> Iterator[Finding]:
    if not len(timed):
        return
    yield _finding("Is latency growing?", _growth(trend(timed, begin, end)))
    yield _finding("Do the quarters agree?", _agreement(quarters(timed, begin, end)))


def _finding(title: str, answer: Answer) -> Finding:
    level, sentence = answer
    return Finding(level, title, sentence)


def _growth(found: Trend | None) -> Answer:
    if found is None:
        return "note", "Unknown: orders were too few or too short in time to see a trend."
    if found.growing:
        return "warning", (
            f"Yes: the median grew by {found.growth:.0%} within the interval, far beyond chance. A longer run would "
            "give a worse number."
        )
    if found.falling:
        return "warning", (
            f"It is falling: the median went down by {-found.growth:.0%} within the interval. The engine was still "
            "warming up when the measurement began; a longer warm-up would give a better number."
        )
    if found.certain:
        return "note", f"A little: {found.growth:+.0%} within the interval, small but steady."
    return "good", "No: the medians of slots of time show no trend."


def _agreement(found: Sequence[LatencySummary]) -> Answer:
    values = [quarter.p99 for quarter in found if quarter.p99 is not None]
    if len(values) < 4 or min(values) <= 0:
        return "warning", "Unknown: a quarter of the measurement interval has no orders."
    ratio = max(values) / min(values)
    listed = ", ".join(f"{value * 1000:,.0f}" for value in values)
    if ratio <= _UNLIKE:
        return "good", f"Yes: their 99th percentiles are {listed} ms, a factor of {ratio:.2f} apart."
    return "warning", (
        f"No: their 99th percentiles are {listed} ms, a factor of {ratio:.1f} apart. The score is made in quarter "
        f"{values.index(max(values)) + 1} alone; look at what happened there."
    )


def _certainty(score: ScoreRecord) -> Answer:
    of = f"{counted(score.orders, 'order')} of {counted(score.triggers, 'trigger')}"
    if score.p99_interval is None or score.p99 is None:
        return "note", f"Unknown: {of} cannot tell."
    low, high = score.p99_interval
    wide = high - low > _WIDE * score.p99
    return "warning" if wide else "good", (
        f"{'Hardly' if wide else 'Fairly'}: by {of} it is between {low * 1000:,.0f} and {high * 1000:,.0f} ms "
        "(95 %, by a bootstrap that draws whole triggers, as their orders are late together)."
    )


def backlog_finding(found: Backlog | None) -> Finding:
    title = "Did the backlog drain?"
    if found is None:
        return Finding("note", title, "Unknown: the backlog was not recorded.")
    worst = f"at worst the engine was {found.worst_s:,.2f} s of input behind"
    if found.growing:
        grew = f"it grew from {found.at_begin_s:,.2f} s to {found.at_end_s:,.2f} s of input"
        unsustained = "The engine did not sustain this load."
        return Finding("warning", title, f"No: {grew} within the measurement interval; {worst}. {unsustained}")
    left = f"{found.last_s:,.2f} s of input were left when it was last noted; {worst}"
    if max(found.last_s, found.at_end_s) > MUCH_BACKLOG_S:
        return Finding("note", title, f"It did not grow, but stayed: {left}.")
    return Finding("good", title, f"Yes: {left}.")


def machine_findings(used: Usage, cores: float) -> Iterator[Finding]:
    title = "Was the machine large enough?"
    own = used.total - used.engine
    busy = f"{used.total:.2f} of {cores:g} cores were in use by this run on average"
    busy += f", {own:.2f} of them by drivers, sink and any broker of its own"
    if used.executors is not None:
        busy += "; executors of the cluster, which may share the machine, are not among them"
    if used.total > _BUSY * cores:
        yield Finding("warning", title, f"No: {busy}. What was measured is the machine as much as the engine.")
    elif used.executors is not None:
        yield Finding("note", title, f"For what is not in executors: {busy}.")
    elif own > _OWN_SHARE * cores:
        yield Finding("note", title, f"Barely: {busy}, which share the machine with the engine.")
    else:
        yield Finding("good", title, f"Yes: {busy}.")
    if used.longest_gap_s > _LONGEST_GAP_S:
        gap = f"For {used.longest_gap_s:.1f} s nothing could be sampled, though a sample is taken every second."
        held = "Something else held the machine, and latency with it."
        yield Finding("warning", "Did the machine stand still?", f"{gap} {held}")


def disturbance_finding(found: Disturbance | None) -> Finding:
    """Say what else the machine did within the measurement interval."""
    title = "Was the machine ours?"
    if found is None:
        return Finding("note", title, "Unknown: what else the machine did was not recorded.")
    if found.outside is None:
        return _unseen_finding(title, found.stolen)
    others = f"processes outside the run used {found.outside:.1%} of the machine in the measurement interval"
    both = f"{others}, and the host stole {found.stolen:.1%} of it"
    if max(found.outside, found.stolen) > MOST_DISTURBED:
        return Finding("warning", title, f"No: {both}; above {MOST_DISTURBED:.0%} of either, latency is theirs, too.")
    return Finding("good", title, f"Yes: {both}.")


def _unseen_finding(title: str, stolen: float) -> Finding:
    """Say what is known of a machine on which the kit could not tell the engine from other programs."""
    sentence = f"the host stole {stolen:.1%} of the machine in the measurement interval"
    if stolen > MOST_DISTURBED:
        return Finding("warning", title, f"No: {sentence}; above {MOST_DISTURBED:.0%}, latency is theirs, too.")
    unseen = "somebody else started the engine, so it cannot be told from processes outside the run"
    return Finding("note", title, f"Unknown: {unseen}; {sentence}.")


def send_delay_finding(scheduled_p99_s: float, sent_p99_s: float | None) -> Finding:
    """Say how much of the scored latency was the driver's own."""
    title = "Was the driver on time?"
    if sent_p99_s is None:
        return Finding("note", title, "The send delay of each tick was not recorded, only that of all ticks together.")
    share = 1 - sent_p99_s / scheduled_p99_s if scheduled_p99_s > 0 else 0.0
    sent = f"{sent_p99_s * 1000:,.1f} ms from the send time"
    both = f"p99 is {scheduled_p99_s * 1000:,.1f} ms from the scheduled and {sent}"
    if share > DELAY_SHARE:
        return Finding("warning", title, f"No: {both}, so {share:.0%} of the scored latency is the driver's.")
    return Finding("good", title, f"Yes: {both}.")


def burst_finding(found: Adaptivity) -> Finding:
    title, ratio, after = "How did it take the burst?", found.peak_degradation_ratio, found.post_peak_variation_ratio
    worst = f"at worst an answer took {found.max_peak_latency_s * 1000:,.0f} ms"
    if found.recovery_time_s is None:
        return Finding("warning", title, f"It did not recover within the run; {worst}.")
    slower = "" if ratio is None else f", p99.9 was {ratio:.1f} times that before"
    then = "" if after is None else f", and mean latency was then {after:.2f} times that before"
    return Finding("note", title, f"It took {found.recovery_time_s:.1f} s to recover{then}; {worst}{slower}.")


def recovery_finding(found: Recovery) -> Finding:
    never = sum(seconds is None for seconds in found.times_s)
    caught_up = ", ".join(f"{seconds:.1f} s" for seconds in found.times_s if seconds is not None)
    sentence = (
        f"After {counted(found.faults, 'fault')} its recovery was of the class {found.kind}: "
        f"{found.explanation}. It had caught up after {caught_up or 'no time that was seen'}."
    )
    if never:
        sentence += f" {counted(never, 'time')} it did not catch up within the run."
    orders = found.latency_s[SCORED.name]
    if orders.p50 is not None and orders.max is not None:
        late = f"half of them by more than {orders.p50:.1f} s, the worst by {orders.max:.1f} s"
        sentence += f" {counted(orders.count, 'order')} due meanwhile came late: {late}."
    return Finding("good" if found.kind == "precise" and not never else "warning", "How did it recover?", sentence)
