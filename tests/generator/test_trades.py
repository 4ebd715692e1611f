"""Tests of reading real trades: prices to cents, times to nanoseconds, every invalid value with its row."""

import re
import warnings
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.core.errors import BadInputError
from pairs.generator.trades import TradeColumns, TradePart, parts_of_trades, read_trades

COLUMNS = TradeColumns("sym", "px", "at", "qty", "ms")
SECOND = 1_000_000_000


def csv_file(folder: Path, *rows: str, header: str = "sym,px,qty,at") -> Path:
    """Write a CSV file."""
    file = folder / "trades.csv"
    file.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return file


def parquet_file(folder: Path, **columns: Any) -> Path:
    """Write a Parquet file with values for what is not given."""
    rows = len(next(iter(columns.values())))
    table = {"sym": ["A"] * rows, "px": [1.0] * rows, "qty": [1] * rows, "at": list(range(rows))} | columns
    pq.write_table(pa.table(table), folder / "trades.parquet", row_group_size=2)
    return folder / "trades.parquet"


def read(file: Path, columns: TradeColumns = COLUMNS) -> list[dict[str, Any]]:
    """Read a whole file."""
    return [
        trade
        for part in parts_of_trades(file, columns)
        for batch in read_trades(part, columns)
        for trade in batch.to_pylist()
    ]


@pytest.mark.parametrize(
    ("written", "cents"),
    [
        ("12.34", 1234),
        ("12.345", 1235),  # half up, although the double is below it
        ("12.344999", 1234),
        ("1.005", 101),
        ("0.004", 1),
        ("0.0000001", 1),
        ("7", 700),
        ("1e2", 10_000),
        ("21474836.47", 2**31 - 1),
    ],
)
def test_prices_become_whole_cents(tmp_path: Path, written: str, cents: int) -> None:
    """Half a cent is rounded up, a price is at least one cent; text, doubles and decimals alike."""
    assert read(csv_file(tmp_path, f"A,{written},1,0"))[0]["price"] == cents
    assert read(parquet_file(tmp_path, px=[float(written)]))[0]["price"] == cents
    assert read(parquet_file(tmp_path, px=[Decimal(written)]))[0]["price"] == cents


def test_times_of_all_kinds(tmp_path: Path) -> None:
    """Zones may be mixed; a time without a zone is UTC; numbers have the unit given."""
    rows = {
        "2024-01-02T09:30:00Z": 0,
        "2024-01-02 09:30:00": 0,
        "2024-01-02T09:30": 0,
        "2024-01-02T04:30:00.25-05:00": SECOND // 4,
        "2024-01-02T10:30:00.123456789+0100": 123_456_789,
        "2024-01-02 18:30:01+09": SECOND,
        "1704187800000": 0,
        "1704187800000.5": 500_000,
    }
    start = int(datetime(2024, 1, 2, 9, 30, tzinfo=UTC).timestamp()) * SECOND
    found = read(csv_file(tmp_path, *(f"A,1,1,{time}" for time in rows)))
    assert [trade["time_ns"] - start for trade in found[:-1]] == list(rows.values())[:-1]
    assert abs(found[-1]["time_ns"] - start - 500_000) < 1_000  # as exact as a double


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        (pa.array([1704187800], pa.timestamp("s")), None),
        (pa.array([1704187800000], pa.timestamp("ms", "America/New_York")), None),
        (pa.array([1704187800 * 10**9], pa.timestamp("ns", "UTC")), "ms"),
        (pa.array([1704187800], pa.int32()), "s"),
        (pa.array([1704187800 * 10**6], pa.int64()), "us"),
        (pa.array([1704187800.0], pa.float64()), "s"),
    ],
)
def test_times_of_parquet(tmp_path: Path, column: pa.Array, unit: str | None) -> None:
    """Timestamps of any unit and zone, and numbers."""
    file = parquet_file(tmp_path, at=column)
    assert read(file, TradeColumns("sym", "px", "at", "qty", unit))[0]["time_ns"] == 1704187800 * SECOND


def test_sizes_may_be_missing(tmp_path: Path) -> None:
    """Without a column every trade is of a hundred; whole numbers may be written as decimals."""
    file = csv_file(tmp_path, "A,1,,0", "A,1,20.0,1")
    assert [trade["size"] for trade in read(file, TradeColumns("sym", "px", "at", None, "ms"))] == [100, 100]
    assert read(csv_file(tmp_path, "A,1,20.0,1"))[0]["size"] == 20


def test_symbols_are_texts(tmp_path: Path) -> None:
    """Whatever they look like: missing values, numbers, quotes, newlines."""
    found = read(csv_file(tmp_path, "NA,1,1,0", "null,1,1,0", "007,1,1,0", '"a""b\n{x}",1,1,0', "../<b>,1,1,0"))
    assert [trade["symbol"] for trade in found] == ["NA", "null", "007", 'a"b\n{x}', "../<b>"]


INVALID_ROWS = {
    "A,abc,1,0": "'abc' is not a valid price; fix the row or remove it",
    "A,,1,0": "'' is not a valid price; fix the row or remove it",
    "A,0,1,0": "price 0; prices are above zero, and at most 21,474,836.47",
    "A,-1,1,0": "price -1; prices are above zero",
    "A,nan,1,0": "price nan; prices are above zero",
    "A,inf,1,0": "price inf; prices are above zero",
    "A,21474836.48,1,0": "price 2.14748e+07; prices are above zero, and at most 21,474,836.47",
    "A,1,0,0": "size 0; sizes are whole numbers above zero; without --size-column every trade has 100",
    "A,1,1.5,0": "size 1.5; sizes are whole numbers above zero",
    "A,1,many,0": "'many' is not a valid size",
    "A,1,1,": "'' is not a valid time",
    "A,1,1,noon": "'noon' is not a valid time",
    "A,1,1,2024-13-01T00:00:00Z": "'2024-13-01T00:00:00Z' is not a valid time",
    "A,1,1,9999999999999999": "time '9999999999999999' is too late for ms; give the right --time-unit",
    "A,1,1,99999999999999999999": "'99999999999999999999' is not a valid time",
    ",1,1,0": "empty symbol",
    "ABCDEFGHIJKLMNOPQ,1,1,0": "symbol 'ABCDEFGHIJKLMNOPQ' is longer than 16 bytes",
    "A,1,1": "3 values for 4 columns: 'A,1,1'",
}


@pytest.mark.parametrize("row", INVALID_ROWS)
def test_invalid_rows_are_refused_with_their_number(tmp_path: Path, row: str) -> None:
    """The file, the row as trades are counted, the value and the remedy."""
    file = csv_file(tmp_path, *["A,1,1,0"] * 4, row, "A,0,0,0")
    with pytest.raises(BadInputError) as refused:
        read(file)
    assert str(refused.value).startswith(f"{file}: row 5: {INVALID_ROWS[row]}")


def test_nulls_of_parquet_are_refused_with_their_row(tmp_path: Path) -> None:
    """Rows count from the beginning of the file, also in a later row group."""
    file = parquet_file(tmp_path, px=[1.0, 2.0, 3.0, None])
    part = TradePart(file, 2, range(1, 2))
    with pytest.raises(BadInputError, match=r"trades\.parquet: row 4: no px; every trade needs a value"):
        list(read_trades(part, COLUMNS))


def test_numbers_without_a_unit_are_refused(tmp_path: Path) -> None:
    """The unit of a number is never guessed."""
    file = csv_file(tmp_path, "A,1,1,1704187800")
    with pytest.raises(
        BadInputError, match=r"row 1: time '1704187800' is a number; give its unit, such as --time-unit"
    ):
        read(file, TradeColumns("sym", "px", "at", "qty"))


def test_missing_columns_are_named_with_those_there(tmp_path: Path) -> None:
    """The message lists the columns of the file; a missing file is named."""
    with pytest.raises(BadInputError, match=r"no column 'sym'; has 'ticker', 'px', 'qty', 'at'"):
        read(csv_file(tmp_path, header="ticker,px,qty,at"))
    with pytest.raises(BadInputError, match=r"nowhere\.csv: not readable as trades: No such file or directory"):
        read(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (
            "at",
            pa.array([2**60], pa.timestamp("ms")),
            "row 1: a timestamp[ms] that cannot be shown is not a valid time",
        ),
        ("at", pa.array([-(2**63)]), "row 1: time -9223372036854775808 is too late for ms"),
        ("at", pa.array([1e300]), "row 1: time 1e+300 is too late for ms"),
        ("px", pa.array([b"\xff\xfe"]).cast(pa.string(), safe=False), "that cannot be shown is not a valid price"),
    ],
)
def test_values_that_python_cannot_express_are_refused(
    tmp_path: Path, column: str, values: pa.Array, message: str
) -> None:
    """Times beyond any calendar, numbers beyond 64 bits and text that is none: with their row, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BadInputError, match=re.escape(message)):
            read(parquet_file(tmp_path, **{column: values}))
