"""Tests of the reduction of ticks to panes, and of the triggers it reports."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.dataset.digest import PartialDigest, digest_batch
from pairs.dataset.formats import parquet as tick_parquet
from pairs.dataset.formats.base import FilePart
from pairs.dataset.reader import parts_of, read_ticks, whole_file
from pairs.model.tuples import StockTick
from pairs.validator import panes as panes_module
from pairs.validator.panes import PANES, Clock, PartTask, ReducedPart, read_panes, reduce_part, reduce_piece
from tests.validator.in_process import coded
from tests.validator.markets import WATCHED, random_walk, ticks_of, write_ticks

FAR = 10**9
clocks = st.builds(
    lambda periods: Clock(tuple(sorted(periods)), FAR), st.sets(st.integers(1, 50), min_size=1, max_size=4)
)


def digest_file(file: Path) -> PartialDigest:
    """Digest the rows of a tick file."""
    digest = PartialDigest()
    for batch in read_ticks(file):
        digest += digest_batch(digest.rows, batch)
    return digest


@given(clock=clocks, times=st.lists(st.integers(0, 300), min_size=1, max_size=60))
def test_panes_begin_where_windows_end(clock: Clock, times: list[int]) -> None:
    """At multiples of a period and nowhere else, whether windows are more or fewer than ticks."""
    times = sorted(times)
    begins = [max(time // period * period for period in clock.periods_ms) for time in times]
    firsts = [row for row, begin in enumerate(begins) if row == 0 or begin != begins[row - 1]]
    tick_ts = np.array(times)
    for starts, rows in (clock.panes_of(tick_ts), clock._panes_by_tick(tick_ts)):
        assert (starts.tolist(), rows.tolist()) == ([begins[row] for row in firsts], firsts)


def test_a_long_silence_costs_nothing() -> None:
    """Windows that end during a silence are not listed."""
    starts, rows = Clock((5,), 10**18).panes_of(np.array([0, 10**15]))
    assert (starts.tolist(), rows.tolist()) == ([0, 10**15], [0, 1])


def reduce(
    clock: Clock, symbols: list[str], ticks: list[StockTick], watched: int | None = None
) -> tuple[pa.Table, pa.Table]:
    """Reduce ticks in one piece; more symbols may be watched than there are."""
    symbol, price, tick_ts = coded(symbols, ticks)
    if watched is not None:
        symbol[symbol >= len(symbols)] += watched - len(symbols)
    return reduce_piece(clock, len(symbols) if watched is None else watched, symbol, price, tick_ts)


def test_a_pane_holds_sum_count_and_last_price() -> None:
    """Per symbol and pane in which it traded; only for watched symbols."""
    ticks = ticks_of("A5@0 X9@1 A7@9 B1@9 A2@10 X3@14 B4@15 B6@15 A1@59 A8@60 B8@60")
    panes, triggers = reduce(Clock((10, 15), 60), ["A", "B"], ticks)
    assert sorted(tuple(row.values()) for row in panes.to_pylist()) == [
        (0, 0, 12, 2, 7),
        (0, 10, 2, 1, 2),
        (0, 50, 1, 1, 1),
        (1, 0, 1, 1, 1),
        (1, 15, 10, 2, 6),
    ]
    assert [tuple(row.values()) for row in triggers.to_pylist()] == [
        (0, 0, 5),
        (10, 0, 2),
        (15, 1, 4),
        (59, 0, 1),
        (60, 0, 8),
    ]


@pytest.mark.parametrize("seed", range(30))
def test_panes_are_the_same_with_few_and_many_watched_symbols(seed: int) -> None:
    """With far more panes than ticks only panes with ticks are numbered; the result is the same."""
    ticks = random_walk(seed).ticks
    clock = Clock((333, 7_000), ticks[len(ticks) * 2 // 3].tickTS + seed % 2)
    few, many = reduce(clock, [*WATCHED], ticks), reduce(clock, [*WATCHED], ticks, watched=1_000_000)
    assert few[0].num_rows > 0
    assert few[0] == many[0]
    assert few[1].drop_columns("symbol") == many[1].drop_columns("symbol")


def test_the_dearest_ticks_are_summed_exactly() -> None:
    """Sums of a piece are far above what 32 bits hold, and still whole cents."""
    rows = 200_000
    price, tick_ts = np.full(rows, 2**31 - 1, np.int32), np.zeros(rows, np.int64)
    panes, _ = reduce_piece(Clock((1_000,), FAR), 1, np.zeros(rows, np.int32), price, tick_ts)
    assert panes.to_pylist() == [
        {"symbol": 0, "start": 0, "total": rows * (2**31 - 1), "ticks": rows, "last": 2**31 - 1}
    ]


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files a few rows at a time."""
    monkeypatch.setattr(tick_parquet, "_ROWS_AT_A_TIME", 7)


def part_task(part: FilePart, folder: Path) -> PartTask:
    """Reduce a part for the watched symbols."""
    return PartTask(part, Clock((333, 7_000), FAR), WATCHED, folder / "panes.arrow")


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("rows_of_a_group", [5, 1_000])
@pytest.mark.parametrize("panes_of_a_batch", [1, 20, 1_000_000])
def test_a_part_is_reduced_batch_after_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_of_a_group: int, panes_of_a_batch: int
) -> None:
    """Batches may have dictionaries of their own; whoever reads some symbols gets all their panes and no others."""
    monkeypatch.setattr(panes_module, "_PANES_PER_BATCH", panes_of_a_batch)
    ticks = random_walk(3).ticks[:200]
    file = tmp_path / "ticks.parquet"
    write_ticks(file, ticks, rows_of_a_group)
    reduced = reduce_part(part_task(whole_file(file), tmp_path))
    assert (reduced.digest.rows, reduced.first_ts, reduced.last_ts) == (200, ticks[0].tickTS, ticks[-1].tickTS)
    assert reduced.digest == digest_file(file)
    whole, _ = reduce(Clock((333, 7_000), FAR), [*WATCHED], ticks)
    for symbols in ([1], [0, 3], [], [0, 1, 2, 3]):
        pieces = read_panes([tmp_path / "panes.arrow"], np.array(symbols, np.int32))
        grouped = pieces.group_by(["symbol", "start"], use_threads=False)
        found = grouped.aggregate([("total", "sum"), ("ticks", "sum"), ("last", "last")]).rename_columns(PANES.names)
        wanted = pa.Table.from_batches([whole]).filter(pa.array(np.isin(whole["symbol"], symbols)))
        keys = [("symbol", "ascending"), ("start", "ascending")]
        assert found.sort_by(keys).to_pylist() == wanted.sort_by(keys).to_pylist()
    assert reduced.panes == pieces.num_rows
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_empty_part_reduces_to_nothing(tmp_path: Path) -> None:
    """A file without rows is no error."""
    file = tmp_path / "ticks.parquet"
    write_ticks(file, [])
    [part] = parts_of(file)
    reduced = reduce_part(part_task(part, tmp_path))
    assert (reduced.digest.rows, reduced.triggers.num_rows) == (0, 0)
    assert read_panes([tmp_path / "panes.arrow"], np.arange(4, dtype=np.int32)).num_rows == 0


@pytest.mark.usefixtures("small_batches")
def test_the_digests_of_parts_add_up_to_that_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows count from the beginning of the file, in every part and batch."""
    monkeypatch.setattr(tick_parquet, "_ROWS_OF_A_PART", 30)
    reduced = reduced_file(tmp_path, random_walk(3).ticks[:200])
    assert len(reduced) == 7
    digest = sum((part.digest for part in reduced), PartialDigest())
    assert digest == digest_file(tmp_path / "ticks.parquet")


def reduced_file(folder: Path, ticks: list[StockTick]) -> list[ReducedPart]:
    """Reduce a file of ticks, part after part."""
    file = folder / "ticks.parquet"
    write_ticks(file, ticks, 10)
    return [reduce_part(part_task(part, folder)) for part in parts_of(file)]


def first_problem_of(reduced: list[ReducedPart]) -> tuple[int, str]:
    """Return the row, from 0, and the text of the only problem."""
    [problem] = [part.problem for part in reduced if part.problem is not None]
    return problem.row, problem.text


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("row", [1, 6, 7, 13, 14, 39])
def test_time_that_runs_backwards_is_refused_with_its_row(tmp_path: Path, row: int) -> None:
    """Within a batch and where batches meet."""
    ticks = [StockTick("AAA", 1, 100, 50 + number) for number in range(40)]
    reduced_file(tmp_path, ticks)
    ticks[row] = StockTick("AAA", 1, 100, 48 + row)
    assert first_problem_of(reduced_file(tmp_path, ticks)) == (
        row,
        f"tickTS {48 + row} after {49 + row}; sort by time",
    )


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("row", [0, 6, 7, 39])
@pytest.mark.parametrize("rows_of_a_part", [10, 1_000])
def test_a_price_of_nothing_is_refused_with_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int, rows_of_a_part: int
) -> None:
    """Zero and less are no prices; the row is counted from the beginning of the file, not of the part."""
    monkeypatch.setattr(tick_parquet, "_ROWS_OF_A_PART", rows_of_a_part)
    for price in (0, -5):
        ticks = [StockTick("AAA", 1, 100, number) for number in range(40)]
        ticks[row] = StockTick("AAA", price, 100, row)
        found = first_problem_of(reduced_file(tmp_path, ticks))
        assert found == (row, f"price {price}; prices are whole cents above zero")
