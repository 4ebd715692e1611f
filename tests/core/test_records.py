"""Tests of typed records: what is written reads back, and anything else is refused with file and field."""

import json
from pathlib import Path

import pytest

from pairs import __version__
from pairs.core.errors import BadInputError
from pairs.core.records import Count, Model, Record


class Part(Model):
    """A part of the record."""

    size: int


class Example(Record):
    """A record of a test."""

    FORMAT = 3
    REMEDY = "make it again"

    name: str
    parts: tuple[Part, ...]
    seen: Count = 0
    share: float | None = None


EXAMPLE = Example(name="a", parts=(Part(size=1), Part(size=2)))


def changed(file: Path, **changes: object) -> Path:
    """Write the example with other values; None removes a key."""
    content = json.loads(EXAMPLE.to_json()) | changes
    file.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
    return file


def test_a_record_reads_back_and_carries_its_versions(tmp_path: Path) -> None:
    """The file has the version of its format and of the kit."""
    EXAMPLE.write(tmp_path / "example.json")
    assert Example.read(tmp_path / "example.json") == EXAMPLE
    content = json.loads((tmp_path / "example.json").read_text())
    assert (content["format_version"], content["kit_version"]) == (3, __version__)


def test_numbers_that_json_cannot_express_are_null(tmp_path: Path) -> None:
    """NaN and infinity read back as None."""
    EXAMPLE.model_copy(update={"share": float("nan")}).write(tmp_path / "example.json")
    assert Example.read(tmp_path / "example.json").share is None


def test_another_version_is_refused_with_the_kit_that_wrote_it(tmp_path: Path) -> None:
    """One line: the file, both versions, and the remedy."""
    file = changed(tmp_path / "example.json", format_version=2, kit_version="0.0.9")
    with pytest.raises(BadInputError) as refused:
        Example.read(file)
    assert str(refused.value) == (
        f"{file}: has format version 2, not 3: kit 0.0.9 wrote it, this is kit {__version__}; make it again"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "name: Field required"),
        ({"name": 7}, "name: Input should be a valid string"),
        ({"parts": [{"size": 1}, {"size": "x"}]}, "parts.1.size: Input should be a valid integer"),
        ({"nmae": "a"}, "nmae: Extra inputs are not permitted"),
        ({"seen": -1}, "seen: Input should be greater than or equal to 0"),
        ({"seen": 2**60}, "seen: Input should be less than or equal to 9007199254740992"),
        ({"share": float("inf")}, "cannot be read: Infinity is not a finite number"),
    ],
)
def test_a_wrong_field_is_refused_by_name(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    """Missing, of another type, or unknown: the message names file and field."""
    file = changed(tmp_path / "example.json", **changes)
    with pytest.raises(BadInputError) as refused:
        Example.read(file)
    assert str(refused.value).startswith(f"{file}: {message}")
    assert str(refused.value).endswith("; make it again")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '"text"', "[" * 100_000, "NaN", "1e999", "9" * 5_000])
def test_anything_else_is_refused(tmp_path: Path, content: str) -> None:
    """Never a traceback."""
    (tmp_path / "example.json").write_text(content)
    with pytest.raises(BadInputError, match=r"example\.json: .*; make it again"):
        Example.read(tmp_path / "example.json")


def test_a_missing_file_is_the_callers_business(tmp_path: Path) -> None:
    """The caller knows what to do about it."""
    with pytest.raises(FileNotFoundError):
        Example.read(tmp_path / "example.json")
