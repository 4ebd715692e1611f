"""Compiles the Java part of a program into a jar, once for each content: kept in the user's cache folder."""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
_DIGEST_ENTRY = "META-INF/pairs.sha256"  # in a jar, the digest of what it was compiled from
_SAME_TIME = (1980, 1, 1, 0, 0, 0)  # of all files in a jar: equal content gives equal jars


@dataclass(frozen=True)
class JavaPart:
    """The Java sources of a program, by name; compiled against a class path whose content `versions` tells."""

    sources: Mapping[str, bytes]
    versions: str

    @property
    def digest(self) -> str:
        """What tells a jar of these sources from any other."""
        digest = sha256(f"{RELEASE} {self.versions}".encode())
        for name, text in sorted(self.sources.items()):
            digest.update(name.encode() + b"\0" + text)
        return digest.hexdigest()

    @property
    def kept(self) -> Path:
        """Where its jar is kept once it is compiled."""
        return cache_folder() / "compiled" / f"pairs-{self.digest[:16]}.jar"


def find_javac(instead: str) -> str:
    """Return the path of Java's compiler; refuse to go on without, saying what to install or to give instead."""
    java_home = os.environ.get("JAVA_HOME")
    of_home = Path(java_home) / "bin" / "javac" if java_home else None
    javac = str(of_home) if of_home is not None and of_home.is_file() else shutil.which("javac")
    if not javac:
        where = f"under JAVA_HOME, {java_home}, and on the PATH" if java_home else "on the PATH"
        raise BadInputError(f"javac: no Java compiler found {where}; {_INSTALL_JDK}, {instead}")
    return javac


def check_compiler(part: JavaPart, instead: str) -> None:
    """Refuse to go on if a program has yet to be compiled and there is no compiler."""
    if not part.kept.is_file():
        find_javac(instead)


def check_jar(part: JavaPart, jar: Path, place: str) -> None:
    """Refuse a jar that was compiled from other sources, or is none."""
    try:
        with zipfile.ZipFile(jar) as content:
            digest = content.read(_DIGEST_ENTRY).decode()
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        digest = ""
    if digest != part.digest:
        what = "was compiled from other sources" if digest else "is not the jar of a program"
        raise BadInputError(f"{place}: {jar}: {what}; give one that this version of the kit compiled for this plan")


def compile_jar(part: JavaPart, classpath: str, jar: Path, instead: str) -> None:
    """Compile the sources of a program against a class path into a jar; once for each content."""
    if not part.kept.is_file():
        javac = find_javac(instead)
        try:
            part.kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInputError(f"{part.kept.parent}: cannot be written: {error.strerror}; check the folder") from None
        with temporary_folder("pairs-javac-") as scratch, waiting("compiling the Java part of the program, once"):
            sources, classes = scratch / "sources", scratch / "classes"
            sources.mkdir()
            classes.mkdir()
            for name, text in part.sources.items():
                (sources / name).write_bytes(text)
            _compile(javac, sorted(sources.iterdir()), classpath, classes)
            _pack(classes, part)
    shutil.copyfile(part.kept, jar)


def _compile(javac: str, sources: Sequence[Path], classpath: str, classes: Path) -> None:
    options = ["--release", str(RELEASE), "-proc:none", "-encoding", "UTF-8", "-cp", classpath, "-d", str(classes)]
    try:
        answer = subprocess.run(  # noqa: S603 - the compiler that was found
            [javac, *options, *map(str, sources)], capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise PairsError(f"{javac} did not compile the program within {_TIME_LIMIT_S} s") from None
    if answer.returncode:
        if f"release version {RELEASE} not supported" in answer.stderr:
            raise BadInputError(f"{javac}: is older than Java {RELEASE}; {_INSTALL_JDK}")
        errors = re.findall(r"[^/\n]*\.java:\d+: error: .*", answer.stderr) or [answer.stderr or "it printed no error"]
        raise PairsError(f"{javac} cannot compile the program: {one_line(errors[0])}")


def _pack(classes: Path, part: JavaPart) -> None:
    contents = {file.relative_to(classes).as_posix(): file.read_bytes() for file in sorted(classes.rglob("*.class"))}
    with atomic_write(part.kept) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in ({_DIGEST_ENTRY: part.digest.encode()} | contents).items():
            target.writestr(zipfile.ZipInfo(name, _SAME_TIME), content, zipfile.ZIP_DEFLATED)
