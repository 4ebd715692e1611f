"""Tests of the sort: exact cuts through sorted runs, equal times in the order of files and rows."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.generator import sorting
from pairs.generator.sorting import RunsTask, cut, merged, rows_before, write_runs
from pairs.generator.trades import TradeColumns, TradePart

TIMES = st.lists(st.integers(-20, 20), min_size=1, max_size=30).map(lambda times: np.array(sorted(times), np.int64))


@given(st.lists(TIMES, min_size=1, max_size=5), st.data())
def test_rows_before_a_rank_are_those_that_come_first(runs: list[np.ndarray], data: st.DataObject) -> None:
    """By time, then by run, then by row."""
    rank = data.draw(st.integers(0, sum(map(len, runs))))
    everything = sorted((int(time), number, row) for number, run in enumerate(runs) for row, time in enumerate(run))
    counted = [sum(number == run for _, number, _ in everything[:rank]) for run in range(len(runs))]
    assert rows_before(runs, rank) == counted


@pytest.mark.parametrize("files", [1, 3, 7])
def test_trades_are_sorted_stably_whatever_the_runs_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    """Two parts, in runs of a few rows, cut into files, are what sorting everything at once gives."""
    monkeypatch.setattr(sorting, "_ROWS_PER_RUN", 10)
    rng = np.random.default_rng(5)
    times = rng.integers(0, 20, 200)
    rows = [f"S{number % 7},{number + 1},{time}" for number, time in enumerate(times)]
    tasks = []
    for number, part in enumerate((rows[:90], rows[90:])):
        file = tmp_path / f"{number}.csv"
        file.write_text("\n".join(["symbol,price,time", *part, ""]))
        tasks.append(
            RunsTask(TradePart(file, 0), TradeColumns("symbol", "price", "time", None, "ns"), tmp_path, number)
        )
    runs = [run for task in tasks for run in write_runs(task)]
    cuts = cut(runs, files)
    assert [sum(part.end - part.begin for part in slices) for slices in cuts] == np.diff(
        [200 * number // files for number in range(files + 1)]
    ).tolist()
    found = pa.concat_tables([merged(tuple(slices)) for slices in cuts]).to_pylist()
    order = np.argsort(times, kind="stable")
    assert [trade["price"] // 100 - 1 for trade in found] == order.tolist()
    assert [trade["symbol"] for trade in found] == [f"S{number % 7}" for number in order]
    assert sum(sum(run.trades_by_symbol.values()) for run in runs) == 200
