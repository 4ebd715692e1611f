"""Latency of the orders in the measurement interval by group: by period length, by pair, by strategy."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairs.measure.recordings import Recorded
from pairs.measure.reduce import Floats, Wholes, percentiles_by_slot
from pairs.measure.validity import FEWEST_ORDERS
from pairs.model.strategy import Strategy
from pairs.model.streams import SCORED

_NO_GROUP = -1


@dataclass(frozen=True)
class GroupLatency:
    """The latencies of a group of orders."""

    group: Any  # a period in ms, a pair of symbols, or the alias of a strategy
    orders: int
    p50_s: float
    p99_s: float | None  # None if there are too few orders
    max_s: float


@dataclass(frozen=True)
class LatencyGroups:
    """The latencies of all groups that have orders."""

    by_period: list[GroupLatency]  # the shortest period first
    by_pair: list[GroupLatency]  # the worst latency first
    by_strategy: list[GroupLatency]  # the worst latency first
    strategies: dict[str, Strategy]  # by alias, as far as they are known


def latency_groups(recorded: Recorded) -> LatencyGroups:
    """Group the orders of the measurement interval; of strategies that are not known, neither period nor pair is."""
    answers, timed = recorded.answers.get(SCORED.name), recorded.timed(SCORED)
    known = {} if recorded.strategies is None else {each.alias: each for each in recorded.strategies.strategies}
    if answers is None or timed is None:
        return LatencyGroups([], [], [], known)
    inside = recorded.inside(timed.tick_ts)
    strategy, latency_s = answers.strategy[inside].astype(np.int64), timed.latency_s[inside]
    found = [known.get(alias) for alias in answers.strategies]
    periods = [None if each is None else each.period_ms for each in found]
    pairs = [None if each is None else each.pair for each in found]
    return LatencyGroups(
        sorted(_grouped(periods, strategy, latency_s), key=lambda group: int(group.group)),
        _worst_first(_grouped(pairs, strategy, latency_s)),
        _worst_first(_grouped(answers.strategies, strategy, latency_s)),
        known,
    )


def _worst_first(groups: list[GroupLatency]) -> list[GroupLatency]:
    return sorted(groups, key=lambda group: -group.max_s)


def _grouped(keys: Sequence[Hashable | None], strategy: Wholes, latency_s: Floats) -> list[GroupLatency]:
    """Group latencies by the keys of their strategies; those of a strategy without a key are left out."""
    groups = list(dict.fromkeys(key for key in keys if key is not None))
    places = {key: place for place, key in enumerate(groups)}
    of_strategy = np.array([_NO_GROUP if key is None else places[key] for key in keys], np.int64)
    group = of_strategy[strategy] if len(strategy) else np.empty(0, np.int64)
    has_group = group != _NO_GROUP
    found = percentiles_by_slot(group[has_group], latency_s[has_group], (0.5, 0.99))
    counts = np.bincount(group[has_group], minlength=len(groups))
    p50_s, p99_s = found.shares
    rows = zip(found.slots.tolist(), p50_s.tolist(), p99_s.tolist(), found.greatest.tolist(), strict=True)
    return [
        GroupLatency(groups[place], int(counts[place]), p50, p99 if counts[place] >= FEWEST_ORDERS else None, worst)
        for place, p50, p99, worst in rows
    ]
