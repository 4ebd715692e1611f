"""Tests of a dataset on disk: whole or not at all, without touching other files."""

import json
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset, new_dataset
from tests.records import dataset_manifest

MANIFEST = json.dumps({"format_version": 1, "digest": "old"})


def old_dataset(path: Path) -> None:
    """Put something there that counts as a dataset."""
    path.mkdir()
    Dataset(path).manifest_file.write_text(MANIFEST)


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    """Not even the folders on the way, if they were made for it."""
    with pytest.raises(RuntimeError), new_dataset(tmp_path / "a" / "b" / "market", overwrite=False):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_what_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """Somebody else's folder of the same name stays, and the new dataset is given up."""
    path = tmp_path / "market"
    with pytest.raises(BadInputError, match="exists already"), new_dataset(path, overwrite=False):
        old_dataset(path)
    assert Dataset(path).manifest_file.read_text() == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == ["market"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_interrupted_exchange_puts_the_old_dataset_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Between the two renames of an exchange nothing is lost."""
    path = tmp_path / "market"
    old_dataset(path)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(error), new_dataset(path, overwrite=True):
        pass
    assert Dataset(path).manifest_file.read_text() == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == ["market"]


@pytest.mark.parametrize("content", ["[]", "{}", "no json", '{"format_version": 1}', '{"name": "not ours"}'])
def test_a_foreign_file_of_that_name_does_not_make_a_dataset(tmp_path: Path, content: str) -> None:
    """A folder is replaced only if its dataset.json is valid."""
    path = tmp_path / "market"
    path.mkdir()
    Dataset(path).manifest_file.write_text(content)
    with pytest.raises(BadInputError, match="is not a dataset"), new_dataset(path, overwrite=True):
        pass
    with pytest.raises(BadInputError, match=r"dataset\.json: "):
        _ = Dataset(path).manifest


def test_a_link_is_followed_and_kept(tmp_path: Path) -> None:
    """Overwriting through a link replaces what it points to."""
    old_dataset(tmp_path / "real")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    with new_dataset(link, overwrite=True) as dataset:
        dataset.manifest_file.write_text("{}")
    assert link.is_symlink()
    assert Dataset(tmp_path / "real").manifest_file.read_text() == "{}"


def test_a_list_of_pairs_with_an_endless_value_is_refused(tmp_path: Path) -> None:
    """A value that the CSV reader does not take is one line, too."""
    Dataset(tmp_path).correlations_file.write_text("market,symbol1,symbol2\n1,A," + "B" * 2_000_000)
    with pytest.raises(BadInputError, match=r"correlations\.csv: not readable as market,symbol1,symbol2: field larger"):
        Dataset(tmp_path).correlations()


def test_an_endless_header_is_refused(tmp_path: Path) -> None:
    """So is one in a tick file."""
    dataset = Dataset(tmp_path)
    dataset.ticks_folder.mkdir()
    (dataset.ticks_folder / "ticks.csv").write_text("symbol" * 100_000)
    (problem,) = dataset.file_problems()
    assert "ticks.csv: not a readable tick file: no column 'symbol'; has 'symbolsymbol" in problem
    assert len(problem) < 1_000


def test_a_manifest_of_a_market_without_time_is_refused(tmp_path: Path) -> None:
    """No chart divides by zero."""
    manifest = json.loads(dataset_manifest().to_json()) | {"duration_ms": 0}
    Dataset(tmp_path).manifest_file.write_text(json.dumps(manifest))
    with pytest.raises(BadInputError, match=r"dataset\.json: duration_ms: Input should be greater than or equal to 1"):
        _ = Dataset(tmp_path).manifest


def test_a_pair_without_a_symbol_is_refused(tmp_path: Path) -> None:
    """A row that is cut off has no second symbol."""
    Dataset(tmp_path).correlations_file.write_text("market,symbol1,symbol2\n1,A\n")
    with pytest.raises(
        BadInputError, match=r"correlations\.csv: not readable as .*: a pair without a symbol; generate"
    ):
        Dataset(tmp_path).correlations()
