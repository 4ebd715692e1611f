"""Tests of `pairs check`: it finds every problem; `expected` and the driver refuse with the first."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pairs.core.errors import BadInputError
from pairs.dataset.check import check
from pairs.dataset.folder import Dataset
from pairs.dataset.formats import parquet as tick_parquet
from pairs.harness.driver import read_pieces
from pairs.model.tuples import StockTick
from pairs.validator.expected import compute
from tests.validator.markets import Market, random_walk, write_market

CHANGES: dict[str, tuple[Callable[[list[StockTick]], None], list[str]]] = {
    "several at once": (
        lambda ticks: ticks.__setitem__(
            slice(30, 33),
            [StockTick("AAA", 0, 100, 30), StockTick("", 100, 0, 31), StockTick("AAA", 100, 100, 7)],
        ),
        [
            "1.csv: row 11: price 0; prices are whole cents above zero",
            "1.csv: row 12: empty symbol; every tick has a symbol",
            "1.csv: row 12: size 0; sizes are whole numbers above zero",
            "1.csv: row 13: tickTS 7 after 31; sort by time",
        ],
    ),
    "many of a kind": (
        lambda ticks: ticks.__setitem__(slice(3, 15), [StockTick("AAA", -1, 100, 3)] * 12),
        [f"0.csv: row {row}: price -1; prices are whole cents above zero" for row in range(4, 9)]
        + ["0.csv: ... and 7 rows more like that"],
    ),
    "two files exchanged": (
        lambda ticks: ticks.__setitem__(slice(None), ticks[20:] + ticks[:20]),
        ["1.csv: row 1: tickTS 0 after 39; the order of the files' names must be the order of time"],
    ),
    "time before zero": (
        lambda ticks: ticks.__setitem__(0, StockTick("AAA", 100, 100, -1)),
        ["0.csv: row 1: tickTS -1; times are whole milliseconds from zero"],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_everything_is_found_and_the_first_is_refused(
    spark: SparkSession, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All problems in the order of files and rows; `expected` and the driver stop at the first, with its message."""
    monkeypatch.setattr(tick_parquet, "_ROWS_AT_A_TIME", 7)
    change, problems = CHANGES[case]
    ticks = [StockTick("AAA" if number % 2 else "BBB", 100, 100, number) for number in range(40)]
    change(ticks)
    dataset = write_market(tmp_path / "market", Market(random_walk(2).strategies, ticks), 2, "csv")
    findings = check(spark, dataset)
    found = findings.problems
    assert findings.count == (12 if case == "many of a kind" else len(problems))
    folder = f"{dataset.ticks_folder}/part-0000"
    assert [problem.removeprefix(folder) for problem in found] == problems
    for refuse in (lambda: compute(spark, dataset), lambda: list(read_pieces(dataset))):
        with pytest.raises(BadInputError) as refused:
            refuse()
        assert str(refused.value) == found[0]


def test_files_are_checked_together(spark: SparkSession, tmp_path: Path) -> None:
    """Missing, duplicated and unreadable files are reported before rows, and refused with the same message."""
    dataset = write_market(tmp_path / "market", random_walk(2, ticks=200), 5)
    assert check(spark, dataset).problems == []
    dataset.tick_file(1, "parquet").unlink()
    dataset.tick_file(4, "parquet").write_bytes(dataset.tick_file(3, "parquet").read_bytes()[:-9])
    shutil.copy(dataset.tick_file(0, "parquet"), dataset.ticks_folder / "part-00000-copy.parquet")
    first, second, third, *_ = check(spark, dataset).problems
    folder = dataset.ticks_folder
    assert first == f"{folder}: part-00001.parquet is missing between its neighbours; add it"
    assert second == f"{folder}/part-00000.parquet: the same content as part-00000-copy.parquet; remove one of them"
    assert third.startswith(f"{folder}/part-00004.parquet: not a readable tick file: ")
    with pytest.raises(BadInputError) as refused:
        dataset.refuse_bad_files()
    assert str(refused.value) == first


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["part-00000.csv", "part-00003.csv"], ["part-00001.csv", "part-00002.csv"]),
        (["t1.csv", "t2.csv", "t4.csv"], ["t3.csv"]),
        (["20240105.csv", "20240108.csv"], []),  # a weekend
        (["a.csv", "b.csv"], []),
    ],
)
def test_gaps_in_numbers_are_found(tmp_path: Path, names: list[str], missing: list[str]) -> None:
    """A missing number is a missing file; dates do not count up."""
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    for number, name in enumerate(names):
        (dataset.ticks_folder / name).write_text(f"symbol,price,size,tickTS\nA,1,1,{number}\n")
    messages = [f"{dataset.ticks_folder}: {name} is missing between its neighbours; add it" for name in missing]
    assert dataset.file_problems() == messages


def test_a_halt_is_only_remarked(spark: SparkSession, tmp_path: Path) -> None:
    """A long silence and a symbol that never trades are valid."""
    ticks = [StockTick("AAA", 100, 100, 90_000 * (number // 20) + number) for number in range(40)]
    dataset = write_market(tmp_path / "market", Market(random_walk(2).strategies, ticks), 2)
    found = check(spark, dataset)
    assert found.problems == []
    assert found.remarks[0] == "longest silence: 1m30s1ms, until tickTS 90020"
    assert "without a trade, such as" in found.remarks[1]
