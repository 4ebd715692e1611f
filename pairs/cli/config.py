"""pairs config and pairs profiles."""

from typing import Any

import tomli_w

from pairs.cli.layout import print_table
from pairs.cli.options import ProfileOption, RunOption, accepts
from pairs.config.profile import load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.settings import shipped
from pairs.config.workload import Workload


@accepts(Workload, RunSettings)
def config(profile: ProfileOption = "standard", run: RunOption = "local", *, flags: dict[str, Any]) -> None:
    """Print the configuration that follows from a profile, a run file and flags, as TOML."""
    chosen = load_profile(profile, flags)
    run_settings = {"speed": chosen.speed} | load_run(run, flags).as_plain()
    print(tomli_w.dumps({"profile": chosen.workload.as_plain(), "run": run_settings}), end="")


def profiles() -> None:
    """List the shipped profiles (workloads) and run files (ways to execute them)."""
    known = {group.removesuffix("s"): shipped(group) for group in ("profiles", "runs")}
    rows = [(kind, name, purpose) for kind, purposes in known.items() for name, purpose in purposes.items()]
    print_table(("kind", "name", "what it is for"), rows, texts=("what it is for",))
