"""Every reader keeps the contract: a few hostile files in every run of the tests, hundreds in the long one."""

from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from tests.fuzz import contract
from tests.fuzz.readers import READERS
from tests.fuzz.runner import Budget, Result, fuzz
from tests.fuzz.worker import write_files

_LIMIT_S = 60  # for files that take milliseconds, so that a busy machine is no finding


def told(results: dict[str, Result]) -> str:
    """Return all findings with their tracebacks."""
    folders = [folder for result in results.values() for folder in result.findings.values()]
    return "\n".join((folder / "finding.txt").read_text() for folder in folders)


@pytest.mark.process
def test_a_few_hostile_files_of_each_kind(tmp_path: Path) -> None:
    """The same files every time: none of them gets more than one line out of a reader."""
    results = fuzz(READERS, Budget(examples=12, limit_s=_LIMIT_S), tmp_path)
    assert not told(results)
    assert all(result.cases >= 12 for result in results.values())


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("reader", READERS)
def test_hundreds_of_hostile_files(reader: str, tmp_path: Path) -> None:
    """Other files than the few, and the same every time."""
    results = fuzz([reader], Budget(examples=300, seed=1, limit_s=_LIMIT_S), tmp_path)
    assert not told(results)
    assert results[reader].cases >= 300


@pytest.mark.parametrize("reader", READERS)
def test_valid_files_are_read(reader: str, tmp_path: Path) -> None:
    """What hostile files are made of is valid itself: a reader that refuses everything would find nothing."""
    write_files(tmp_path / "input", next(iter(READERS[reader].valid())))
    refused = None
    try:
        READERS[reader].read(tmp_path / "input")
    except BadInputError as error:
        refused = str(error)
    assert refused is None or (reader == "search" and "sustained" in refused)  # its run is too short for that


def test_anything_but_an_error_of_the_kit_is_a_finding(tmp_path: Path) -> None:
    """A traceback, an empty message and too much memory are found; a line is not."""

    def failing(error: Exception) -> contract.Finding | None:
        def read(folder: Path) -> None:
            raise error

        return contract.broken_by(read, tmp_path)

    assert failing(BadInputError("file: wrong; fix it")) is None
    assert failing(BadInputError(" \n")) is not None
    found = failing(KeyError("x"))
    assert found is not None
    assert found.title.startswith("KeyError in read")


def test_memory_beyond_the_bound_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The peak of the process counts."""
    monkeypatch.setattr(contract, "MOST_BYTES", -1)
    found = contract.broken_by(lambda folder: None, tmp_path)
    assert found is not None
    assert found.title == "too much memory"


@pytest.mark.process
def test_a_reader_that_hangs_is_named_and_its_files_are_kept(tmp_path: Path) -> None:
    """The watchdog ends the process; here it does not wait for a report, which takes longer than a millisecond."""
    results = fuzz(["run-reported"], Budget(examples=5, limit_s=0.001), tmp_path)
    (title, folder) = next(iter(results["run-reported"].findings.items()))
    assert title.startswith("hangs in ")
    assert (folder / "input" / "run-1" / "run.json").is_file()
