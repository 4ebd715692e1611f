"""pairs targets."""


def targets() -> None:
    """List the engines that strategies can be translated for, with their plans and options."""
    from pairs.cli.render import render_targets
    from pairs.translator.targets import all_targets

    render_targets(all_targets())
