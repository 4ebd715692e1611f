"""Answers of any engine are read tolerantly: an invalid row is reported with its position, and no other row is lost."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.core.errors import BadInputError
from pairs.run_folder.records import InvalidRow
from pairs.validator.answers import answer_files, read_answers
from pairs.validator.shards import EXPECTED

ORDERS = EXPECTED["orders"]
INDICATORS = EXPECTED["indicators"]
HEADER = "strategy,type,symbol,price,size,inputTickTS\n"
GOOD = "st_00001,BUY,AAAAAA,100,10,5000\n"
ROW = {"strategy": "st_00001", "type": "BUY", "symbol": "AAAAAA", "price": 100, "size": 10, "inputTickTS": 5000}


def read(path: Path, schema: pa.Schema = ORDERS) -> tuple[list[dict[str, Any]], list[InvalidRow]]:
    """Return the answers in a file, and its invalid rows."""
    rows: list[dict[str, Any]] = []
    invalid = []
    for part in read_answers(path, schema):
        if isinstance(part, InvalidRow):
            invalid.append(part)
        else:
            assert part.schema == schema
            rows += part.to_pylist()
    return rows, invalid


def csv_file(tmp_path: Path, text: str | bytes) -> Path:
    """Write a file of orders."""
    path = tmp_path / "orders.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


INVALID: dict[str, tuple[str | bytes, str]] = {
    "too few values": ("st_00001,BUY\n", "not as many values"),
    "too many values": ("st_00001,BUY,AAAAAA,100,10,5000,7\n", "not as many values"),
    "no number": ("st_00001,BUY,AAAAAA,dear,10,5000\n", "price is 'dear'"),
    "empty number": ("st_00001,BUY,AAAAAA,,10,5000\n", "price is empty"),
    "fraction": ("st_00001,BUY,AAAAAA,100.5,10,5000\n", "price is '100.5'"),
    "too large": (f"st_00001,BUY,AAAAAA,{2**63},10,5000\n", "too large"),
    "far too large": (f"st_00001,BUY,AAAAAA,{'9' * 5000},10,5000\n", "too large"),
    "other digits": ("st_00001,BUY,AAAAAA,\u0661,10,5000\n", "not a whole number"),
    "not UTF-8": (b"st_00001,BUY,AAAAAA,\xff,10,5000\n", "not a whole number"),
    "cut off": ("st_000", "not as many values"),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_line_is_reported(tmp_path: Path, case: str) -> None:
    """The lines around it are read, and the report names the file and the line."""
    text, problem = INVALID[case]
    line = text.encode() if isinstance(text, str) else text
    path = csv_file(
        tmp_path, HEADER.encode() + GOOD.encode() + (line if line.endswith(b"\n") else line + b"\n") + GOOD.encode()
    )
    rows, [found] = read(path)
    assert rows == [ROW, ROW]
    assert (found.file, found.line) == (str(path), 3)
    assert problem in found.problem


def test_invalid_lines_late_in_a_long_file(tmp_path: Path) -> None:
    """No row is lost or read twice when converting batches fails in the middle of a file."""
    lines = [f"st_00001,BUY,AAAAAA,100,10,{number}\n" for number in range(200_000)]
    lines[150_000] = "garbage\n"
    rows, [found] = read(csv_file(tmp_path, HEADER + "".join(lines)))
    assert [row["inputTickTS"] for row in rows] == [*range(150_000), *range(150_001, 200_000)]
    assert found.line == 150_002


@pytest.mark.parametrize(
    "text",
    [
        "st_00001,BUY,AAAAAA,100.0,10.,5000\n",
        "st_00001,BUY,AAAAAA, 100,+10,5000\n",
        '"st_00001","BUY","AAAAAA",100,10,5000\r\n',
        "\nst_00001,BUY,AAAAAA,100,10,5000\n\n",
        "st_00001,BUY,AAAAAA,100,10,5000",
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, text: str) -> None:
    """Whole numbers as doubles, spaces, quotes, empty lines and no last line end are all right."""
    assert read(csv_file(tmp_path, HEADER + text)) == ([ROW], [])


def test_columns_may_come_in_any_order_with_others_between(tmp_path: Path) -> None:
    """Columns are found by name; inputTS, sinkTS and any other column of an engine are ignored."""
    text = "sinkTS,inputTickTS,size,price,symbol,type,strategy,inputTS\n7,5000,10,100,AAAAAA,BUY,st_00001,8\n"
    assert read(csv_file(tmp_path, text)) == ([ROW], [])


def test_a_name_with_a_line_break(tmp_path: Path) -> None:
    """A quoted line break is part of a name, not the end of a row."""
    rows, invalid = read(csv_file(tmp_path, HEADER + '"st\n1",BUY,AAAAAA,100,10,5000\n' + GOOD))
    assert [row["strategy"] for row in rows] == ["st\n1", "st_00001"]
    assert invalid == []


def test_nan_and_infinity_are_answers(tmp_path: Path) -> None:
    """An engine may answer NaN or infinity; that is an answer, although wrong."""
    path = tmp_path / "indicators.csv"
    path.write_text("strategy,ratio,avgRatio,upperBand,lowerBand,inputTickTS\na,nan,inf,-inf,1e-3,5\n")
    [row], invalid = read(path, INDICATORS)
    assert (row["avgRatio"], row["upperBand"], row["lowerBand"]) == (float("inf"), float("-inf"), 0.001)
    assert invalid == []


def test_parquet_of_other_types(tmp_path: Path) -> None:
    """Types that convert to the benchmark's types without loss are accepted."""
    path = tmp_path / "orders.parquet"
    types = {"strategy": pa.large_string(), "price": pa.float64(), "size": pa.int16(), "inputTickTS": pa.uint32()}
    schema = pa.schema([field.with_type(types.get(field.name, field.type)) for field in ORDERS])
    pq.write_table(pa.Table.from_pylist([ROW], schema).add_column(0, "sinkTS", pa.array([7])), path)
    assert read(path) == ([ROW], [])


@pytest.mark.parametrize(
    ("name", "kind", "bad"),
    [
        ("price", pa.float64(), 100.5),
        ("price", pa.int64(), None),
        ("strategy", pa.string(), None),
        ("price", pa.string(), "dear"),
        ("price", pa.float64(), float("nan")),
        ("size", pa.uint64(), 2**64 - 1),
        ("inputTickTS", pa.list_(pa.int64()), [1]),
    ],
)
def test_invalid_parquet_rows(tmp_path: Path, name: str, kind: pa.DataType, bad: Any) -> None:
    """A null, a fraction or a text where a whole number belongs is reported with its row."""
    path = tmp_path / "orders.parquet"
    types = {name: kind}
    schema = pa.schema([field.with_type(types.get(field.name, field.type)).with_nullable(True) for field in ORDERS])
    good = ROW | ({} if not pa.types.is_string(kind) or name == "strategy" else {name: "100"})
    good |= {name: [5000]} if pa.types.is_list(kind) else {}
    pq.write_table(pa.Table.from_pylist([good, good | {name: bad}], schema), path)
    rows, invalid = read(path)
    if pa.types.is_list(kind):
        assert (rows, len(invalid)) == ([], 2)
    else:
        assert rows == [ROW]
        assert [row.line for row in invalid] == [2]
        assert name in invalid[0].problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no column 'strategy' (it is empty)"),
        (GOOD, "no column 'strategy'"),
        (HEADER.replace("inputTickTS", "inputTS") + GOOD, "no column 'inputTickTS'"),
        (HEADER.replace("size", "price") + GOOD, "more than one column 'price'"),
    ],
)
def test_missing_columns_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    """A file without the columns is refused, not reported row by row."""
    with pytest.raises(BadInputError) as caught:
        read(csv_file(tmp_path, text))
    assert str(tmp_path / "orders.csv") in str(caught.value)
    assert problem in str(caught.value)


def test_missing_columns_of_parquet_are_refused(tmp_path: Path) -> None:
    """The same in Parquet."""
    pq.write_table(pa.table({"strategy": ["a"]}), tmp_path / "orders.parquet")
    with pytest.raises(BadInputError, match="no column 'type'"):
        read(tmp_path / "orders.parquet")


def test_broken_parquet_is_refused(tmp_path: Path) -> None:
    """A truncated file is named in one line."""
    path = tmp_path / "orders.parquet"
    pq.write_table(pa.Table.from_pylist([ROW], ORDERS), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInputError, match="not readable as answers"):
        read(path)


def test_answers_in_many_files(tmp_path: Path) -> None:
    """A folder of part files, as Spark writes it, is read in the order of their names."""
    parts = tmp_path / "orders"
    parts.mkdir()
    for name in ("part-1.csv", "part-0.parquet", "_SUCCESS", ".part-0.crc", "notes.txt"):
        (parts / name).touch()
    assert [file.name for file in answer_files(tmp_path, "orders")] == ["part-0.parquet", "part-1.csv"]
    parts.rename(tmp_path / "indicators.parquet")
    assert len(answer_files(tmp_path, "indicators")) == 2


def test_missing_or_ambiguous_answers_are_refused(tmp_path: Path) -> None:
    """No folder, no file, an empty folder or two candidates: each has its message."""
    with pytest.raises(BadInputError, match="no such folder"):
        answer_files(tmp_path / "nowhere", "orders")
    with pytest.raises(BadInputError, match=r"no orders.parquet or orders.csv there"):
        answer_files(tmp_path, "orders")
    (tmp_path / "orders").mkdir()
    with pytest.raises(BadInputError, match=r"no .parquet or .csv file there"):
        answer_files(tmp_path, "orders")
    (tmp_path / "orders.csv").touch()
    with pytest.raises(BadInputError, match=r"both orders and orders.csv"):
        answer_files(tmp_path, "orders")
