"""Ticks that come by several partitions, in the order of the stream again."""

import random
from collections import deque
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.core.files import shipped_folder
from pairs.transport import tick_records

RECORD = np.dtype([("seq", np.int64), ("price", np.int64)])


def shipped(name: str) -> ModuleType:
    """Load a module that programs are shipped with."""
    module = ModuleType(name)
    file = shipped_folder("templates") / "pyspark" / "common" / f"{name}.py"
    exec(compile(file.read_text(), str(file), "exec"), module.__dict__)  # noqa: S102
    return module


@pytest.fixture(scope="module")
def merging() -> ModuleType:
    """Load what merges partitions."""
    return shipped("merging")


def test_blocks_are_records_of_the_tick_log() -> None:
    """Executors have no kit to import the layout from; it is the same."""
    assert shipped("blocks").RECORD == tick_records.RECORD


@given(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=60), st.integers(0, 2**32))
def test_ticks_come_out_in_order_and_all(merging: ModuleType, sources: int, placed: list[int], seed: int) -> None:
    """Whatever partition is ahead, and however often the state is kept: none early, none lost, none twice."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    waiting = [deque[int]() for _ in range(sources)]
    for seq, place in enumerate(placed):
        waiting[place % sources].append(seq)
    kept, found = b"", list[int]()
    while any(waiting):
        merge, arrived = merging.Merge(list(range(sources)), RECORD, kept), list[int]()
        for source, queue in enumerate(waiting):
            taken = [queue.popleft() for _ in range(min(chance.randint(0, 5), len(queue)))]
            if taken:
                merge.note(source, taken[-1], len(taken))
                arrived += taken
        chance.shuffle(arrived)
        found += merge.in_order(np.array([(seq, 7) for seq in arrived], RECORD))["seq"].tolist()
        missing = min((queue[0] for queue in waiting if queue), default=len(placed))
        assert found == list(range(len(found)))
        assert len(found) <= missing
        kept = merge.kept()
    assert found == list(range(len(placed)))


def test_a_strategy_sees_only_its_own_ticks(merging: ModuleType) -> None:
    """Marks tell how far partitions are, so that ticks of others need not come."""
    merge = merging.Merge([3, 5], RECORD)
    merge.note(3, 9, 5)
    assert not len(merge.in_order(np.array([(3, 1), (9, 1)], RECORD)))
    merge.note(5, 7, 4)
    assert merge.in_order(np.array([(6, 1)], RECORD))["seq"].tolist() == [3, 6]
    merge.note(5, 8, 1)
    assert merge.in_order(np.empty(0, RECORD))["seq"].tolist() == [9]
