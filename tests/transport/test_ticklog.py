"""The tick log gives back what was written, from any position, while it is being written and after."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.core.errors import BadInputError, PairsError
from pairs.transport.base import Positions
from pairs.transport.registry import load_transport
from pairs.transport.tick_records import RECORD, Records, to_arrow
from pairs.transport.ticklog import TickLogTransport, TickLogWriter
from pairs.transport.ticklog_file import READ, TickLogReader, create_log


def records(first: int, count: int) -> Records:
    """Make records that can be told apart."""
    made = np.zeros(count, RECORD)
    number = np.arange(first, first + count)
    made["symbol"] = np.array([f"S{place % 7}".encode() for place in number] or [b""][:0], "S16")
    made["price"], made["size"], made["tickTS"], made["TS"] = number + 1, 100, number * 3, number * 5
    return made


def new_log(path: Path, segment_records: int) -> TickLogWriter:
    """Create a log for one driver."""
    create_log(path, segment_records=segment_records)
    return TickLogWriter(path)


def read(log: TickLogReader, first: int, end: int) -> Records:
    """Read a range at once."""
    return np.concatenate([np.empty(0, RECORD), *log.read(first, end)])


def test_a_record_has_48_bytes() -> None:
    """The layout is fixed: other engines read it too."""
    assert RECORD.itemsize == 48
    assert [RECORD.fields[name][1] for name in RECORD.names or ()] == [0, 16, 24, 28, 32, 40]  # type: ignore[index]


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 30), st.data())
def test_any_range_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], segment: int, data: st.DataObject
) -> None:
    """Appends and reads may cross any number of segments; positions number the ticks."""
    path = tmp_path_factory.mktemp("log") / "log"
    total = sum(counts)
    with new_log(path, segment) as log:
        first = 0
        for count in counts:
            log.append(records(first, count))
            first += count
    reader = TickLogReader(path)
    assert (reader.produced, reader.closed) == (total, True)
    begin = data.draw(st.integers(0, total))
    end = data.draw(st.integers(begin, total))
    expected = records(begin, end - begin)
    expected["seq"] = np.arange(begin, end)
    assert (read(reader, begin, end) == expected).all()


def test_a_reader_sees_ticks_as_they_come(tmp_path: Path) -> None:
    """The same reader finds what is written after it was opened, and is told of the end."""
    log = new_log(tmp_path / "log", 10)
    reader = TickLogReader(tmp_path / "log")
    assert (reader.produced, reader.closed) == (0, False)
    log.append(records(0, 25))
    assert read(reader, 20, reader.produced)["price"].tolist() == [21, 22, 23, 24, 25]
    log.close()
    assert reader.closed


@given(st.integers(1, 4), st.integers(1, 9), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=20))
def test_several_drivers_write_in_turns(
    tmp_path_factory: pytest.TempPathFactory, drivers: int, segment: int, turns: list[tuple[int, int]]
) -> None:
    """Readers see ticks up to the first that is missing; in the end all of them, in order."""
    path = tmp_path_factory.mktemp("log") / "log"
    create_log(path, drivers, segment)
    logs = [TickLogWriter(path, number) for number in range(drivers)]
    reader = TickLogReader(path)
    given_to = [0] * drivers
    for number, count in turns:
        driver = number % drivers
        first = driver + drivers * given_to[driver]
        logs[driver].append(records(0, first + drivers * count)[first::drivers])
        given_to[driver] += count
        whole = min(driver + drivers * count for driver, count in enumerate(given_to))
        assert reader.produced == whole
        assert read(reader, 0, whole)["price"].tolist() == list(range(1, whole + 1))
    for log in logs:
        assert not reader.closed
        log.close()
    assert reader.closed


def test_segments_are_removed_once_consumed(tmp_path: Path) -> None:
    """What the engine will not ask for again goes; asking for it then is refused."""
    log = new_log(tmp_path / "log", 10)
    log.append(records(0, 35))
    reader = TickLogReader(tmp_path / "log")
    reader.mark_consumed(20)
    reader.mark_consumed(5)  # a late commit of an earlier batch takes nothing back
    log.trim()
    assert log.positions == Positions(35, 20, False, 20)
    assert sorted(file.name for file in (tmp_path / "log").glob("segment-*")) == [
        "segment-00000002",
        "segment-00000003",
    ]
    assert len(read(reader, 20, 35)) == 15
    with pytest.raises(PairsError, match="segment-00000001"):
        read(TickLogReader(tmp_path / "log"), 19, 20)


def test_what_is_read_may_be_read_again(tmp_path: Path) -> None:
    """Segments go when their ticks are consumed, not when they are read; after a crash the engine goes back."""
    log = new_log(tmp_path / "log", 10)
    log.append(records(0, 35))
    control = np.memmap(tmp_path / "log" / "control", np.int64, "r+")
    TickLogReader(tmp_path / "log").mark_consumed(5)
    for read, shown in [(30, 30), (99, 35), (12, 12), (2, 5)]:
        control[READ] = read
        log.trim()
        assert log.positions == Positions(35, shown, False, 5)
    assert (tmp_path / "log" / "segment-00000000").exists()


def test_a_failed_writer_leaves_the_log_open(tmp_path: Path) -> None:
    """An engine never takes half a day for a whole day."""
    with pytest.raises(RuntimeError), new_log(tmp_path / "log", 10):
        raise RuntimeError
    assert not TickLogReader(tmp_path / "log").closed


def test_no_log(tmp_path: Path) -> None:
    """A folder without a log is named, and so is a log of another format."""
    with pytest.raises(BadInputError, match="no tick log there"):
        TickLogReader(tmp_path)
    create_log(tmp_path / "log")
    (tmp_path / "log" / "control").write_bytes(bytes(296))
    with pytest.raises(BadInputError, match="its format is 0 and not 3"):
        TickLogReader(tmp_path / "log")


def test_the_transport_is_the_same_in_every_process(tmp_path: Path) -> None:
    """What the supervisor creates, drivers and sink open from its folder; nothing of it is left in the end."""
    created = TickLogTransport(tmp_path / "transport", drivers=2, settings={"password": "secret"})
    created.create()
    assert (tmp_path / "transport").stat().st_mode & 0o077 == 0
    opened = load_transport(tmp_path / "transport")
    assert isinstance(opened, TickLogTransport)
    assert (opened.drivers, opened.settings) == (2, {"password": "secret"})
    assert (created.sink, created.ready, created.next_tick_ts()) == (None, False, None)
    for driver in range(2):
        with opened.writer(driver) as writer:
            writer.append(records(0, 6)[driver::2])
    assert created.positions() == Positions(6, 0, True)
    TickLogReader(Path(created.source)).mark_consumed(4)
    assert created.next_tick_ts() == 12
    assert created.positions().backlog == 2
    created.remove()
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4), max_size=20))
def test_symbols_of_any_length_become_strings(symbols: list[str]) -> None:
    """Padding goes, letters of several bytes stay."""
    made = np.zeros(len(symbols), RECORD)
    made["symbol"] = [symbol.encode() for symbol in symbols]
    assert to_arrow(made)["symbol"].to_pylist() == symbols
    assert to_arrow(made).schema.names == ["seq", "symbol", "price", "size", "tickTS", "TS"]


@pytest.mark.parametrize(("place", "value"), [(1, 0), (1, -5), (1, 2**40), (2, 0), (2, 17), (4, -1)])
def test_a_damaged_control_file_is_refused(tmp_path: Path, place: int, value: int) -> None:
    """Impossible lengths of segments, numbers of drivers and positions: one line for the engine and for the driver."""
    create_log(tmp_path / "log")
    control = np.fromfile(tmp_path / "log" / "control", np.int64)
    control[place] = value
    control.tofile(tmp_path / "log" / "control")
    for opened in (TickLogReader, TickLogWriter):
        with pytest.raises(BadInputError, match="no tick log there: its control file is damaged; start the driver"):
            opened(tmp_path / "log")


def test_a_segment_of_another_length_is_refused(tmp_path: Path) -> None:
    """A segment that was cut off must not look like fewer ticks."""
    with new_log(tmp_path / "log", 10) as log:
        log.append(records(0, 20))
    segment = tmp_path / "log" / "segment-00000001"
    segment.write_bytes(segment.read_bytes()[:-48])
    with pytest.raises(PairsError, match=r"segment-00000001: has 432 bytes, not 480, and is damaged"):
        read(TickLogReader(tmp_path / "log"), 0, 20)
    with pytest.raises(PairsError, match="is damaged"):
        TickLogWriter(tmp_path / "log").append(records(0, 20))


def test_an_engine_cannot_have_consumed_more_than_there_is(tmp_path: Path) -> None:
    """Whatever it marks, the driver removes no segment that is still to come, and does not count up to there."""
    log = new_log(tmp_path / "log", 10)
    log.append(records(0, 25))
    TickLogReader(tmp_path / "log").mark_consumed(2**62)
    assert log.positions == Positions(produced=25, read=25, closed=False, consumed=25)
    log.trim()
    assert [file.name for file in sorted((tmp_path / "log").glob("segment-*"))] == ["segment-00000002"]


def test_an_unknown_transport_is_refused(tmp_path: Path) -> None:
    """The file and the transports that there are."""
    TickLogTransport(tmp_path / "transport").create()
    file = tmp_path / "transport" / "transport.json"
    file.write_text(file.read_text().replace('"ticklog"', '"carrier pigeon"'))
    with pytest.raises(
        BadInputError, match=r"transport\.json: name: 'carrier pigeon' is not one of ticklog, kafka; start"
    ):
        load_transport(tmp_path / "transport")
