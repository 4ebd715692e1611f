"""Tests of how settings are declared, read from files and flags, and merged."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from pairs.config.settings import Sourced, as_plain, parse_file, parse_flags, parse_settings, setting, shipped
from pairs.config.values import time_span, whole
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError


@dataclass(frozen=True)
class Example:
    """A group of two settings."""

    count: int = setting(whole(1), "--count", "How many.", 3)
    length: int = setting(time_span(), "--length", "How long.")


def test_flags_override_files_and_keep_their_places() -> None:
    """The value and the place of an error message come from the same source."""
    file = parse_settings({"count": 2, "length": "1m"}, Example, {"count": "a.toml: count", "length": "l"}, "a.toml")
    merged = file.under(parse_flags({"count": "5", "unrelated": "x"}, Example))
    assert merged == Sourced({"count": 5, "length": 60_000}, {"count": "--count", "length": "l"})


def test_settings_are_shown_as_files_hold_them() -> None:
    """A duration is text again."""
    assert as_plain(Example(4, 90_000)) == {"count": 4, "length": "1m30s"}


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    """A typing error is found at once."""
    with pytest.raises(BadInputError, match=r"a\.toml: unknown key 'cuont'; did you mean 'count'\?"):
        parse_settings({"cuont": 1}, Example, {"cuont": "a.toml: cuont"}, "a.toml")


@pytest.mark.parametrize("name", ["quik", "nowhere.toml"])
def test_an_unknown_file_is_refused_with_those_there_are(name: str) -> None:
    """A shipped name or a path of a .toml file."""
    with pytest.raises(BadInputError, match=rf"--profile: no profile '{name}'.*give one of .*quick"):
        parse_file("profiles", name, Workload)


@pytest.mark.parametrize("group", ["profiles", "runs"])
def test_every_shipped_file_says_what_it_is_for(group: str) -> None:
    """Its first line is a comment that `pairs profiles` lists."""
    assert all(len(purpose) > 10 for purpose in shipped(group).values())


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "seed = " + "9" * 5_000, "a." * 20_000 + "a = 1", "# x\n" * 300_000]
)
def test_a_file_without_end_is_refused(tmp_path: Path, text: str) -> None:
    """Lists in lists, digits, parts of a key, lines: one line, as for anything else that is not TOML."""
    (tmp_path / "deep.toml").write_text(text)
    with pytest.raises(BadInputError, match=r"deep\.toml: not valid TOML: .*; fix it there"):
        parse_file("profiles", str(tmp_path / "deep.toml"), Workload)
