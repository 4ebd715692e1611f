"""How a plan shares work between engine and program: who does each step of a strategy, and the class that follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Doer = Literal["operator", "state", "block"]
PlanClass = Literal["native", "keyed", "block"]

STEPS = ("filter", "window aggregate", "ratio", "moving statistics", "signal", "position and orders")
DOERS: Mapping[Doer, str] = {
    "operator": "an operator or statement of the engine's own language",
    "state": "user code that the engine calls with its own tuples, with state that the engine keeps",
    "block": "user code over opaque batches that the engine moves but never looks into",
}
CLASSES: Mapping[PlanClass, str] = {
    "native": "the engine's own operators do the work; user code at most decides on signals and orders",
    "keyed": "user code does the work, on the engine's own tuples and with the engine's state",
    "block": "user code does the work on opaque blocks: program and scheduling are measured, not the engine",
}
_MAY_BE_STATE = {"signal", "position and orders"}  # of a native plan


@dataclass(frozen=True)
class Plan:
    """A way to lay out the work of the strategies on an engine."""

    summary: str
    steps: Mapping[str, Doer]

    def __post_init__(self) -> None:
        if set(self.steps) != set(STEPS):
            raise ValueError(f"a plan says who does each of {', '.join(STEPS)}")

    @property
    def plan_class(self) -> PlanClass:
        """The class of a plan is that of its weakest step."""
        if "block" in self.steps.values():
            return "block"
        by_user = {step for step, doer in self.steps.items() if doer == "state"}
        return "native" if by_user <= _MAY_BE_STATE else "keyed"

    @property
    def division(self) -> str:
        """Who does what, in words: `operator: filter, ratio; state: signal`."""
        steps = {doer: [step for step, done_by in self.steps.items() if done_by == doer] for doer in DOERS}
        return "; ".join(f"{doer}: {', '.join(found)}" for doer, found in steps.items() if found)


def all_steps(doer: Doer) -> dict[str, Doer]:
    return dict.fromkeys(STEPS, doer)
