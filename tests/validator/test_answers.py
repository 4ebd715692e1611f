"""Answers of any engine are read tolerantly: an invalid row is reported with its position, and no other row is lost."""

import bz2
import csv
import gzip
import io
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.core.errors import BadInputError
from pairs.dataset.formats import csv_rows
from pairs.run_folder.records import InvalidRow, WrongColumn
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
        elif isinstance(part, pa.RecordBatch):
            assert part.schema == schema
            rows += part.to_pylist()
    return rows, invalid


def csv_file(tmp_path: Path, text: str | bytes) -> Path:
    """Write a file of orders."""
    path = tmp_path / "orders.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


INVALID: dict[str, tuple[str | bytes, str]] = {
    "too few values": ("st_00001,BUY\n", "2 values for 6 columns: 'st_00001,BUY'"),
    "too many values": ("st_00001,BUY,AAAAAA,100,10,5000,7\n", "7 values for 6 columns"),
    "no number": ("st_00001,BUY,AAAAAA,dear,10,5000\n", "price is 'dear'"),
    "empty number": ("st_00001,BUY,AAAAAA,,10,5000\n", "price is empty"),
    "fraction": ("st_00001,BUY,AAAAAA,100.5,10,5000\n", "price is '100.5'"),
    "too large": (f"st_00001,BUY,AAAAAA,{2**63},10,5000\n", "too large"),
    "far too large": (f"st_00001,BUY,AAAAAA,{'9' * 5000},10,5000\n", "too large"),
    "far too small": (f"st_00001,BUY,AAAAAA,-{'0' * 50}{2**63 + 1},10,5000\n", "too large"),
    "timestamp": ("st_00001,BUY,AAAAAA,100,10,2024-01-02T09:30:00\n", "inputTickTS is '2024-01-02T09:30:00', not a"),
    "other minus": ("st_00001,BUY,AAAAAA,\u2212100,10,5000\n", "not a whole number"),
    "zero byte in a number": ("st_00001,BUY,AAAAAA,10\x000,10,5000\n", "price is '10\\x000', not a whole number"),
    "quote that is not closed": ('st_00001,"BUY,AAAAAA,100,10,5000\n', "a quote is not closed: 'st_00001,\"BUY,"),
    "quote at the end": ('st_00001,BUY,AAAAAA,100,10,"5000\n', "a quote is not closed"),
    "carriage return inside": ("st_00001,BUY,AAA\rAAA,100,10,5000\n", "a carriage return inside the line"),
    "only spaces": ("   \n", "1 value for 6 columns: '   '"),
    "semicolons": ("st_00001;BUY;AAAAAA;100;10;5000\n", "1 value for 6 columns"),
    "endless": ("st_00001,BUY," + "A" * 3_000_000 + ",100,10,5000\n", "a line of more than 1,048,576 bytes"),
    "other digits": ("st_00001,BUY,AAAAAA,\u0661,10,5000\n", "not a whole number"),
    "number not UTF-8": (b"st_00001,BUY,AAAAAA,\xff,10,5000\n", "price is not UTF-8"),
    "name not UTF-8": (b"st_00001,BUY,AAAA\xe9A,100,10,5000\n", "symbol is not UTF-8"),
    "cut off": ("st_000", "1 value for 6 columns"),
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
        f"st_00001,BUY,AAAAAA,{'0' * 60}100,0x0a,5e3".replace("5e3", "5000"),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, text: str) -> None:
    """Whole numbers as doubles, spaces, quotes, empty lines and no last line end are all right."""
    assert read(csv_file(tmp_path, HEADER + text)) == ([ROW], [])


WAYS: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "CR": lambda text: text.replace(b"\n", b"\r"),
    "blank lines": lambda text: b"\n\n" + text.replace(b"\n", b"\n\n"),
    "blank lines at the end": lambda text: text + b"\n\n\n",
    "header with spaces and quotes": lambda text: text.replace(b"strategy,type", b' "strategy" , type', 1),
    "gzip": gzip.compress,
    "two members of gzip": lambda text: gzip.compress(text[:40]) + gzip.compress(text[40:]),
    "bz2": bz2.compress,
}


@pytest.mark.parametrize("case", WAYS)
def test_other_ways_to_store_the_same(tmp_path: Path, case: str) -> None:
    """Marks, line ends, blank lines and compression do not matter, whatever the name of the file says."""
    text = (HEADER + GOOD * 3).encode()
    assert read(csv_file(tmp_path, WAYS[case](text))) == ([ROW] * 3, [])


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
    types = {
        "strategy": pa.large_string(),
        "type": pa.dictionary(pa.int8(), pa.string()),
        "symbol": pa.binary(),
        "price": pa.float64(),
        "size": pa.decimal128(20, 3),
        "inputTickTS": pa.uint32(),
    }
    schema = pa.schema([field.with_type(types.get(field.name, field.type)) for field in ORDERS])
    row = ROW | {"symbol": b"AAAAAA", "size": Decimal(10)}
    pq.write_table(pa.Table.from_pylist([row], schema).add_column(0, "sinkTS", pa.array([7])), path)
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
        ("size", pa.decimal128(20, 3), Decimal("10.5")),
        ("symbol", pa.binary(), b"\xff"),
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
    good |= {name: b"AAAAAA"} if pa.types.is_binary(kind) else {}
    good |= {name: Decimal(10)} if pa.types.is_decimal(kind) else {}
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
        ("", "no column 'strategy'; has nothing"),
        ("\n\n", "no column 'strategy'; has nothing"),
        (
            HEADER.replace("price", "Price") + GOOD,
            "no column 'price', but 'Price'; has 'strategy', 'type', 'symbol', 'P",
        ),
        ((HEADER + GOOD).replace(",", ";"), "its header is separated by ';'; separate values by commas"),
        ((HEADER + GOOD).encode("utf-16"), "not UTF-8 text but UTF-16 or binary; save it as UTF-8"),
        ((HEADER + GOOD).encode("utf-16-be"), "not UTF-8 text but UTF-16 or binary; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0", "no column 'strategy'; has '\ufffdPNG'"),
        (GOOD, "no column 'strategy'"),
        (HEADER.replace("inputTickTS", "inputTS") + GOOD, "no column 'inputTickTS'"),
        (HEADER.replace("size", "price") + GOOD, "more than one column 'price'"),
    ],
)
def test_missing_columns_are_refused(tmp_path: Path, text: str | bytes, problem: str) -> None:
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
    (parts / "part-2.CSV.gz").touch()
    assert [file.name for file in answer_files(tmp_path, "orders")][2:] == ["part-2.CSV.gz"]
    parts.rename(tmp_path / "indicators.parquet")
    assert len(answer_files(tmp_path, "indicators")) == 3


@pytest.mark.parametrize("name", ["orders.CSV", "Orders.csv", "orders.csv.gz", "orders.csv.zst", "ORDERS.PARQUET"])
def test_names_of_answers(tmp_path: Path, name: str) -> None:
    """Upper case and compressed CSV are found."""
    (tmp_path / name).touch()
    assert [file.name for file in answer_files(tmp_path, "orders")] == [name]


def test_missing_or_ambiguous_answers_are_refused(tmp_path: Path) -> None:
    """No folder, no file, an empty folder or two candidates: each has its message."""
    with pytest.raises(BadInputError, match="no such folder"):
        answer_files(tmp_path / "nowhere", "orders")
    with pytest.raises(BadInputError, match=r"no orders.parquet or orders.csv there"):
        answer_files(tmp_path, "orders")
    (tmp_path / "orders.parquet.gz").touch()
    with pytest.raises(
        BadInputError, match=r"orders.parquet.gz is not a format of answers; give the folder with orders"
    ):
        answer_files(tmp_path, "orders")
    (tmp_path / "orders").mkdir()
    with pytest.raises(BadInputError, match=r"no .parquet or .csv file there"):
        answer_files(tmp_path, "orders")
    (tmp_path / "orders.csv").touch()
    with pytest.raises(BadInputError, match=r"both orders and orders.csv"):
        answer_files(tmp_path, "orders")


def test_a_cut_off_compressed_file_is_refused(tmp_path: Path) -> None:
    """With the last line that was read."""
    lines = "".join(f"st_00001,BUY,AAAAAA,100,10,{number * 7919 % 1_000_003}\n" for number in range(100_000))
    path = csv_file(tmp_path, gzip.compress((HEADER + lines).encode())[:-100_000])
    with pytest.raises(
        BadInputError, match=r"orders.csv: not readable as answers: damaged or cut off after line [\d,]+: "
    ):
        read(path)


def test_damage_in_the_middle_of_parquet_is_refused(tmp_path: Path) -> None:
    """By the file's name; no row of it counts."""
    path = tmp_path / "orders.parquet"
    pq.write_table(pa.Table.from_pylist([ROW] * 100_000, ORDERS), path, row_group_size=10_000, compression="gzip")
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = bytes(200) + content[len(content) // 2 + 200 :]
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"orders.parquet: not readable as answers: "):
        read(path)


WRONG_COLUMNS: dict[str, tuple[str, list[str], str]] = {
    "timestamps": (
        "inputTickTS",
        ["2024-01-02 09:30:00", "2024-01-02T09:30:00Z"],
        "timestamps throughout, where whole",
    ),
    "text": (
        "price",
        ["dear", "cheap"],
        "text throughout, where whole numbers are expected; the first: price is 'dear'",
    ),
    "fractions": ("price", ["100.5", "1e-3"], "fractions throughout"),
    "nothing": ("size", ["", " "], "empty values throughout"),
    "too large": ("size", [str(2**64), str(2**63)], "numbers of more than 64 bits throughout"),
    "all kinds": ("size", ["", "x"], "invalid values throughout"),
}


@pytest.mark.parametrize("case", WRONG_COLUMNS)
def test_a_column_that_is_wrong_throughout_is_named_once(tmp_path: Path, case: str) -> None:
    """After the rows, which are all invalid, with what its values are and what they should be."""
    column, values, words = WRONG_COLUMNS[case]
    rows = [ROW | {column: value} for value in values * 3]
    path = csv_file(tmp_path, HEADER + "".join(",".join(map(str, row.values())) + "\n" for row in rows))
    found = list(read_answers(path, ORDERS))
    assert sum(isinstance(part, InvalidRow) for part in found) == 6
    [wrong] = [part for part in found if isinstance(part, WrongColumn)]
    assert wrong.sentence().startswith(f"{path}: column {column} has ")
    assert words in wrong.sentence()


@pytest.mark.parametrize("column", ["strategy", "symbol", "price"])
def test_text_in_parquet_that_is_not_utf8(tmp_path: Path, column: str) -> None:
    """Parquet may hold any bytes as text: that row is invalid, and costs no other."""
    values = {name: pa.array([str(value)] * 3) for name, value in ROW.items()}
    offsets = pa.py_buffer(np.array([0, 3, 4, 7], np.int32))
    values[column] = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"100\xff100")])
    pq.write_table(pa.table(values), tmp_path / "orders.parquet")
    rows, [invalid] = read(tmp_path / "orders.parquet")
    assert [row[column] for row in rows] == ([100, 100] if column == "price" else ["100", "100"])
    assert invalid.line == 2
    assert invalid.problem.startswith(f"{column} is b'\\xff', not ")


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (pa.timestamp("us"), datetime(2024, 1, 2, tzinfo=UTC), "timestamps"),
        (pa.date32(), datetime(2024, 1, 2, tzinfo=UTC).date(), "timestamps"),
        (pa.bool_(), True, "values of type bool"),
        (pa.null(), None, "empty values"),
        (pa.float64(), 0.5, "fractions"),
        (pa.string(), "later", "text"),
    ],
)
def test_wrong_columns_of_parquet(tmp_path: Path, kind: pa.DataType, value: Any, words: str) -> None:
    """A timestamp is never taken for the number that it is stored as."""
    path = tmp_path / "orders.parquet"
    schema = pa.schema([field.with_type(kind if field.name == "inputTickTS" else field.type) for field in ORDERS])
    nullable = pa.schema([field.with_nullable(True) for field in schema])
    pq.write_table(pa.Table.from_pylist([ROW | {"inputTickTS": value}] * 5, nullable), path)
    *rows, wrong = read_answers(path, ORDERS)
    assert isinstance(wrong, WrongColumn)
    assert (wrong.column, wrong.found, wrong.expected) == ("inputTickTS", words, "whole numbers")
    assert [row.line for row in rows if isinstance(row, InvalidRow)] == [1, 2, 3, 4, 5]


def test_a_column_with_one_valid_value_is_not_wrong_throughout(tmp_path: Path) -> None:
    """Then its rows are named, not the column; neither is that of a single row."""
    bad = GOOD.replace("100", "dear")
    for text in (bad * 3 + GOOD, bad):
        assert not any(
            isinstance(part, WrongColumn) for part in read_answers(csv_file(tmp_path, HEADER + text), ORDERS)
        )


names = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=10).map(lambda rest: "n" + rest)
wholes = st.integers(-(2**63), 2**63 - 1)
good_rows = st.tuples(names, st.sampled_from(["BUY", "SELL"]), names, wholes, wholes, wholes)
spoilt_lines = st.sampled_from(
    [
        b"garbage",
        b"st,BUY,A,1,2",
        b"st,BUY,A,1,2,3,4",
        b"st,BUY,A,1,2,3.5",
        b"st,BUY,A,,2,3",
        b"st,BUY,A,9223372036854775808,2,3",
        b'st,"BUY,A,1,2,3',
        b'"st,BUY,A,1,2,3',
        b'st,BUY,A,1,2,"3',
        b'st"x,BUY,A,1,"2,3',
        b"st,BU\rY,A,1,2,3",
        b"st\xc3,BUY,A,1,2,3",
        b"st,BUY,A,\x001,2,3",
        b"st,BUY," + b"A" * 400 + b",1,2,3",
    ]
)


@given(
    rows=st.lists(good_rows | spoilt_lines, max_size=30),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_spoilt_row_is_one_invalid_row_and_costs_no_other(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...] | bytes], quoting: Any, line_end: str
) -> None:
    """Wherever blocks are cut: every other row is read as written, and every spoilt one has its line."""
    content, line, lines_of_spoilt, good = HEADER.encode(), 2, [], []
    for row in rows:
        if isinstance(row, bytes):
            written = row + line_end.encode()
            lines_of_spoilt.append(line)
        else:
            text = io.StringIO()
            csv.writer(text, quoting=quoting, lineterminator=line_end).writerow(row)
            written = text.getvalue().encode()
            good.append(dict(zip(ORDERS.names, row, strict=True)))
        content += written
        line += written.count(b"\n")
    path = csv_file(tmp_path_factory.mktemp("spoilt"), content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "_LONGEST_LINE", 256)
        found, invalid = read(path)
    assert found == good
    assert [row.line for row in invalid] == lines_of_spoilt
