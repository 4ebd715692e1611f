"""The targets that there are: the kit's own, and those of installed packages with an entry point `pairs.targets`."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import entry_points

from pairs.core.errors import BadInputError
from pairs.translator.target import Target
from pairs.translator.targets.bare import Bare
from pairs.translator.targets.pyspark import PySpark

TARGETS: Mapping[str, type[Target]] = {"pyspark": PySpark, "bare": Bare}


def all_targets() -> dict[str, Target]:
    """Return all targets by name; a package cannot replace a target of the kit."""
    found = {name: target() for name, target in TARGETS.items()}
    for point in entry_points(group="pairs.targets"):
        if point.name not in found:
            found[point.name] = point.load()()
    return found


def find(name: str, plan: str | None) -> tuple[Target, str]:
    targets = all_targets()
    if name not in targets:
        raise BadInputError(f"--target: {name!r} is not a target{_nearest(name, list(targets))}")
    target = targets[name]
    chosen = next(iter(target.plans)) if plan is None else plan
    if chosen not in target.plans:
        raise BadInputError(f"--plan: {plan!r} is not a plan of {name}{_nearest(chosen, list(target.plans))}")
    return target, chosen


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
