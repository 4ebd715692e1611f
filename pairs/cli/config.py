"""pairs config and pairs profiles."""

from typing import Any

import tomli_w

from pairs.cli.layout import print_table
from pairs.cli.options import ProfileOption, RunOption, accepts
from pairs.config.profile import load_profile
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.settings import shipped
from pairs.config.workload import Workload

_ABOUT = "# For --profile and for --run. Lines with # follow from the others.\n\n"


@accepts(Workload, RunSettings)
def config(profile: ProfileOption = "standard", run: RunOption = "local", *, flags: dict[str, Any]) -> None:
    """Print the configuration that follows from a profile, a run file and flags, as TOML.

    The file can be given as --profile and as --run; each takes its own table.

    $ pairs config --profile quick --sf 10 --plan vectorized > mine.toml
    $ pairs bench --profile mine.toml --run mine.toml
    """
    chosen = load_profile(profile, flags)
    workload = tomli_w.dumps({"profile": {"speed": chosen.speed, **chosen.workload.as_plain()}})
    for name in chosen.workload.derived:  # as comments, so that they follow when the file is edited or a flag is given
        workload = workload.replace(f"\n{name} = ", f"\n# {name} = ")
    print(_ABOUT, workload, "\n", tomli_w.dumps({"run": load_run(run, flags).as_plain()}), sep="", end="")


def profiles() -> None:
    """List the shipped profiles (workloads) and run files (ways to execute them)."""
    known = {group.removesuffix("s"): shipped(group) for group in ("profiles", "runs")}
    rows = [(kind, name, purpose) for kind, purposes in known.items() for name, purpose in purposes.items()]
    print_table(("kind", "name", "what it is for"), rows, texts=("what it is for",))
