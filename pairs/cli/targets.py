"""pairs targets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pairs.cli.layout import definitions, print_lines, width

if TYPE_CHECKING:
    from pairs.translator.target import Target


def targets() -> None:
    """List the engines that strategies can be translated for, with their plans and settings."""
    from pairs.translator.targets import all_targets

    for number, (name, target) in enumerate(all_targets().items()):
        if number:
            print()
        print_lines(definitions([(name, target.summary)], width()))
        print_lines(definitions(list(_entries(target)), width(), indent=2))


def _entries(target: "Target") -> Iterator[tuple[str, str]]:
    for name, plan in target.plans.items():
        yield f"--plan {name}", f"class {plan.plan_class}: {plan.summary}"
        yield "", plan.division
    yield "--transport", " or ".join(target.transports)
    for name, known in target.options.items():
        yield f"--set {name}={known.kind.metavar}", f"{known.summary}; {known.kind.wanted}"
