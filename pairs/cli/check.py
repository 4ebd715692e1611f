"""pairs check."""

import sys

from pairs.cli.options import DEFAULT_MASTER, DatasetArgument, MasterOption
from pairs.core.errors import PairsError, one_line
from pairs.core.units import counted

_MAX_PROBLEMS = 100  # printed


def check(dataset: DatasetArgument, master: MasterOption = DEFAULT_MASTER) -> None:
    """Check a dataset: every file and every row against the rules, and the digest against dataset.json.

    Finds time that runs backwards, invalid prices, sizes and symbols, files
    that are missing, truncated or duplicated; each with file and row.
    The exit code is 1 if there is any problem.
    """
    from pairs.stages import validate as stage

    found = stage.check(dataset, master)
    for remark in found.remarks:
        print(f"{dataset}: {remark}")
    if found.problems:
        for problem in found.problems[:_MAX_PROBLEMS]:
            print(f"pairs: {one_line(problem)}", file=sys.stderr)
        more = f"; the first {_MAX_PROBLEMS} lines are shown" if len(found.problems) > _MAX_PROBLEMS else ""
        raise PairsError(f"{dataset}: {counted(found.count, 'problem')}{more}")
    digest = "no dataset.json to compare with" if found.digest is None else f"digest {found.digest}"
    print(f"{dataset}: valid, {digest}")
