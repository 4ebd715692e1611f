"""A dataset on disk: its paths, its manifest, and its creation, whole or not at all."""

import csv
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairs.core import locks
from pairs.core.errors import BadInputError
from pairs.core.interrupts import guarded_context, uninterrupted
from pairs.core.progress import waiting
from pairs.dataset.digest import PartialDigest
from pairs.dataset.formats import FORMATS
from pairs.dataset.manifest import Content, DatasetManifest, TickFileEntry
from pairs.dataset.reader import folder_problems, read_ticks, whole_file

MOST_FILES = 100_000  # up to here, the names of tick files sort in the order of time


@dataclass(frozen=True)
class PathIn:
    """A file or folder as an attribute of the object that describes its parent folder, `path`."""

    name: str

    def __get__(self, parent: Any, kind: type) -> Path:
        return Path(parent.path, self.name)


@dataclass(frozen=True)
class Correlation:
    """A correlated pair of symbols and the market they trade on, counted from 1."""

    market: int
    symbol1: str
    symbol2: str


@dataclass(frozen=True)
class Dataset:
    """The folder of a dataset. Nothing else in the kit knows its file names."""

    path: Path

    manifest_file = PathIn("dataset.json")  # written last
    correlations_file = PathIn("correlations.csv")  # the correlated pairs, for the query generator
    strategies_file = PathIn("strategies.xml")  # the strategies that watch the market
    ticks_folder = PathIn("ticks")  # tick files; their names sort in the order of time
    expected_folder = PathIn("expected")  # the expected answers
    expected_manifest_file = PathIn("expected/expected.json")  # written last

    def expected_file(self, stream: str) -> Path:
        return self.expected_folder / f"{stream}.parquet"

    def tick_file(self, number: int, suffix: str) -> Path:
        return self.ticks_folder / f"part-{number:05d}.{suffix}"

    def tick_files(self) -> list[Path]:
        """Return all tick files in the order of time."""
        files = sorted(path for path in self.ticks_folder.glob("[!.]*") if path.suffix.lower().lstrip(".") in FORMATS)
        if not files:
            raise BadInputError(f"{self.ticks_folder}: no .parquet or .csv file there; make one with 'pairs generate'")
        return files

    @waiting("looking at the tick files")
    def file_problems(self) -> list[str]:
        """Return messages about missing, unexpected, duplicated and unreadable tick files."""
        manifest = self.optional_manifest
        described = None if manifest is None else [file.name for file in manifest.files]
        return folder_problems(self.tick_files(), described)

    def refuse_bad_files(self) -> None:
        """Refuse a dataset with such a file; cheap, as no ticks are read."""
        for problem in self.file_problems():
            raise BadInputError(problem)

    def known_symbols(self) -> frozenset[str] | None:
        """Return the symbols that may trade, if they are known."""
        manifest = self.optional_manifest
        if manifest and manifest.trades_by_symbol is not None:
            return frozenset(manifest.trades_by_symbol)
        if manifest and manifest.counts.symbols == 2 * manifest.counts.correlations:
            return self.paired_symbols()
        return None

    def paired_symbols(self) -> frozenset[str]:
        return frozenset(symbol for pair in self.correlations() for symbol in (pair.symbol1, pair.symbol2))

    def correlations(self) -> list[Correlation]:
        try:
            with self.correlations_file.open(newline="", encoding="utf-8") as source:
                rows = csv.DictReader(source)
                pairs = [Correlation(int(row["market"]), row["symbol1"], row["symbol2"]) for row in rows]
                if not all(pair.symbol1 and pair.symbol2 for pair in pairs):
                    raise ValueError("a pair without a symbol")
        except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
            raise BadInputError(
                f"{self.correlations_file}: not readable as market,symbol1,symbol2: {error}; generate the dataset again"
            ) from None
        if not pairs:
            raise BadInputError(f"{self.correlations_file}: has no pair; generate the dataset again")
        return pairs

    def write_correlations(self, pairs: Iterable[Correlation]) -> None:
        with self.correlations_file.open("w", newline="", encoding="utf-8") as target:
            rows = csv.writer(target, lineterminator="\n")
            rows.writerow(["market", "symbol1", "symbol2"])
            rows.writerows(astuple(pair) for pair in pairs)

    def content(self, suffix: str, digest: PartialDigest, files: Sequence[TickFileEntry]) -> Content:
        """Return the part of the manifest that describes the written files."""
        pairs_digest = self.correlations_digest()
        return Content(format=suffix, digest=digest.hexdigest(), correlations_digest=pairs_digest, files=tuple(files))

    def correlations_digest(self) -> str:
        try:
            return sha256(self.correlations_file.read_bytes()).hexdigest()
        except OSError as error:
            raise BadInputError(f"{self.correlations_file}: cannot be read: {error.strerror}; restore it") from None

    def ticks(self) -> Iterator[pa.RecordBatch]:
        """Yield all ticks in order; refuse the first invalid row of a file."""
        return chain.from_iterable(map(read_ticks, self.tick_files()))

    def symbols(self) -> set[str]:
        """Return the symbols that trade; stops reading when all of them were seen, if their number is known."""
        wanted = None if self.optional_manifest is None else self.optional_manifest.counts.symbols
        found: set[str] = set()
        for batch in self.ticks():
            found.update(batch["symbol"].unique().to_pylist())
            if len(found) == wanted:
                break
        return found

    def last_ts(self) -> int | None:
        """Return the time of the last tick; None if it cannot be told without reading all of them."""
        if self.optional_manifest is not None:
            return self.optional_manifest.duration_ms  # when the bell rings
        last = whole_file(self.tick_files()[-1])
        with suppress(pa.ArrowException, ValueError, LookupError, OSError):  # damage is reported when ticks are read
            return last.format.last_ts(last.path)
        return None

    def remove_leftovers(self) -> None:
        """Remove the files of progress, and what killed tasks left."""
        for left in self.ticks_folder.glob(".*"):
            left.unlink(missing_ok=True)

    @cached_property
    def manifest(self) -> DatasetManifest:
        try:
            return DatasetManifest.read(self.manifest_file)
        except FileNotFoundError:
            raise BadInputError(f"{self.path}: not a dataset; make one with 'pairs generate -o {self.path}'") from None

    @property
    def optional_manifest(self) -> DatasetManifest | None:
        """The content of dataset.json, or None: a hand-made dataset needs only ticks and strategies."""
        return self.manifest if self.manifest_file.is_file() else None


@contextmanager
def new_dataset(path: Path, overwrite: bool) -> Iterator[Dataset]:
    """Give a hidden folder to build a dataset in; it is renamed when whole, and removed on any failure."""
    path = Path(os.path.realpath(path))
    _refuse_existing(path, overwrite)
    _refuse_another_builder(path)
    with locks.exclusive(path), _building(path) as building, locks.exclusive(building):
        dataset = Dataset(building)
        dataset.ticks_folder.mkdir()
        yield dataset
        with uninterrupted():
            _put_in_place(building, path, overwrite)


@guarded_context
def _building(path: Path) -> Iterator[Path]:
    """Make a hidden folder beside a path, and the folders above it; remove what is left of them in the end."""
    missing = [parent for parent in path.parents if not parent.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=_building_prefix(path), dir=path.parent))
    except OSError as error:
        _remove_empty(missing)
        raise BadInputError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
    try:
        building.chmod(0o755)
        yield building
    finally:
        _remove(building)
        _remove_empty(missing)


def _building_prefix(path: Path) -> str:
    return f".{path.name}.partial-"


def _refuse_another_builder(path: Path) -> None:
    """Refuse to build what another process is building; what a killed process has left is in no one's use."""
    if path.parent.is_dir():
        for other in path.parent.iterdir():
            if other.name.startswith(_building_prefix(path)) and (user := locks.user_of(other)) is not None:
                raise BadInputError(f"{path}: is being written by {user}; wait until it ends")


def _refuse_existing(path: Path, overwrite: bool) -> None:
    """Refuse to write over anything but a dataset, and over that only with `overwrite`."""
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise BadInputError(f"{path}: exists already; choose another folder, or give --overwrite to replace it")
    if not _is_dataset(path):
        raise BadInputError(f"{path}: exists and is not a dataset, so it is not overwritten; choose another folder")


def _is_dataset(path: Path) -> bool:
    """Return whether a folder is a dataset of any version, or empty."""
    try:
        content = json.loads(Dataset(path).manifest_file.read_bytes())
    except FileNotFoundError:
        return path.is_dir() and not any(path.iterdir())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"format_version", "digest"} <= content.keys()


def _remove_empty(folders: list[Path]) -> None:
    """Remove the folders made for a dataset that failed, innermost first."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _remove(folder: Path) -> None:
    """Remove a folder even while a dying process still adds files to it."""
    for _ in range(5):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def _put_in_place(building: Path, path: Path, overwrite: bool) -> None:
    """Rename a whole dataset to its final name; an old dataset is moved aside first and removed last."""
    _refuse_existing(path, overwrite)
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.old-", dir=path.parent))
    old = aside / path.name
    try:
        if path.exists():
            path.rename(old)
        building.rename(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        raise
    finally:
        _remove(aside)
