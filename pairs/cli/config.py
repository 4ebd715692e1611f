"""pairs config and pairs profiles."""

from typing import Any

from pairs.cli.flags import accepts
from pairs.cli.options import ProfileOption, RunOption
from pairs.config.profile import load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.settings import shipped
from pairs.config.workload import Workload


@accepts(Workload, RunSettings)
def config(profile: ProfileOption = "standard", run: RunOption = "local", *, flags: dict[str, Any]) -> None:
    """Print the configuration that follows from a profile, a run file and flags, as TOML."""
    import tomli_w

    chosen, settings = load_profile(profile, flags), load_run(run, flags).as_plain()
    workload = chosen.workload.as_plain()
    print(tomli_w.dumps({"profile": workload, "run": {"speed": chosen.speed} | settings}), end="")


def profiles() -> None:
    """List the shipped profiles (workloads) and run files (ways to execute them)."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("kind", "name", "what it is for"):
        table.add_column(heading)
    for group in ("profiles", "runs"):
        for name, purpose in shipped(group).items():
            table.add_row(group.removesuffix("s"), name, purpose)
    Console().print(table)
