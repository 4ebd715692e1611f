"""The cores that processes may use, where the system lets one choose them."""

import os
from collections.abc import Sequence


def usable_cores() -> tuple[int, ...]:
    """Return the cores that this process may use; none if the system does not tell."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def bind_to(cores: Sequence[int]) -> None:
    """Let this process, and all that it will start, use these cores only; all that it may if none is given."""
    if cores:
        os.sched_setaffinity(0, cores)
