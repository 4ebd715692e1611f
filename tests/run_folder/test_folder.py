"""The folder of a run: what is written into it is whole, and links lead nowhere else."""

import os
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from pairs.run_folder.folder import Run, new_run
from tests.records import run_manifest

OTHER_USER = 12_345


@pytest.fixture
def link_to_another_user(tmp_path: Path) -> Path:
    """Make a link to a run of another user."""
    run = new_run(tmp_path / "theirs", overwrite=False)
    run_manifest(dataset="/nowhere").write(run.manifest_file)
    try:
        os.chown(run.path, OTHER_USER, OTHER_USER)
    except PermissionError:
        pytest.skip("only root can give a folder away")
    link = tmp_path / "link"
    link.symlink_to(run.path)
    return link


def test_links_to_other_users_are_refused(link_to_another_user: Path) -> None:
    """They are neither read nor replaced."""
    expected = "link: is a link to a folder of another user; give the folder itself"
    with pytest.raises(BadInputError, match=expected):
        _ = Run(link_to_another_user).manifest
    with pytest.raises(BadInputError, match=expected):
        new_run(link_to_another_user, overwrite=True)
    assert (link_to_another_user / "run.json").is_file()


def test_own_links_are_followed(tmp_path: Path) -> None:
    """A run may be on another disk; replacing it keeps the link."""
    run = new_run(tmp_path / "disk" / "run", overwrite=False)
    run_manifest(dataset="/nowhere").write(run.manifest_file)
    (tmp_path / "link").symlink_to(run.path)
    assert Run(tmp_path / "link").manifest.dataset == "/nowhere"
    assert new_run(tmp_path / "link", overwrite=True).path == run.path
    assert not run.manifest_file.exists()
