"""Hostile XML and wrong uses of `pairs strategies`: refused safely, fast and in words."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from pairs.cli import app as cli
from pairs.model.strategy_xml import scan
from tests.markets import golden_market

TENFOLD = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
BOMB = f"<!DOCTYPE bomb [<!ENTITY e0 'ha'>{TENFOLD}]>\n<Strategies marketClose='&e11;'/>"

HOSTILE = {
    "external entity": (
        b'<!DOCTYPE x [<!ENTITY leak SYSTEM "file:///etc/passwd">]>\n<Strategies marketClose="&leak;"/>',
        "a DTD is not allowed",
    ),
    "entity bomb": (BOMB.encode(), "a DTD is not allowed"),
    "plain DTD": (b"<!DOCTYPE Strategies>\n<Strategies marketClose='1'/>", "a DTD is not allowed"),
    "late DTD": (b"<!--" + b"x" * 200_000 + b"-->\n<!DOCTYPE Strategies><Strategies/>", "a DTD is not allowed"),
    "hidden in UTF-16": (
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE x [<!ENTITY e "v">]><Strategies/>'.encode("utf-16"),
        "not UTF-8",
    ),
    "declared UTF-7": (b'<?xml version="1.0" encoding="UTF-7"?><Strategies marketClose="1"/>', "'UTF-7' is declared"),
    "declared latin-1": (b"<?xml version='1.0' encoding='ISO-8859-1'?><Strategies/>", "'ISO-8859-1' is declared"),
    "not UTF-8 inside": (
        b'<Strategies marketClose="\xff\xfe"/>',
        "not well-formed XML: bytes that are not UTF-8; save",
    ),
    "undefined entity": (b'<Strategies marketClose="&nothing;"/>', "not well-formed XML"),
    "binary": (bytes(range(256)) * 100, "not UTF-8"),
    "deep": (b"<Strategies>" + b"<a>" * 100_000, "not well-formed XML: elements inside elements too deep"),
    "long name": (b"<" + b"a" * 100_000 + b"/>", "not well-formed XML: a name that is too long"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(tmp_path: Path, case: str) -> None:
    """Nothing is expanded or fetched; the reason is one problem with a line."""
    content, reason = HOSTILE[case]
    file = tmp_path / "hostile.xml"
    file.write_bytes(content)
    found, problems = scan(file)
    assert found is None
    assert reason in problems[0].text
    assert "root:" not in str(problems)


@pytest.mark.parametrize("opening", [b'<Strategies marketClose="', b"<", b"<Strategies>", b"<!--"])
def test_a_gigabyte_in_one_piece_is_refused_early(tmp_path: Path, opening: bytes) -> None:
    """An endless attribute, name, text or comment is given up after a megabyte or so, in little memory."""
    file = tmp_path / "large.xml"
    with file.open("wb") as target:
        target.write(opening + b"1" * 2_000_000)
        target.truncate(2**30)  # the rest is a hole: reading it all would show
    program = (
        f"from pathlib import Path; from pairs.model.strategy_xml import scan; print(scan(Path({str(file)!r}))[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)),
    )
    assert done.returncode == 0, done.stderr
    assert "Problem(" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "DATASET: missing; give the folder of a dataset, or a file with --check"),
        (["nowhere"], "nowhere: not a dataset; make one with 'pairs generate -o nowhere'"),
        (["--check", "nowhere.xml"], "nowhere.xml: cannot be read: No such file or directory; check the path"),
        (["--check", "."], ".: cannot be read: Is a directory; check the path"),
    ],
)
def test_wrong_uses_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    """Exit code 2 and one line."""
    monkeypatch.chdir(tmp_path)
    assert cli.run(["strategies", *arguments]) == 2
    assert capsys.readouterr().err == f"pairs: {message}\n"


def test_a_failed_check_lists_every_problem_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each problem, with file and line, and a summary."""
    file = tmp_path / "hand.xml"
    file.write_text("<Strategies>\n<PairsStrategy/>\n</Strategies>")
    assert cli.run(["strategies", "--check", str(file)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0].startswith(f"{file}:1: ")
    assert all(line.startswith(f"{file}:2: ") for line in lines[1:-1])
    assert lines[-1] == f"pairs: {file}: 9 problems; fix what is wrong and check again"


def test_one_is_not_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One problem, one strategy."""
    file = tmp_path / "hand.xml"
    known = 'user="u" availableFunds="1000" symbol1="A" symbol2="B" periodLength="20" numPeriods="5" stopLossPerc="0.3"'
    strategy = f'<PairsStrategy alias="a" {known} bandsMultiplier="1.5"/>'
    file.write_text(f'<Strategies marketClose="7200000">{strategy}</Strategies>')
    assert cli.run(["strategies", "--check", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: valid, 1 strategy\n"
    file.write_text(f'<Strategies marketClose="7200000">{strategy}{strategy}</Strategies>')  # in one line
    assert cli.run(["strategies", "--check", str(file)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"pairs: {file}: 1 problem; fix what is wrong and check again"


def test_a_check_against_a_dataset_compares_symbols_and_close(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A close in 3,000 years or after 5 ms fails; a close before the end is only warned of."""
    market = golden_market(tmp_path / "market")
    file = market / "strategies.xml"
    text = file.read_text()
    for close, code, said in (
        ("94608000000000", 1, f"{file}:2: marketClose is 94608000000000, after the dataset's last tick at 900000"),
        ("5", 1, f"{file}:2: marketClose is 5, before the first strategy can answer"),
        (
            "600000",
            0,
            f"pairs: warning: {file}: the market closes at 10m (marketClose), the dataset ends at 15m: ticks",
        ),
    ):
        file.write_text(text.replace('marketClose="900000"', f'marketClose="{close}"'))
        assert cli.run(["strategies", "--check", str(file), str(market)]) == code
        assert capsys.readouterr().err.startswith(said)
