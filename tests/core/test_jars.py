"""Jars that Maven resolves: kept with their checksums, resolved again where they are damaged."""

import shutil
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from pairs.core.jars import JarSet, ensure_first, install_first

pytestmark = pytest.mark.process

SMALL = ("org.slf4j:slf4j-api:1.7.36",)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_set_is_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there and whole needs no Maven; a damaged jar is refused by name, and installed again."""
    jars = JarSet("small", SMALL, "kafka", alone=True)
    assert ensure_first([jars]) is jars
    (jar,) = jars.jars()
    assert jar.name == "slf4j-api-1.7.36.jar"
    assert jars.versions == {"slf4j-api": "1.7.36"}
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert install_first([jars]) is jars
    jar.write_bytes(b"changed")
    with pytest.raises(
        BadInputError, match=r"slf4j-api-1\.7\.36\.jar: missing or changed .*; call 'pairs install kafka'"
    ):
        jars.jars()
    with pytest.raises(BadInputError, match="mvn: needed to install small, and not found on the PATH; install Maven"):
        install_first([jars])
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert install_first([jars]).jars()


def test_the_nearest_that_can_be_resolved(tmp_path: Path) -> None:
    """A version that no repository has is passed over; if none is there, one line says so, and nothing is left."""
    missing = JarSet("none", ("org.slf4j:slf4j-api:0.0.0-none",), "kafka", alone=True)
    jars = JarSet("small", SMALL, "kafka", alone=True)
    assert install_first([missing, jars]) is jars
    with pytest.raises(BadInputError, match=r"^none: Maven cannot resolve it: .*; check the network"):
        install_first([missing])
    assert [folder.name for folder in (tmp_path / "pairs" / "jars").iterdir()] == [jars.folder.name]
