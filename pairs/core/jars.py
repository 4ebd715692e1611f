"""Jars that engines and brokers need: resolved with Maven into the user's cache folder, checked whenever they are used.

CACHE/jars/NAME-DIGEST/*.jar       the jars of a set; the digest is that of its coordinates
CACHE/jars/NAME-DIGEST/jars.json   what was resolved, and the SHA-256 of every jar
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path

from pairs.core.errors import BadInputError, one_line
from pairs.core.files import temporary_folder
from pairs.core.progress import waiting
from pairs.core.records import Record

_INSTALL_MAVEN = "install Maven (Debian, Ubuntu: apt install maven; macOS: brew install maven)"
_TIME_LIMIT_S = 600
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pairs</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
_ERROR = re.compile(r"\[ERROR\] (.*?)(?: -> \[Help 1\])?$", re.MULTILINE)


class JarsRecord(Record):
    """The content of jars.json."""

    FORMAT = 1
    REMEDY = "call 'pairs install' with the name of what needs it"

    coordinates: tuple[str, ...]
    checksums: dict[str, str]  # SHA-256 by file name


@dataclass(frozen=True)
class JarSet:
    """Jars that belong together, by Maven's coordinates GROUP:ARTIFACT:VERSION."""

    name: str
    coordinates: tuple[str, ...]
    package: str  # that `pairs install` is called with
    alone: bool = False  # just these jars, without what they ask for

    @cached_property
    def folder(self) -> Path:
        digest = sha256(" ".join(self.coordinates).encode()).hexdigest()[:12]
        return cache_folder() / "jars" / f"{self.name}-{digest}"

    @property
    def is_installed(self) -> bool:
        return (self.folder / "jars.json").is_file()

    def ensure_whole(self) -> None:
        """Install it unless it is installed and no jar is missing or has changed."""
        try:
            self.jars()
        except BadInputError:
            self.install()

    @property
    def versions(self) -> dict[str, str]:
        """Return the version of each artifact by its name."""
        return dict(coordinate.split(":")[1:3] for coordinate in self.coordinates)

    def jars(self) -> list[Path]:
        """Return the installed jars; refuse any that is missing or has changed."""
        try:
            record = JarsRecord.read(self.folder / "jars.json")
        except FileNotFoundError:
            raise BadInputError(
                f"{self.name}: its jars are not installed; call 'pairs install {self.package}'"
            ) from None
        for name, checksum in record.checksums.items():
            jar = self.folder / name
            if not jar.is_file() or _checksum(jar) != checksum:
                changed = f"{jar}: missing or changed since it was installed"
                raise BadInputError(f"{changed}; call 'pairs install {self.package}' to install it again")
        return [self.folder / name for name in record.checksums]

    def install(self) -> None:
        """Resolve the jars with Maven; the folder appears when all are there."""
        maven = shutil.which("mvn")
        if maven is None:
            raise BadInputError(f"mvn: needed to install {self.name}, and not found on the PATH; {_INSTALL_MAVEN}")
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            scratch = temporary_folder(f".{self.folder.name}.", self.folder.parent)
            with scratch as made, waiting(f"installing {self.name} with Maven, once"):
                self._install_from(_resolve(maven, self, made))
        except OSError as error:
            raise BadInputError(f"{self.folder}: cannot be written: {error.strerror}; check the folder") from None

    def _install_from(self, resolved: Path) -> None:
        checksums = {jar.name: _checksum(jar) for jar in sorted(resolved.glob("*.jar"))}
        JarsRecord(coordinates=self.coordinates, checksums=checksums).write(resolved / "jars.json")
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            resolved.rename(self.folder)
        except OSError:
            if not self.is_installed:  # by another process, meanwhile
                raise


class UnresolvedError(BadInputError):
    """Maven could not resolve a set of jars."""


def ensure_first(candidates: Sequence[JarSet]) -> JarSet:
    """Return the first set that is installed; if none is, install the first that Maven can resolve."""
    installed = next((jar_set for jar_set in candidates if jar_set.is_installed), None)
    return install_first(candidates) if installed is None else installed


def install_first(candidates: Sequence[JarSet]) -> JarSet:
    """Install the first set that Maven can resolve, unless it is there and whole; return it."""
    for jar_set in candidates[:-1]:
        with suppress(UnresolvedError):
            jar_set.ensure_whole()
            return jar_set
    candidates[-1].ensure_whole()
    return candidates[-1]


def cache_folder() -> Path:
    """Return the user's cache folder of the kit."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pairs"


def _resolve(maven: str, jar_set: JarSet, scratch: Path) -> Path:
    """Let Maven copy the jars into a folder; return it."""
    folder = scratch / "jars"
    (scratch / "pom.xml").write_text(_POM.format(dependencies="".join(_dependencies(jar_set))), encoding="utf-8")
    command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
    try:
        answer = subprocess.run(  # noqa: S603 - Maven, from the PATH
            [*command, f"-DoutputDirectory={folder}"],
            cwd=scratch,
            capture_output=True,
            text=True,
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        slow = f"Maven did not resolve it within {_TIME_LIMIT_S} s"
        raise BadInputError(f"{jar_set.name}: {slow}; check the network and Maven's settings") from None
    if answer.returncode or not any(folder.glob("*.jar")):
        errors = _ERROR.findall(answer.stdout + answer.stderr) or ["it printed no error"]
        reason = one_line(errors[0])
        raise UnresolvedError(
            f"{jar_set.name}: Maven cannot resolve it: {reason}; check the network and Maven's settings"
        )
    return folder


def _dependencies(jar_set: JarSet) -> Iterator[str]:
    for coordinate in jar_set.coordinates:
        yield _DEPENDENCY.format(*coordinate.split(":"), _ALONE if jar_set.alone else "")


def _checksum(jar: Path) -> str:
    with jar.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()
