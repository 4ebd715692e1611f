"""Decisions so close to a band or a stop that rounding may decide them, in the words of the terminal and the report."""

from collections.abc import Iterator, Mapping, Sequence

from pairs.core.units import counted
from pairs.model.streams import TOLERANCE

_MOST_NAMES = 10
_WHERE = f"within {TOLERANCE:.0e} of a band or a stop".replace("e-0", "e-")


def knife_edge_count(by_strategy: Mapping[str, int]) -> str:
    """Say how many decisions of how many strategies there are."""
    decisions = sum(by_strategy.values())
    return f"{counted(decisions, 'decision')} of {counted(len(by_strategy), 'strategy')} {_lie(decisions)} {_WHERE}"


def knife_edge_remarks(decisions: int, touched: Sequence[str], passed: bool) -> Iterator[str]:
    """Say how many decisions there are and, if validation failed, which strategies with incorrect answers have any."""
    if not decisions:
        return
    why = "where an engine that sums in another order may decide otherwise"
    yield f"{counted(decisions, 'decision')} {_lie(decisions)} {_WHERE}, {why}"
    if touched:
        have = "has" if len(touched) == 1 else "have"
        yield f"{counted(len(touched), 'strategy')} with incorrect answers {have} such decisions: {_names(touched)}"
    elif not passed:
        yield "No strategy with incorrect answers has such decisions"


def _names(strategies: Sequence[str]) -> str:
    more = f" and {len(strategies) - _MOST_NAMES:,} more" if len(strategies) > _MOST_NAMES else ""
    return ", ".join(strategies[:_MOST_NAMES]) + more


def _lie(count: int) -> str:
    return "lies" if count == 1 else "lie"
