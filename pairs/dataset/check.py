"""Checks a dataset on Spark: every row against the rules, the content against dataset.json."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import numpy as np

from pairs.core.errors import BadInputError, PairsError
from pairs.core.progress import Progress
from pairs.core.spark import SparkSession, TaskError, run_tasks
from pairs.core.units import counted, show_duration
from pairs.dataset.digest import PartialDigest, digest_batch
from pairs.dataset.folder import Dataset
from pairs.dataset.formats.base import FilePart
from pairs.dataset.manifest import DatasetManifest
from pairs.dataset.reader import TickReader, parts_of
from pairs.dataset.tick_rules import MAX_SHOWN, TIME, Problem, out_of_order
from pairs.model.strategy_xml import scan

_AGAIN = "generate or import the dataset again"
_MAX_SYMBOLS = 100_000  # that are compared with the pairs and the strategies
_LONG_SILENCE_MS = 60_000  # as long as the longest period of a generated strategy


@dataclass
class Scanned:
    """What a task found in its part of the ticks."""

    part: FilePart
    digest: PartialDigest = field(default_factory=PartialDigest)
    first_ts: int | None = None
    last_ts: int = 0
    problems: list[Problem] = field(default_factory=list)  # the first of each rule
    counts: Counter[int] = field(default_factory=Counter)  # of all, by rule
    symbols: set[str] = field(default_factory=set)
    silence_ms: int = 0
    silence_ends_ts: int = 0

    def record_times(self, tick_ts: Any) -> None:
        """Record the longest silence, and when the part begins and ends."""
        if self.first_ts is None:
            self.first_ts = self.last_ts = int(tick_ts[0])
        steps = np.diff(tick_ts, prepend=self.last_ts)
        longest = int(np.argmax(steps))
        if steps[longest] > self.silence_ms:
            self.silence_ms, self.silence_ends_ts = int(steps[longest]), int(tick_ts[longest])
        self.last_ts = int(tick_ts[-1])


@dataclass(frozen=True)
class Findings:
    """The result of a check."""

    ticks: int
    digest: str | None  # None without a dataset.json to compare with
    problems: list[str]  # messages in order; of many of a kind the first few
    count: int  # of all
    remarks: list[str]  # valid, but worth knowing


def scan_part(part: FilePart, rows_before_file: int, known: frozenset[str] | None) -> Scanned:
    """Read a part of the ticks and check every row; runs on an executor."""
    found = Scanned(part)
    first_row = rows_before_file + part.first_row
    for ticks, violations in TickReader(known).scan(part):
        for violation in violations:
            shown = max(0, MAX_SHOWN - found.counts[violation.rule])
            found.problems += violation.problems()[:shown]
            found.counts[violation.rule] += violation.count
        if len(ticks):
            found.digest += digest_batch(first_row + found.digest.rows, ticks)
            if len(found.symbols) < _MAX_SYMBOLS:
                found.symbols.update(ticks["symbol"].unique().to_pylist())
            found.record_times(ticks["tickTS"].to_numpy())
    return found


def check(spark: SparkSession, dataset: Dataset) -> Findings:
    manifest = dataset.optional_manifest
    problems = dataset.file_problems()
    scanned = _scan(spark, dataset, manifest)
    _add_disorder(scanned)
    row_problems = list(_row_problems(scanned))
    problems += row_problems
    symbols = {symbol for result in scanned for symbol in result.symbols}
    digest = sum((result.digest for result in scanned), PartialDigest())
    if manifest:
        problems += _symbol_problems(dataset, manifest, symbols)
        problems += _differences(dataset, manifest, digest, scanned, bool(problems))
    count = len(problems) - len(row_problems) + sum(result.counts.total() for result in scanned)
    remarks = list(_remarks(dataset, scanned, symbols))
    return Findings(digest.rows, digest.hexdigest() if manifest else None, problems, count, remarks)


def _scan(spark: SparkSession, dataset: Dataset, manifest: DatasetManifest | None) -> list[Scanned]:
    """Scan all parts; the position of a row in the stream follows from the files that dataset.json lists before it."""
    described = {file.name: file.ticks for file in manifest.files} if manifest else {}
    rows_before = dict(zip(described, accumulate(described.values(), initial=0), strict=False))
    known = dataset.known_symbols()
    tasks = [
        (part, rows_before.get(file.name, 0), known)
        for file in dataset.tick_files()
        for part in _readable_parts(file.absolute())
    ]
    with Progress("checking", len(tasks), "parts") as progress:
        try:
            return run_tasks(spark, lambda task: scan_part(*task), tasks, progress.set)
        except TaskError as error:
            raise PairsError(f"the dataset was not checked: {error}; fix that and check again") from None


def _readable_parts(file: Path) -> list[FilePart]:
    """Return the parts of a file; none if it is not readable, which `file_problems` reports."""
    try:
        return parts_of(file)
    except BadInputError:
        return []


def _add_disorder(scanned: list[Scanned]) -> None:
    """Add time that runs backwards between two parts, and the silence between them."""
    last: Scanned | None = None
    for result in scanned:
        if result.first_ts is None:
            continue
        if last and result.first_ts < last.last_ts:
            text = out_of_order(result.first_ts, last.last_ts, begins_file=result.part.path != last.part.path)
            result.problems.append(Problem(result.part.first_row, TIME, text))
            result.counts[TIME] += 1
        elif last and result.first_ts - last.last_ts > result.silence_ms:
            result.silence_ms, result.silence_ends_ts = result.first_ts - last.last_ts, result.first_ts
        last = result


def _row_problems(scanned: list[Scanned]) -> Iterator[str]:
    """Yield the problems of rows, file after file: the first of each rule, and how many more there are."""
    for path, group in groupby(scanned, lambda result: result.part.path):
        results = list(group)
        counts: Counter[int] = sum((result.counts for result in results), Counter())
        shown: Counter[int] = Counter()
        for problem in sorted(problem for result in results for problem in result.problems):
            shown[problem.rule] += 1
            if shown[problem.rule] <= MAX_SHOWN:
                yield problem.message(path)
            if shown[problem.rule] == MAX_SHOWN and counts[problem.rule] > MAX_SHOWN:
                yield f"{path}: ... and {counted(counts[problem.rule] - MAX_SHOWN, 'row')} more like that"


def _symbol_problems(dataset: Dataset, manifest: DatasetManifest, traded: set[str]) -> Iterator[str]:
    """Yield pairs of symbols that never trade, and a wrong number of symbols."""
    if len(traded) >= _MAX_SYMBOLS:
        return
    for symbol in sorted(dataset.paired_symbols() - traded)[:MAX_SHOWN]:
        yield f"{dataset.correlations_file}: symbol {symbol!r} never trades; {_AGAIN}"
    described = manifest.counts.symbols
    if len(traded) != described:
        yield f"{dataset.ticks_folder}: {counted(len(traded), 'symbol')}, dataset.json has {described:,}; {_AGAIN}"


def _differences(
    dataset: Dataset, manifest: DatasetManifest, digest: PartialDigest, scanned: list[Scanned], explained: bool
) -> Iterator[str]:
    """Yield differences from dataset.json; that of the digest only if nothing else explains it."""
    rows: Counter[str] = Counter()
    for result in scanned:
        rows[result.part.path.name] += result.digest.rows
    if dataset.correlations_digest() != manifest.correlations_digest:
        yield f"{dataset.correlations_file}: differs from dataset.json; {_AGAIN}"
    for file in manifest.files:
        if file.name in rows and rows[file.name] != file.ticks:
            explained = True
            path = dataset.ticks_folder / file.name
            yield f"{path}: {counted(rows[file.name], 'tick')}, dataset.json has {file.ticks:,}; {_AGAIN}"
    found = digest.hexdigest()
    if not explained and found != manifest.digest:
        text = f"the rows have digest {found}, dataset.json has {manifest.digest}"
        yield f"{dataset.ticks_folder}: {text}; {_AGAIN}"


def _remarks(dataset: Dataset, scanned: list[Scanned], traded: set[str]) -> Iterator[str]:
    """Yield what is unusual but valid: a halt, and strategies on symbols that never trade."""
    longest = max(scanned, key=lambda result: result.silence_ms, default=None)
    if longest and longest.silence_ms >= _LONG_SILENCE_MS:
        yield f"longest silence: {show_duration(longest.silence_ms)}, until tickTS {longest.silence_ends_ts}"
    if dataset.strategies_file.is_file() and len(traded) < _MAX_SYMBOLS:
        strategies, _ = scan(dataset.strategies_file)
        watched = strategies.symbols if strategies else set()
        if silent := sorted(watched - traded):
            yield f"{counted(len(silent), 'watched symbol')} without a trade, such as {silent[0]!r}"
