"""`pairs strategies` as users call it."""

import re
from pathlib import Path

from pairs.dataset.folder import Dataset
from tests.conftest import Command
from tests.processes import errors_of


def test_the_strategies_of_a_dataset(pairs_command: Command, tmp_path: Path) -> None:
    """The set has the published sizes, is valid and always the same; another set replaces it only with --overwrite."""
    assert (
        pairs_command("generate", "-o", "market", "--profile", "quick", "--sf", "15", "--duration", "90m").returncode
        == 0
    )
    file = Dataset(tmp_path / "market").strategies_file

    first = pairs_command("strategies", "market")
    assert (first.returncode, errors_of(first.stderr)) == (0, "")
    assert first.stdout.strip().endswith("375 strategies of 75 users, seed 1: 250 on market 1, 125 on market 2")
    found = re.search(r"valid score: (\d+)% of strategies \((\d+) of 375\) can answer", first.stderr)
    assert found is not None
    assert 300 < int(found[2]) < 375  # one in 25 has 60 s x 25 or 30 periods, more than a quarter of 90 minutes

    content = file.read_bytes()
    assert pairs_command("strategies", "market").returncode == 0
    assert file.read_bytes() == content
    checked = pairs_command("strategies", "market", "--check", str(file))
    assert (checked.returncode, checked.stdout) == (0, f"{file}: valid, 375 strategies\n")

    refused = pairs_command("strategies", "market", "--seed", "2")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert file.read_bytes() == content
    assert pairs_command("strategies", "market", "--seed", "2", "--count", "30", "--overwrite").returncode == 0
    assert file.read_bytes().count(b"<PairsStrategy ") == 30
