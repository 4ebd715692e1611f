"""How far drivers and engine are is kept second by second, and an engine that cannot go on is noticed."""

import pytest

from pairs.harness.throughput import THROUGHPUT, Throughput
from pairs.transport.base import Positions


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_throughput_is_kept_second_by_second() -> None:
    """A row a second at most, or if forced; the throughput is that between the engine's first and last progress."""
    clock = Clock()
    throughput = Throughput(clock)
    assert throughput.ticks_per_second() is None
    for produced, consumed in [(10, 0), (20, 5), (30, 5), (40, 25), (50, 45)]:
        throughput.note(Positions(produced, consumed, False))
        clock.now += 0.5
    throughput.note(Positions(51, 45, True), force=True)
    assert throughput.ticks_per_second() == pytest.approx(40 / 1.5)
    table = throughput.table()
    assert table.schema == THROUGHPUT
    assert table["produced"].to_pylist() == [10, 30, 50, 51]
    assert table["consumed"].to_pylist() == [0, 5, 45, 45]


def test_an_engine_may_never_tell_what_it_has_consumed() -> None:
    """That is known, so that nothing is made of it."""
    throughput = Throughput(Clock())
    throughput.note(Positions(10, 0, False))
    assert not throughput.engine_told
    throughput.note(Positions(10, 1, False))
    assert throughput.engine_told


def test_an_engine_that_stands_still_is_noticed() -> None:
    """Time counts while there are ticks to consume and none is consumed."""
    clock = Clock()
    throughput = Throughput(clock)
    for produced, consumed, stalled in [(0, 0, 0), (10, 0, 0), (10, 0, 2), (20, 0, 4), (20, 20, 0), (20, 20, 0)]:
        throughput.note(Positions(produced, consumed, False))
        assert throughput.stalled_s() == stalled
        clock.now += 2


def test_an_engine_that_was_restarted_gets_its_time_anew() -> None:
    """Two kills within a minute are two starts, not one engine that stands still."""
    clock = Clock()
    throughput = Throughput(clock)
    throughput.note(Positions(10, 0, False))
    clock.now += 50
    throughput.engine_restarted()
    clock.now += 50
    throughput.note(Positions(20, 0, False))
    assert throughput.stalled_s() == 50
    idle = Throughput(clock)
    idle.engine_restarted()
    assert idle.stalled_s() == 0


def test_an_engine_that_reads_again_is_alive() -> None:
    """After a crash its position goes back: that is progress, though its throughput counts new ticks alone."""
    clock = Clock()
    throughput = Throughput(clock)
    for read in (0, 50, 90, 10, 40, 80):
        throughput.note(Positions(100, read, False))
        assert throughput.stalled_s() == 0
        clock.now += 40
    assert throughput.ticks_per_second() == pytest.approx(40 / 40)
    assert throughput.stalled_s() == 40
