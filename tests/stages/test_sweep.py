"""Tests of the folder of a sweep."""

import json
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from tests.fuzz.seeds import session_of, sweep


@pytest.mark.parametrize("repeat", [0, 1_001, 2**53])
def test_an_impossible_number_of_repetitions_is_refused(tmp_path: Path, repeat: int) -> None:
    """A sweep does not look for more runs than anybody can have made."""
    content = json.loads(sweep()["sweep.json"]) | {"repeat": repeat}
    (tmp_path / "sweep.json").write_text(json.dumps(content))
    with pytest.raises(BadInputError, match=r"sweep\.json: repeat: Input should be .*; give another folder with -o"):
        session_of(tmp_path).results()
