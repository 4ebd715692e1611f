"""How the score grows with the cores, shards or partitions of an engine, if nothing else varies. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from pairs.core.units import counted
from pairs.measure.repetition import Point, Spread, spread

AXES = ("cores", "shards", "partitions")


@dataclass(frozen=True)
class Step:
    """A point with so many cores, shards or partitions, beside the point with the fewest."""

    count: int
    p99_s: Spread | None
    p_score: Spread | None
    speed_up: float | None  # its median p_score to that with the fewest; None if either is not known
    efficiency: float | None  # the speed-up to the ratio of the counts


@dataclass(frozen=True)
class Scaling:
    """What scaling one thing brings, the fewest first, and what limits it."""

    axis: str
    steps: tuple[Step, ...]
    sentence: str


def scaling(points: Sequence[Point]) -> Scaling | None:
    """Return how the score scales; None unless there are points that differ in one thing that can be counted."""
    axes = {name for point in points for name in point.varied}
    if len(points) < 2 or len(axes) != 1 or not axes <= set(AXES):
        return None
    (axis,) = axes
    ordered = sorted(points, key=lambda point: int(point.varied[axis]))
    fewest = int(ordered[0].varied[axis]), ordered[0].p_score
    steps = tuple(_step(point, int(point.varied[axis]), *fewest) for point in ordered)
    return Scaling(axis, steps, _limit(ordered))


def _step(point: Point, count: int, fewest: int, base: Spread | None) -> Step:
    own = point.p_score
    speed_up = own.median / base.median if own is not None and base is not None and base.median > 0 else None
    efficiency = None if speed_up is None else speed_up / (count / fewest)
    return Step(count, point.p99_s, own, speed_up, efficiency)


def _limit(points: Sequence[Point]) -> str:
    """Say what the engine shares the machine with."""
    valid = [run for point in points for run in point.valid]
    others, machines = spread(run.harness_cores for run in valid), {run.machine_cores for run in valid}
    cores = machines.pop() if len(machines) == 1 else None
    if others is None or cores is None:
        return "What limits it is not recorded: it is not known what the engine shared its cores with."
    share = (
        f"The engine shares the {counted(cores, 'core')} of the machine with drivers, sink and any broker of the run."
    )
    used = f"These used {others.median:.2f} of them in the median run"
    return f"{share} {used}, so that the engine had {max(cores - others.median, 0):.2f} at most."
