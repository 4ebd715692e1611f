"""Compiles the Java part of a program into a jar, once for each content: kept in the user's cache folder."""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from pairs.core.errors import BadInputError, PairsError, one_line
from pairs.core.files import atomic_write, temporary_folder
from pairs.core.jars import cache_folder
from pairs.core.progress import waiting

RELEASE = 17  # of Java, that class files are for
_INSTALL_JDK = (
    f"install a JDK {RELEASE} or newer (Debian, Ubuntu: apt install openjdk-17-jdk-headless; macOS: brew install "
    "openjdk@17), or point JAVA_HOME at one"
)
_TIME_LIMIT_S = 300
_SAME_TIME = (1980, 1, 1, 0, 0, 0)  # of all files in a jar: equal content gives equal jars


def find_javac(instead: str) -> str:
    """Return the path of Java's compiler; refuse to go on without, saying what to install or to give instead."""
    java_home = os.environ.get("JAVA_HOME")
    javac = str(Path(java_home) / "bin" / "javac") if java_home else shutil.which("javac")
    if not javac or not Path(javac).is_file():
        place, where = ("JAVA_HOME", f" at {javac}") if java_home else ("javac", " on the PATH")
        raise BadInputError(f"{place}: no Java compiler found{where}; {_INSTALL_JDK}, {instead}")
    return javac


def compile_jar(sources: Sequence[Path], classpath: str, versions: str, jar: Path, instead: str) -> None:
    """Compile sources against a class path into a jar; the versions are those of what is on the class path."""
    digest = sha256(f"{RELEASE} {versions}".encode())
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    kept = cache_folder() / "compiled" / f"{jar.stem}-{digest.hexdigest()[:16]}.jar"
    if not kept.is_file():
        javac = find_javac(instead)
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInputError(f"{kept.parent}: cannot be written: {error.strerror}; check the folder") from None
        with temporary_folder("pairs-javac-") as classes, waiting("compiling the Java part of the program, once"):
            _compile(javac, sources, classpath, classes)
            _pack(classes, kept)
    shutil.copyfile(kept, jar)


def _compile(javac: str, sources: Sequence[Path], classpath: str, classes: Path) -> None:
    options = ["--release", str(RELEASE), "-proc:none", "-encoding", "UTF-8", "-cp", classpath, "-d", str(classes)]
    try:
        answer = subprocess.run(  # noqa: S603 - the compiler that was found
            [javac, *options, *map(str, sources)], capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise PairsError(f"{javac} did not compile the program within {_TIME_LIMIT_S} s") from None
    if answer.returncode:
        errors = re.findall(r"[^/\n]*\.java:\d+: error: .*", answer.stderr) or [answer.stderr or "it printed no error"]
        raise PairsError(f"{javac} cannot compile the program: {one_line(errors[0])}")


def _pack(classes: Path, jar: Path) -> None:
    with atomic_write(jar) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as target:
        for file in sorted(classes.rglob("*.class")):
            entry = zipfile.ZipInfo(file.relative_to(classes).as_posix(), _SAME_TIME)
            target.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
