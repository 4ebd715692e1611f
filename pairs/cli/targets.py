"""pairs targets."""

from rich.console import Console
from rich.table import Column, Table


def targets() -> None:
    """List the engines that strategies can be translated for, with their plans and options."""
    from pairs.translator.targets import all_targets

    headings = (Column("target", no_wrap=True), Column(no_wrap=True), "what it is")
    table = Table(*headings, box=None, pad_edge=False)
    for name, target in all_targets().items():
        table.add_row(name, "", target.summary)
        for plan, laid_out in target.plans.items():
            table.add_row("", f"--plan {plan}", f"class {laid_out.plan_class}: {laid_out.summary}")
            table.add_row("", "", laid_out.division)
        for option, known in target.options.items():
            table.add_row("", f"--set {option}={known.kind.metavar}", f"{known.summary}; {known.kind.wanted}")
    Console(soft_wrap=True).print(table)
