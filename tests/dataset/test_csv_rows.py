"""Tests of the CSV reader that ticks, trades and answers share."""

import gzip
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.dataset.formats import csv_rows as module
from pairs.dataset.formats.base import SkippedRow
from pairs.dataset.formats.csv_rows import csv_rows

TEXT = {"a": pa.string(), "b": pa.string()}
Row = tuple[int, int, str, str]  # position, line, values


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that is written over and over."""
    return tmp_path_factory.mktemp("csv") / "any.csv"


def read(file: Path) -> tuple[list[Row], list[SkippedRow]]:
    """Return the rows of a file and those that were skipped."""
    rows: list[Row] = []
    skipped: list[SkippedRow] = []
    for stored in csv_rows(file, TEXT):
        a, b = (stored.batch[name].cast(pa.string()).to_pylist() for name in TEXT)
        rows += zip(stored.rows, stored.lines, a, b, strict=True)
        skipped += stored.skipped
    return rows, skipped


pieces = st.sampled_from(
    [b"x", b",", b'"', b"\n", b"\r", b"\r\n", b"\0", b"\xff", "é".encode(), b'""', b'",', b',"', b" "]
)
contents = st.lists(pieces, max_size=60).map(lambda parts: b"a,b\n" + b"".join(parts))


@given(content=contents)
def test_arrow_and_python_take_every_line_for_the_same(file: Path, content: bytes) -> None:
    """Whatever the bytes: the verdict on a row does not depend on who reads it, so not on its neighbours either."""
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        by_both = read(file)
        patch.setattr(module, "_may_be_plain", lambda block: False)
        assert read(file) == by_both


@given(content=contents, block=st.integers(8, 40))
def test_rows_do_not_depend_on_where_blocks_are_cut(file: Path, content: bytes, block: int) -> None:
    """As long as no line is too long; positions count up, and lines never fall."""
    file.write_bytes(content)
    whole = read(file)
    lengths = [len(line) for line in content.split(b"\n")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LONGEST_LINE", max(block, *lengths) + 2)
        assert read(file) == whole
    rows, skipped = whole
    places = sorted([(row[0], row[1]) for row in rows] + [(row.row, row.line) for row in skipped])
    assert [row for row, _ in places] == list(range(len(places)))
    assert [line for _, line in places] == sorted({line for _, line in places})


def test_a_value_with_line_ends_is_read_across_blocks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row may span lines, and blocks, as long as it is whole; rows after it have their lines."""
    value = "\n".join(f"line {number}, of a name" for number in range(50))
    file.write_text(f'a,b\n1,"{value}"\n2,x\n')
    monkeypatch.setattr(module, "_LONGEST_LINE", 64)
    assert read(file) == ([(0, 2, "1", value), (1, 52, "2", "x")], [])


@pytest.mark.parametrize("rest", ["x\n" * 60_000, '2,"x"\n' * 3, "2,x\n" * 3 + '3,"x\n'])
def test_a_quote_that_is_not_closed_takes_no_other_line_with_it(file: Path, rest: str) -> None:
    """Its line is invalid, be there no other quote, quotes that do not fit, or another that is not closed."""
    file.write_text('a,b\n1,"never closed\n' + rest)
    rows, skipped = read(file)
    assert skipped[0] == SkippedRow(0, 2, "a quote is not closed: '1,\"never closed'")
    assert len(rows) + len(skipped) == 1 + rest.count("\n")


BOUND_MB = 60
MEASURE = """
import resource, sys
from pathlib import Path
import pyarrow as pa
from pairs.dataset.formats.csv_rows import csv_rows
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for stored in csv_rows(Path(sys.argv[1]), {"a": pa.string(), "b": pa.string()}):
    for skipped in stored.skipped:
        print(skipped.line, skipped.problem)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def bomb(file: Path) -> None:
    """Write a file that grows a thousandfold when it is read."""
    with gzip.open(file, "wb", compresslevel=1) as target:
        target.write(b"a,b\n1,x\n")
        for _ in range(200):
            target.write(bytes(1_000_000))
        target.write(b"\n2,y\n")


def endless_line(file: Path) -> None:
    """Write a line of 200 MB, most of it a hole."""
    with file.open("wb") as target:
        target.write(b"a,b\n1,x\n")
        target.seek(200_000_000)
        target.write(b"\n2,y\n")


@pytest.mark.parametrize("write", [bomb, endless_line])
def test_memory_is_bounded(file: Path, write: type) -> None:
    """A line of 200 MB is one invalid row, read in little memory, also from a small compressed file."""
    write(file)
    done = subprocess.run([sys.executable, "-c", MEASURE, str(file)], capture_output=True, text=True, check=True)
    problem, grown_kb = done.stdout.splitlines()
    assert problem == "3 a line of more than 1,048,576 bytes"
    assert int(grown_kb) < BOUND_MB * 1024
