"""Tests of the rules for ticks: every violation is reported with file and row, by everything that reads ticks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.core.errors import BadInputError, one_line
from pairs.dataset.formats import parquet as tick_parquet
from pairs.dataset.reader import TickReader, parts_of, read_ticks, whole_file
from pairs.dataset.tick_rules import wrong_with_symbol
from pairs.model.tuples import STOCK_TICK

ROWS: list[list[Any]] = [["AAA", 100 + number, 10, number] for number in range(40)]


def write_csv(path: Path, rows: list[list[Any]]) -> Path:
    """Write rows as they are; None as an empty value."""
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    path.write_text("\n".join([",".join(STOCK_TICK.names), *lines, ""]))
    return path


def write_parquet(path: Path, rows: list[list[Any]]) -> Path:
    """Write rows with 64-bit numbers, in groups of ten."""
    kinds = [pa.string(), pa.int64(), pa.int64(), pa.int64()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    pq.write_table(pa.table(columns, STOCK_TICK.names), path, row_group_size=10)
    return path


WRITERS: dict[str, Callable[[Path, list[list[Any]]], Path]] = {"csv": write_csv, "parquet": write_parquet}


def problems_of(path: Path, known: set[str] | None = None) -> list[tuple[int, str]]:
    """Return row, from 1, and text of the problems of a file."""
    reader, found = TickReader(known), []
    for part in parts_of(path):
        for _, violations in reader.scan(part):
            found += [problem for violation in violations for problem in violation.problems()]
    return [(problem.row + 1, problem.text) for problem in sorted(found)]


BAD_VALUES: dict[str, tuple[int, Any, str]] = {
    "no symbol": (0, "", "empty symbol; every tick has a symbol"),
    "long symbol": (0, "A" * 17, f"symbol '{'A' * 17}' is longer than 16 bytes, the limit of the tick log; shorten it"),
    "wide symbol": (0, "Ö" * 9, f"symbol '{'Ö' * 9}' is longer than 16 bytes, the limit of the tick log; shorten it"),
    "zero byte": (0, "A\0", "symbol 'A\\x00' contains a zero byte, which ends it in the tick log; remove it"),
    "unknown symbol": (0, "ZZZ", "unknown symbol 'ZZZ'; it is not a symbol of dataset.json"),
    "no price": (1, None, "no price; every tick has a price"),
    "zero price": (1, 0, "price 0; prices are whole cents above zero"),
    "negative price": (1, -7, "price -7; prices are whole cents above zero"),
    "price beyond 32 bits": (1, 2**31, "price {} is not a whole number of 32 bits; prices are whole cents above zero"),
    "no size": (2, None, "no size; every tick has a size"),
    "zero size": (2, 0, "size 0; sizes are whole numbers above zero"),
    "size beyond 32 bits": (2, 2**40, "size {} is not a whole number of 32 bits; sizes are whole numbers above zero"),
    "no time": (3, None, "no tickTS; every tick has a tickTS"),
    "time backwards": (3, 17, "tickTS 17 after 24; sort by time"),
    "time beyond doubles": (3, 2**53, "tickTS 9007199254740992; times are whole milliseconds from zero"),
}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("case", BAD_VALUES)
def test_each_rule_names_row_and_value(tmp_path: Path, suffix: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in both formats, wherever batches and parts are cut; readers refuse the file with the same message."""
    monkeypatch.setattr(tick_parquet, "_ROWS_AT_A_TIME", 7)
    column, value, text = BAD_VALUES[case]
    rows = [list(row) for row in ROWS]
    rows[25][column] = value
    file = WRITERS[suffix](tmp_path / f"ticks.{suffix}", rows)
    message = text.format(repr(str(value)) if suffix == "csv" else value)
    assert problems_of(file, {"AAA"})[0] == (26, message)
    assert len(problems_of(file, {"AAA"})) == (2 if case == "time beyond doubles" else 1)  # time falls back after it
    with pytest.raises(BadInputError) as refused:
        list(TickReader({"AAA"}).read(whole_file(file)))
    assert str(refused.value) == f"{file}: row 26: {message}"


def test_a_missing_symbol_of_parquet_is_reported(tmp_path: Path) -> None:
    """Null is not the empty text, and not the symbol of another row."""
    rows = [list(row) for row in ROWS]
    rows[3][0] = None
    assert problems_of(write_parquet(tmp_path / "ticks.parquet", rows)) == [(4, "no symbol; every tick has a symbol")]


def test_csv_values_that_are_not_numbers(tmp_path: Path) -> None:
    """Text, fractions, exponents and blanks are reported with the value, row by row."""
    values = ["cheap", "1.5", "1e3", " 7", "+7", "0x10", "9" * 30]
    rows = [["AAA", value, 10, 0] for value in values]
    found = problems_of(write_csv(tmp_path / "ticks.csv", rows))
    assert found == [
        (row + 1, f"price {value!r} is not a whole number of 32 bits; prices are whole cents above zero")
        for row, value in enumerate(values[:5])
    ]


def test_csv_rows_of_another_length_are_reported_and_skipped(tmp_path: Path) -> None:
    """Later rows keep their numbers, and are read."""
    lines = ["AAA,1,1,0", "AAA,1,1", '"A\nA",1,1,1', "AAA,1,1,2,3", "AAA,0,1,4", "AAA"]
    file = tmp_path / "ticks.csv"
    file.write_text("\n".join(["symbol,price,size,tickTS", *lines, ""]))
    assert problems_of(file) == [
        (2, "3 values for 4 columns: 'AAA,1,1'"),
        (4, "5 values for 4 columns: 'AAA,1,1,2,3'"),
        (5, "price 0; prices are whole cents above zero"),
        (6, "1 value for 4 columns: 'AAA'"),
    ]
    with pytest.raises(BadInputError, match="row 2: 3 values for 4 columns"):
        list(read_ticks(file))


def test_a_truncated_csv(tmp_path: Path) -> None:
    """A truncated last row is found, also in another block than the rows before."""
    file = write_csv(tmp_path / "ticks.csv", [["AAA", 100, 10, number // 3] for number in range(200_000)])
    text = file.read_text()
    file.write_text(text[: text.rindex(",")])
    assert problems_of(file) == [(200_000, "3 values for 4 columns: 'AAA,100,10'")]


def test_columns_may_come_in_any_order_with_others_between(tmp_path: Path) -> None:
    """Columns are found by name; others are ignored."""
    file = tmp_path / "ticks.csv"
    file.write_text("note,tickTS,size,price,symbol\nx,0,10,100,AAA\n,1,10,101,BBB\n")
    [batch] = read_ticks(file)
    assert batch.to_pylist() == [
        {"symbol": "AAA", "price": 100, "size": 10, "tickTS": 0},
        {"symbol": "BBB", "price": 101, "size": 10, "tickTS": 1},
    ]


@pytest.mark.parametrize(
    ("column", "kind", "problem"),
    [
        ("price", None, "no column 'price'; has 'symbol', 'size', 'tickTS'"),
        ("price", pa.float64(), "column 'price' has type double, not whole numbers"),
        ("tickTS", pa.timestamp("ms"), "column 'tickTS' has type timestamp[ms], not whole numbers"),
        ("symbol", pa.int64(), "column 'symbol' has type int64, not text"),
    ],
)
def test_parquet_of_other_columns_or_types_is_refused(
    tmp_path: Path, column: str, kind: pa.DataType | None, problem: str
) -> None:
    """Before a row is read; the message names the columns or the type of the file."""
    columns = {name: pa.array([1, 2], pa.int64()) for name in STOCK_TICK.names} | {"symbol": pa.array(["A", "B"])}
    if kind is None:
        del columns[column]
    else:
        columns[column] = pa.array([1, 2], pa.int64()).cast(kind)
    file = tmp_path / "ticks.parquet"
    pq.write_table(pa.table(columns), file)
    with pytest.raises(BadInputError) as refused:
        parts_of(file)
    assert f"{file}: not a readable tick file: {problem}; generate or import" in str(refused.value)


@pytest.mark.parametrize(("name", "content"), [("a.csv", b""), ("a.csv", b"symbol,price\n"), ("a.parquet", b"PAR1")])
def test_unreadable_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """Empty, with other columns, truncated: refused with the reason."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInputError, match=rf"{name}: not a readable tick file: "):
        parts_of(tmp_path / name)


def test_damage_inside_a_parquet_file(tmp_path: Path) -> None:
    """Rows before it are read; the first unreadable row is reported."""
    file = write_parquet(tmp_path / "ticks.parquet", ROWS)
    start = pq.read_metadata(file).row_group(2).column(0).dictionary_page_offset
    content = bytearray(file.read_bytes())
    content[start : start + 20] = b"\xff" * 20
    file.write_bytes(bytes(content))
    [(row, text)] = problems_of(file)
    assert row <= 21
    assert text.startswith("not readable from here on: ")


def test_messages_contain_no_control_characters() -> None:
    """Names of files and symbols may contain anything; a message is one line of printable text."""
    assert one_line("a\n b\x1b[31m\u202e\udcff ü: row 1") == "a b\\x1b[31m\\u202e\\udcff ü: row 1"


def test_any_short_symbol_is_valid() -> None:
    """Up to sixteen bytes of anything but a zero byte."""
    for name in ("A", "ABCDEFGHIJKLMNOP", "Ö" * 8, "<script>", "../x", '"', "\n", "{{ 7 * 7 }}"):
        assert wrong_with_symbol(name) is None


def test_a_symbol_that_is_not_text_is_refused(tmp_path: Path) -> None:
    """Parquet may hold any bytes as text; they are found when the names are looked at."""
    symbol = pa.array([b"A", b"\xff\xfe"]).cast(pa.string(), safe=False)
    columns = {"symbol": symbol, "price": pa.array([1, 1]), "size": pa.array([1, 1]), "tickTS": pa.array([0, 1])}
    pq.write_table(pa.table(columns), tmp_path / "ticks.parquet")
    with pytest.raises(BadInputError, match=r"ticks\.parquet: row 1: not readable from here on: 'utf-8' codec can't"):
        list(read_ticks(tmp_path / "ticks.parquet"))


def test_an_invalid_row_that_is_not_text_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Arrow would print a traceback for a row with too few values that it cannot show."""
    (tmp_path / "ticks.csv").write_bytes(b"symbol,price,size,tickTS\nA,1,1,0\nA,\xff\n")
    with pytest.raises(BadInputError, match=r"ticks\.csv: "):
        list(read_ticks(tmp_path / "ticks.csv"))
    assert capfd.readouterr().err == ""
