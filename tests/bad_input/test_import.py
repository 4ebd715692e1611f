"""Bad input to `pairs import`: exit code 2, one line that names the place and the remedy, nothing written."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.cli import app as cli
from tests.conftest import Command

HEADER = "sym,px,at\n"
COLUMNS = ("--symbol-column", "sym", "--price-column", "px", "--time-column", "at")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with trades and lists of pairs."""
    monkeypatch.chdir(tmp_path)
    Path("trades.csv").write_text(HEADER + "A,1,2024-01-02T09:30:00Z\nB,2,2024-01-02T09:30:01Z\n")
    Path("empty.csv").write_text("")
    Path("numbers.csv").write_text(HEADER + "A,1,1704187800000\nB,2,1704187801000\n")
    pq.write_table(pa.table({"sym": ["A", "B"], "px": [1.0, 2.0], "at": [0, 1]}), "numbers.parquet")
    Path("broken.parquet").write_bytes(b"PAR1")
    for name, rows in {"none": "", "half": "A,\n", "same": "A,A\n", "twice": "A,B\nB,A\n", "other": "A,Z\n"}.items():
        Path(f"{name}.pairs").write_text("symbol1,symbol2\n" + rows)
    return tmp_path


CASES = {
    "no such file": (["nowhere.csv"], "nowhere.csv: not readable as trades: No such file or directory; give CSV"),
    "a folder": (["."], ".: not readable as trades: Is a directory; give CSV with a header line, or Parquet"),
    "an empty file": (["empty.csv"], "empty.csv: not readable as trades: no column 'sym'; has nothing"),
    "a broken file": (["broken.parquet"], "broken.parquet: not readable as trades: "),
    "times without a unit": (
        ["trades.csv", "numbers.csv"],
        "numbers.csv: row 1: time '1704187800000' is a number; give its unit, such as --time-unit ms",
    ),
    "times without a unit in Parquet": (["numbers.parquet"], "numbers.parquet: row 1: time 0 is a number; give its"),
    "a file twice": (["trades.csv", "./trades.csv"], "trades.csv: given twice"),
    "no such column": (["trades.csv", "--size-column", "qty"], "no column 'qty'; has 'sym', 'px', 'at'; give CSV"),
    "wrong unit": (["trades.csv", "--time-unit", "h"], "--time-unit: 'h' is not valid; give one of ns, us, ms, s"),
    "no pairs": (["trades.csv", "--top-pairs", "0"], "--top-pairs: '0' is not valid; give a whole number from 1"),
    "pairs twice": (["trades.csv", "--top-pairs", "1", "--pairs", "x"], "--top-pairs: cannot be combined with --pairs"),
    "no list": (["trades.csv", "--pairs", "x.csv"], "x.csv: cannot be read: No such file or directory; give CSV with"),
    "an empty list": (["trades.csv", "--pairs", "none.pairs"], "none.pairs: no pair in it"),
    "half a pair": (["trades.csv", "--pairs", "half.pairs"], "half.pairs: row 1: no symbol1 or no symbol2"),
    "a symbol twice": (
        ["trades.csv", "--pairs", "same.pairs"],
        "same.pairs: row 1: 'A', 'A': the same symbol twice",
    ),
    "a pair again": (["trades.csv", "--pairs", "twice.pairs"], "twice.pairs: row 2: 'B', 'A': this pair is there"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused_before_spark_starts(case: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is started or written, and nothing but the line is printed."""
    arguments, message = CASES[case]
    before = sorted(here.rglob("*"))
    assert cli.run(["import", *arguments, "-o", "real", *COLUMNS, "--master", "nowhere://here"]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1), shown.err
    assert message in shown.err
    assert sorted(here.rglob("*")) == before


ROW_CASES = {
    "an invalid row": (["bad.csv"], "bad.csv: row 2: 'x' is not a valid price; fix the row or remove it"),
    "unknown symbols": (["trades.csv", "--pairs", "other.pairs"], "--pairs: symbol 'Z' has no trade; name symbols of"),
    "too few trades": (
        ["trades.csv"],
        "--top-pairs: 1 wanted, found 0 pairs of symbols that trade in at least",
    ),
}


@pytest.mark.parametrize("case", ROW_CASES)
def test_refused_by_what_is_in_the_files(case: str, here: Path, pairs_command: Command) -> None:
    """Errors that only a full read finds also give a single line, and nothing is written."""
    arguments, message = ROW_CASES[case]
    Path("bad.csv").write_text(HEADER + "A,1,2024-01-02T09:30:00Z\nB,x,2024-01-02T09:30:01Z\n")
    before = sorted(here.rglob("*"))
    done = pairs_command("import", *arguments, "-o", "deep/real", *COLUMNS, "--master", "local[1]")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert message in done.stderr
    assert sorted(here.rglob("*")) == before
