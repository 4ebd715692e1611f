"""pairs search."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairs.cli import options
from pairs.cli.layout import print_table
from pairs.config.profile import Profile, load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.values import whole
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError
from pairs.dataset.formats import VIRTUAL

if TYPE_CHECKING:
    from pairs.measure.search_policy import Outcome
    from pairs.stages.search_session import SearchSession

_HEADINGS = ("SF", "p99, ms", "95 % interval", "orders", "triggers", "p_score", "cores", "CPU s/M ticks", "sustained")
_LARGEST = 1_000_000
_SCALE_FACTORS = whole(1, _LARGEST, "SF")
_OUTPUT_HELP = "Folder of the search; default: under searches/."


@options.accepts(Workload, RunSettings)
def search(
    profile: options.ProfileOption = "sprint",
    run: options.RunOption = "local",
    slo: Annotated[
        str, options.option("--slo", "LIMIT", "Latency limit of a run, such as p99<1s or p99<500ms.")
    ] = "p99<1s",
    first: Annotated[int, options.parsed_option("--first", _SCALE_FACTORS, "Scale factor to begin with.")] = 1,
    most: Annotated[int, options.parsed_option("--most", _SCALE_FACTORS, "Scale factor to end at.")] = _LARGEST,
    generate: options.GenerateOption = False,
    output: Annotated[Path | None, options.option("--output -o", "SEARCH", _OUTPUT_HELP)] = None,
    master: options.EngineMasterOption = None,
    *,
    flags: dict[str, Any],
) -> None:
    """Find the highest sustained scale factor, and the scale factor with the best score.

    A scale factor is sustained if every answer is correct, the score is valid,
    p99 is within the limit, and neither latency nor backlog grows within the
    measurement interval. The scale factor is doubled until it is not sustained,
    then bisected to 5 %; near the limit each is run three times. Profile sprint
    replays two simulated hours at speed 20, six minutes of wall time a run; an
    estimate for the whole search is printed first. Called again, an interrupted
    search goes on.

    $ pairs search --profile sprint --slo 'p99<500ms'
    """
    from pairs.stages.generate import STORED
    from pairs.stages.run import check_settings, with_master
    from pairs.stages.search_session import SearchSession, parse_limit, search_folder

    def profile_at(scale_factor: int) -> Profile:
        return load_profile(profile, flags | {"scale_factor": str(scale_factor)})

    if "scale_factor" in flags:
        raise BadInputError("--sf: is the result of the search; give --first to start from a scale factor")
    if first > most:
        raise BadInputError(f"--first: {first:,} is above --most {most:,}; give a --first that is not above --most")
    settings = with_master(load_run(run, flags), master)
    _, plan = check_settings(settings, profile_at(first).workload.duration)
    session = SearchSession(
        folder=output or search_folder(profile_at(1).name, settings.target, plan),
        profile_at=profile_at,
        settings=settings,
        limit_s=parse_limit(slo),
        first=first,
        most=most,
        suffix=VIRTUAL if generate else STORED,
        master=master or options.DEFAULT_MASTER,
    )
    seconds = session.run_seconds  # refuses unpaced runs before anything is written
    with session.in_use():
        _print_estimate(session, seconds)
        for outcome in session.outcomes():
            _print_outcome(outcome, " (as found)")
        while (point := session.next_point()) is not None:
            _print_outcome(session.run_next(point))
        if not _print_result(session):
            raise typer.Exit(1)


def _print_estimate(session: "SearchSession", seconds: float) -> None:
    from pairs.core.units import counted
    from pairs.measure.run_time import show_minutes
    from pairs.measure.search_policy import expected_runs

    fewest, most, likely = expected_runs(session.first, session.most)
    runs = counted(fewest, "run") if fewest == most else f"{fewest} to {most} runs"
    span = show_minutes(fewest * seconds) + ("" if fewest == most else f" to {show_minutes(most * seconds)}")
    each = f"about {show_minutes(seconds)} each"
    print(f"{runs}, {each}: {span}, if the highest scale factor sustained is at most {likely:,}", flush=True)


def _print_result(session: "SearchSession") -> bool:
    """Print the result of a search; return whether a scale factor was sustained."""
    from pairs.measure.search_policy import best, highest

    outcomes = session.outcomes()
    print()
    print_table(_HEADINGS, [_row(outcome) for outcome in outcomes], right=_HEADINGS[:-1], texts=_HEADINGS[-1:])
    print()
    top, winner = highest(outcomes), best(outcomes)
    if top is None or winner is None:
        print("no scale factor was sustained")
    else:
        print(f"highest scale factor sustained: {top:,}")
        print(f"best p_score: {winner.p_score:,.2f} at scale factor {winner.scale_factor:,}")
    if (page := session.make_report()) is not None:
        print(f"{page}: all runs compared; open it in a browser")
    return top is not None


def _row(outcome: "Outcome") -> list[str]:
    p99 = "-" if outcome.p99_s is None else f"{outcome.p99_s * 1000:,.0f}"
    bounds = outcome.p99_interval
    interval = "-" if bounds is None else f"{bounds[0] * 1000:,.0f} to {bounds[1] * 1000:,.0f}"
    figures = ((outcome.p_score, ",.2f"), (outcome.cores, ".2f"), (outcome.cost, ".2f"))
    shown = ["-" if value is None else format(value, form) for value, form in figures]
    counts = [f"{outcome.orders:,}", f"{outcome.triggers:,}"]
    sustained = "yes" if outcome.good else f"no: {outcome.why}"
    return [f"{outcome.scale_factor:,}", p99, interval, *counts, *shown, sustained]


def _print_outcome(outcome: "Outcome", remark: str = "") -> None:
    figures = [
        "no p99" if outcome.p99_s is None else f"p99 {outcome.p99_s * 1000:,.1f} ms",
        "no p_score" if outcome.p_score is None else f"p_score {outcome.p_score:,.2f}",
        "sustained" if outcome.good else f"not sustained: {outcome.why}",
    ]
    print(f"scale factor {outcome.scale_factor:,}{remark}: {', '.join(figures)}", flush=True)
