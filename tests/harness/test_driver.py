"""The driver sends every tick when it is due, whatever happens, and is honest about its send delay."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.harness.driver import SendDelay, play_paced, play_unpaced, read_ahead, read_pieces
from pairs.transport.tick_records import RECORD, Records
from pairs.transport.ticklog import TickLogWriter
from pairs.transport.ticklog_file import TickLogReader, create_log
from tests.validator.markets import random_walk, ticks_of, write_ticks

START = 1_000_000_000


class Clock:
    """A clock that goes on by itself a little with every look, and by sleeping."""

    def __init__(self, step_us: int = 10) -> None:
        self.now = START - 5_000
        self.step_us = step_us
        self.stops: dict[int, int] = {}  # where time jumps: the process was held up

    def __call__(self) -> int:
        """Return the time."""
        self.now += self.step_us
        for at in [at for at in self.stops if at <= self.now]:
            self.now += self.stops.pop(at)
        return self.now

    def sleep(self, seconds: float) -> None:
        """Go on by so much."""
        self.now += max(round(seconds * 1e6), 1)


def due(times_ms: list[int]) -> Records:
    """Make ticks that are due at these times."""
    records = np.zeros(len(times_ms), RECORD)
    records["tickTS"] = times_ms
    return records


def play(tmp_path: Path, pieces: list[Records], clock: Clock, speed: float = 1.0) -> tuple[Records, SendDelay]:
    """Play pieces; return what the log holds, and the send delay."""
    tmp_path.mkdir(exist_ok=True)
    create_log(tmp_path / "log")
    with TickLogWriter(tmp_path / "log") as log:
        delay = play_paced(iter(pieces), log, START, speed, (100, 200), clock, clock.sleep)
    reader = TickLogReader(tmp_path / "log")
    return np.concatenate([np.empty(0, RECORD), *reader.read(0, reader.produced)]), delay


def test_ticks_carry_their_scheduled_time(tmp_path: Path) -> None:
    """TS is start + tickTS / speed, not when the tick was really sent."""
    clock = Clock(step_us=777)
    sent, _ = play(tmp_path, [due([0, 1, 5]), due([5, 100])], clock, speed=4)
    assert sent["TS"].tolist() == [START, START + 250, START + 1250, START + 1250, START + 25_000]
    assert sent["seq"].tolist() == [0, 1, 2, 3, 4]


def test_no_tick_is_sent_before_it_is_due(tmp_path: Path) -> None:
    """However the clock runs, the delay is never negative, and small while nothing holds the driver up."""
    clock = Clock()
    _, delay = play(tmp_path, [due(list(range(0, 3_000, 3)))], clock)
    assert delay.steps.sum() == 1_000
    assert np.flatnonzero(delay.steps).max() * 10 <= 1_100  # a pause is a millisecond


def test_being_held_up_counts(tmp_path: Path) -> None:
    """While the driver cannot send, ticks go on being due: each is late by its own time, none is left out."""
    clock = Clock()
    clock.stops = {START + 100_000: 50_000}
    sent, delay = play(tmp_path, [due(list(range(300)))], clock)
    assert sent["TS"].tolist() == [START + 1_000 * tick_ts for tick_ts in range(300)]
    delay_us = np.repeat(np.arange(len(delay.steps)) * 10, delay.steps)
    assert 49_000 <= delay_us.max() <= 51_000
    assert 48 <= (delay_us >= 1_500).sum() <= 52
    assert (np.diff(sorted(delay_us[delay_us >= 1_500])) <= 3_100).all()


def test_what_is_due_and_what_is_sent_in_the_measurement_interval(tmp_path: Path) -> None:
    """Both are counted, so that a driver that sends the ticks of the interval later is seen."""
    clock = Clock()
    _, on_time = play(tmp_path / "on-time", [due(list(range(300)))], clock)
    assert on_time.due_in_interval == 100
    assert 99 <= on_time.sent_in_interval <= 101
    clock = Clock()
    clock.stops = {START + 150_000: 60_000}
    _, late = play(tmp_path / "late", [due(list(range(300)))], clock)
    assert late.due_in_interval == 100
    assert 48 <= late.sent_in_interval <= 52


def test_batches_span_two_milliseconds_at_most(tmp_path: Path) -> None:
    """A driver that is far behind catches up in small steps, so that readers see ticks soon."""
    sizes = []

    class Watching(TickLogWriter):
        def append(self, records: Records) -> None:
            sizes.append(int(records["TS"][-1] - records["TS"][0]))
            super().append(records)

    clock = Clock()
    clock.now = START + 10_000_000
    create_log(tmp_path / "log")
    play_paced(iter([due(list(range(1_000)))]), Watching(tmp_path / "log"), START, 1.0, (0, 0), clock, clock.sleep)
    assert max(sizes) <= 2_000
    assert len(sizes) > 300


def test_send_delay_is_kept_by_second() -> None:
    """How many ticks were sent, and how long after their time at worst."""
    delay = SendDelay(START)
    delay.note(5_000_100, np.array([5_000_000, 5_000_090]))
    delay.note(5_900_000, np.array([5_100_000]))
    delay.note(6_000_000, np.array([6_000_000]))
    record = delay.record()
    assert record.seconds == [(5, 3, 800_000), (6, 1, 0)]
    assert record.histogram == [(0, 1), (1, 1), (10, 1), (80_000, 1)]
    assert record.ticks == 4


def test_send_delay_is_kept_by_slot() -> None:
    """For every slot of scheduled time the worst delay, also where one sending reaches into the next slot."""
    delay = SendDelay(START)
    delay.note(START + 9_999, START + np.array([8_000, 9_000, 9_990]))
    delay.note(START + 10_400, START + np.array([9_995, 10_001]))
    delay.note(START + 35_000, START + np.array([30_000]))
    assert delay.by_slot().to_pydict() == {"slot": [0, 1, 3], "delay_us": [1_999, 399, 5_000]}


@pytest.mark.parametrize("drivers", [1, 2, 3])
def test_drivers_share_a_dataset(tmp_path: Path, drivers: int) -> None:
    """Together they send every tick once, in the order of the dataset."""
    ticks = random_walk(1).ticks
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    for number, part in enumerate((ticks[:100], ticks[100:])):
        write_ticks(dataset.ticks_folder / f"{number}.csv", part)
    create_log(tmp_path / "log", drivers, segment_records=37)
    for number in range(drivers):
        with TickLogWriter(tmp_path / "log", number) as log:
            play_unpaced(read_ahead(read_pieces(dataset, log.share)), log)
    reader = TickLogReader(tmp_path / "log")
    found = np.concatenate(list(reader.read(0, reader.produced)))
    assert found["symbol"].tolist() == [tick.symbol.encode() for tick in ticks]
    assert found["tickTS"].tolist() == [tick.tickTS for tick in ticks]
    assert found["price"].tolist() == [tick.price for tick in ticks]


def test_what_goes_wrong_while_reading_ahead_is_raised() -> None:
    """An error of the reading thread ends the driver, it does not hang."""

    def broken() -> Iterator[Records]:
        yield due([1])
        raise BadInputError("a broken file")

    pieces = read_ahead(broken())
    assert len(next(pieces)) == 1
    with pytest.raises(BadInputError, match="a broken file"):
        next(pieces)


def test_symbols_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """A record holds 16 bytes of a symbol."""
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    write_ticks(dataset.ticks_folder / "0.csv", ticks_of("ABCDEFGHIJKLMNOPQ120@0"))
    with pytest.raises(BadInputError, match="symbol 'ABCDEFGHIJKLMNOPQ' is longer than 16 bytes"):
        list(read_pieces(dataset))
