"""The targets that there are: the kit's own, and those of installed packages with an entry point `pairs.targets`."""

from collections.abc import Mapping
from importlib.metadata import entry_points

from pairs.config.run_settings import RunSettings
from pairs.config.values import suggestion
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


def find(name: str, plan: str | None, place: str = "--target", plan_place: str = "--plan") -> tuple[Target, str]:
    """Return a target and a plan of it, by default its first; the places are those where their names were given."""
    targets = all_targets()
    if name not in targets:
        raise BadInputError(f"{place}: {name!r} is not a target; {suggestion(name, targets)}")
    target = targets[name]
    chosen = next(iter(target.plans)) if plan is None else plan
    if chosen not in target.plans:
        raise BadInputError(f"{plan_place}: {plan!r} is not a plan of {name}; {suggestion(chosen, target.plans)}")
    return target, chosen


def find_for(settings: RunSettings) -> tuple[Target, str]:
    """Return the target and the plan of a run."""
    return find(settings.target, settings.plan, settings.place("target"), settings.place("plan"))
