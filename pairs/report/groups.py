"""Latency by group for a page: periods as a table, pairs and strategies as rows that can be searched and sorted."""

from typing import Any

from pairs.measure.latency_groups import GroupLatency, LatencyGroups
from pairs.report.tables import Table, milliseconds

_MOST_ROWS = 15_000
_SLOWEST = 10


def period_table(groups: LatencyGroups) -> Table:
    rows = [
        (
            f"{group.group / 1000:g} s",
            f"{group.orders:,}",
            *map(milliseconds, (group.p50_s, group.p99_s, group.max_s)),
        )
        for group in groups.by_period
    ]
    return Table(("period length", "orders", "p50", "p99", "max"), rows)


def latency_rows(groups: LatencyGroups) -> dict[str, Any]:
    """Return the rows of pairs and strategies, the worst latency first, times in ms."""
    strategies = [_strategy_row(groups, group) for group in groups.by_strategy[:_MOST_ROWS]]
    return {
        "pairs": [[_pair(group.group), *_figures(group)] for group in groups.by_pair[:_MOST_ROWS]],
        "allPairs": len(groups.by_pair),
        "strategies": strategies,
        "allStrategies": len(groups.by_strategy),
        "slowest": strategies[:_SLOWEST],
    }


def _strategy_row(groups: LatencyGroups, group: GroupLatency) -> list[Any]:
    strategy = groups.strategies.get(group.group)
    if strategy is None:
        return [group.group, None, None, *_figures(group)]
    return [group.group, _pair(strategy.pair), strategy.period_ms / 1000, *_figures(group)]


def _pair(symbols: tuple[str, str]) -> str:
    return " / ".join(symbols)


def _figures(group: GroupLatency) -> tuple[int, float, float | None, float]:
    p99_ms = None if group.p99_s is None else round(group.p99_s * 1000, 2)
    return group.orders, round(group.p50_s * 1000, 2), p99_ms, round(group.max_s * 1000, 2)
