"""The class of a plan is that of its weakest step."""

import pytest

from pairs.model.plan import STEPS, Doer, Plan, PlanClass, all_steps
from pairs.translator.targets import TARGETS


@pytest.mark.parametrize(
    ("changes", "plan_class"),
    [
        ({}, "native"),
        ({"signal": "state", "position and orders": "state"}, "native"),
        ({"moving statistics": "state"}, "keyed"),
        ({"filter": "state"}, "keyed"),
        ({"signal": "block"}, "block"),
        ({"filter": "state", "ratio": "block"}, "block"),
    ],
)
def test_the_weakest_step_decides(changes: dict[str, Doer], plan_class: PlanClass) -> None:
    """A native plan may decide on signals and orders in user code, and on nothing else."""
    assert Plan("", all_steps("operator") | changes).plan_class == plan_class


def test_every_step_is_declared() -> None:
    """A plan that says nothing about a step is a mistake of its author."""
    with pytest.raises(ValueError, match="who does each of filter"):
        Plan("", {"filter": "operator"})


def test_who_does_what_in_words() -> None:
    """Steps by who does them."""
    plan = Plan("", all_steps("operator") | {"signal": "state", "position and orders": "state"})
    assert plan.division == (
        "operator: filter, window aggregate, ratio, moving statistics; state: signal, position and orders"
    )


@pytest.mark.parametrize("target", TARGETS.values())
def test_a_block_plan_is_never_the_default_of_an_engine(target: type) -> None:
    """It measures a program, not an engine; bare, which is no engine, has nothing else."""
    plans = target.plans  # type: ignore[attr-defined]
    classes = [plan.plan_class for plan in plans.values()]
    assert classes[0] != "block" or set(classes) == {"block"}
    assert all(set(plan.steps) == set(STEPS) for plan in plans.values())
