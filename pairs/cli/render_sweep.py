"""Carries out a sweep before the eyes of its user: an estimate, a line for each run, a table, what differs."""

from typing import TYPE_CHECKING

import typer

from pairs.cli.layout import print_table
from pairs.cli.render import render
from pairs.core.units import counted
from pairs.measure.repetition import RULE, Point, RunFigures
from pairs.measure.run_time import show_minutes
from pairs.report.sweep import scaling_limit, scaling_table, sweep_sentences, sweep_table
from pairs.report.tables import NONE, Table

if TYPE_CHECKING:
    from pairs.stages.sweep import SweepSession


def carry_out(session: "SweepSession") -> None:
    """Make all runs that are not there yet, and print and report what they show; exit 1 if no run is valid."""
    with session.in_use():
        points = _make_runs(session)
        _print_points(points)
        page = session.make_report(points)
    print(f"{page}: all points and runs compared; open it in a browser")
    if not any(point.valid for point in points):
        raise typer.Exit(1)


def _make_runs(session: "SweepSession") -> list[Point]:
    """Make all runs that are not there yet; return what all of them came to."""
    _print_plan(session)
    dataset = session.start(render)
    for run in (run for point in session.results() for run in point.runs):
        _print_run(run, " (as found)")
    for point, number in session.remaining():
        _print_run(session.run_once(dataset, point, number))
    return session.results()


def _print_plan(session: "SweepSession") -> None:
    remaining, planned = len(session.remaining()), len(session.points) * session.repeat
    found = f", {planned - remaining:,} as found" if remaining < planned else ""
    told = f"{counted(len(session.points), 'point')}, {counted(planned, 'run')}{found}"
    print(f"{session.folder}: {told}: about {show_minutes(session.seconds)}", flush=True)


def _print_run(run: RunFigures, remark: str = "") -> None:
    figures = [
        "no p99" if run.p99_s is None else f"p99 {run.p99_s * 1000:,.1f} ms",
        "no p_score" if run.p_score is None else f"p_score {run.p_score:,.2f}",
        "CPU not recorded" if run.cost is None else f"{run.cost:,.2f} CPU s per million ticks",
        "valid" if run.valid else f"void: {'; '.join(run.reasons)}",
    ]
    print(f"{run.name}{remark}: {', '.join(figures)}", flush=True)


def _print_table(found: Table) -> None:
    print()
    print_table(found.heading, [["-" if cell == NONE else cell for cell in row] for row in found.rows])


def _print_points(points: list[Point]) -> None:
    _print_table(sweep_table(points))
    if (scaling := scaling_table(points)).rows:
        _print_table(scaling)
        print(scaling_limit(points))
    print()
    for sentence in sweep_sentences(points):
        print(sentence)
    if len(points) > 1:
        print(RULE)
