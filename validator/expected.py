"""The expected answers of a dataset: computed on Spark, stored with it, and reused while their inputs are the same.

Executors reduce the ticks to panes (validator/panes.py), then evaluate the strategies over them, a shard at a time
(validator/shards.py). Needs only the ticks and the strategies of a dataset.
"""

import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pairs import __version__
from pairs.core.errors import BadInputError, PairsError
from pairs.core.files import temporary_folder
from pairs.core.interrupts import uninterrupted
from pairs.core.progress import Progress, waiting
from pairs.core.spark import SparkSession, TaskError, run_tasks, session, warm_up
from pairs.dataset.digest import PartialDigest
from pairs.dataset.folder import Dataset
from pairs.dataset.formats.base import FilePart
from pairs.dataset.manifest import ExpectedManifest, FileStamp, InputDigests
from pairs.dataset.reader import parts_of
from pairs.dataset.tick_rules import TIME, Problem, out_of_order
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.validator.panes import TRIGGERS, Clock, PartTask, ReducedPart, read_table, reduce_part, table_file
from pairs.validator.shards import EXPECTED, EvaluatedShard, ShardTask, evaluate_shard

_MAX_STRATEGIES_PER_SHARD = 256
_MAX_PANES_PER_SHARD = 500_000


@dataclass(frozen=True)
class Computed:
    """The result of computing the expected answers."""

    ticks: int
    answers: dict[str, int]  # by stream
    knife_edges: dict[str, int]  # decisions by strategy, of strategies that have any
    worker_peak_bytes: int


def current_manifest(dataset: Dataset) -> ExpectedManifest | None:
    """Return the manifest of the expected answers if they are up to date, else None."""
    try:
        manifest = ExpectedManifest.read(dataset.expected_manifest_file)
        stamps = _stamps(dataset, _inputs(dataset) + _outputs(dataset))
    except (OSError, BadInputError):
        return None
    return manifest if manifest.kit_version == __version__ and manifest.files == stamps else None


def kept_or_computed(dataset: Dataset, master: str, recompute: bool = False) -> tuple[ExpectedManifest, float | None]:
    """Return the manifest of the expected answers, and the seconds it took to compute them, None if they were there."""
    dataset.refuse_bad_files()
    kept = None if recompute else current_manifest(dataset)
    if kept is not None:
        return kept, None
    read_strategies(dataset.strategies_file)  # before Spark starts
    _refuse_read_only(dataset)
    with session("pairs expected", master) as spark:
        warm_up(spark, reduce_part)
        started = time.perf_counter()
        compute(spark, dataset)
        seconds = time.perf_counter() - started
    manifest = current_manifest(dataset)
    if manifest is None:
        raise PairsError(f"{dataset.path}: changed while the expected answers were computed; try again")
    return manifest, seconds


def _inputs(dataset: Dataset) -> list[Path]:
    return [dataset.strategies_file, *dataset.tick_files()]


def _outputs(dataset: Dataset) -> list[Path]:
    return [dataset.expected_file(stream) for stream in STREAMS]


def _stamps(dataset: Dataset, files: list[Path]) -> dict[str, FileStamp]:
    stamps = {}
    for file in files:
        stat = file.stat()
        stamp = FileStamp(size=stat.st_size, mtime_ns=stat.st_mtime_ns, ctime_ns=stat.st_ctime_ns)
        stamps[str(file.relative_to(dataset.path))] = stamp
    return stamps


def compute(spark: SparkSession, dataset: Dataset) -> Computed:
    inputs = _stamps(dataset, _inputs(dataset))  # before reading, so that a change meanwhile is noticed later
    strategies = read_strategies(dataset.strategies_file)
    strategies_digest = sha256(dataset.strategies_file.read_bytes()).hexdigest()
    parts = [part for file in dataset.tick_files() for part in parts_of(file.absolute())]
    with temporary_folder(".expected-", dataset.path.absolute()) as scratch:
        try:
            reduced = _reduce(spark, parts, strategies, scratch, dataset.known_symbols())
            _refuse_bad_rows(parts, reduced)
            evaluated = _evaluate(spark, reduced, strategies, scratch)
        except TaskError as error:
            raise PairsError(f"the expected answers were not computed: {error}; fix that and try again") from None
        for stream in STREAMS:
            _join(scratch, stream)
        computed = _computed(reduced, evaluated)
        digests = InputDigests(ticks=_digest(parts, reduced), strategies=strategies_digest)
        with uninterrupted():
            _put_in_place(dataset, scratch)
            _write_manifest(dataset, computed, digests, len(strategies.strategies), inputs)
    return computed


def _computed(reduced: list[ReducedPart], evaluated: list[EvaluatedShard]) -> Computed:
    peaks = [part.worker_peak_bytes for part in reduced] + [shard.worker_peak_bytes for shard in evaluated]
    return Computed(
        ticks=sum(part.digest.rows for part in reduced),
        answers={stream: sum(shard.answers[stream] for shard in evaluated) for stream in STREAMS},
        knife_edges={alias: count for shard in evaluated for alias, count in shard.knife_edges.items()},
        worker_peak_bytes=max(peaks),
    )


def _write_manifest(
    dataset: Dataset, computed: Computed, digests: InputDigests, strategies: int, inputs: dict[str, FileStamp]
) -> None:
    ExpectedManifest(
        digests=digests,
        ticks=computed.ticks,
        strategies=strategies,
        answers=computed.answers,
        knife_edges=computed.knife_edges,
        files=inputs | _stamps(dataset, _outputs(dataset)),
    ).write(dataset.expected_manifest_file)


def _refuse_read_only(dataset: Dataset) -> None:
    try:
        with temporary_folder(".expected-", dataset.path.absolute()):
            pass
    except OSError as error:
        reason = f"cannot be written: {error.strerror}"
        raise BadInputError(f"{dataset.path}: {reason}; copy the dataset elsewhere") from None


def _reduce(
    spark: SparkSession, parts: list[FilePart], strategies: StrategySet, scratch: Path, known: frozenset[str] | None
) -> list[ReducedPart]:
    periods = {strategy.period_ms for strategy in strategies.strategies}
    clock, symbols = Clock(tuple(sorted(periods)), strategies.market_close_ms), tuple(sorted(strategies.symbols))
    files = [scratch / f"panes-{number:06d}.arrow" for number in range(len(parts))]
    tasks = [PartTask(part, clock, symbols, file, known) for part, file in zip(parts, files, strict=True)]
    with Progress("reading ticks", len(tasks), "parts") as progress:
        return run_tasks(spark, reduce_part, tasks, progress.set)


def _evaluate(
    spark: SparkSession, reduced: list[ReducedPart], strategies: StrategySet, scratch: Path
) -> list[EvaluatedShard]:
    """Evaluate the strategies in shards whose panes fit into memory; each writes a file of answers for each stream."""
    triggers_file = scratch / "triggers.arrow"
    with table_file(triggers_file, TRIGGERS) as target:
        target.write_table(pa.concat_tables([part.triggers for part in reduced]))
    pane_files = tuple(sorted(scratch.glob("panes-*.arrow")))
    every, symbols, close_ms = strategies.strategies, tuple(sorted(strategies.symbols)), strategies.market_close_ms
    panes_per_pair = 2 * sum(part.panes for part in reduced) // len(symbols) + 1
    length = min(max(_MAX_PANES_PER_SHARD // panes_per_pair, 1), _MAX_STRATEGIES_PER_SHARD)
    tasks = []
    for first in range(0, len(every), length):
        targets = {stream: scratch / f"{stream}-{first:09d}.arrow" for stream in STREAMS}
        tasks.append(ShardTask(every[first : first + length], symbols, close_ms, pane_files, triggers_file, targets))
    with Progress("evaluating strategies", len(tasks), "shards") as progress:
        return run_tasks(spark, evaluate_shard, tasks, progress.set)


def _refuse_bad_rows(parts: list[FilePart], reduced: list[ReducedPart]) -> None:
    """Refuse the first invalid row. Tasks check inside their parts; here the order between parts is checked."""
    last_ts, last_path = None, None
    for part, result in zip(parts, reduced, strict=True):
        found = [] if result.problem is None else [result.problem]
        if result.first_ts is not None:
            if last_ts is not None and result.first_ts < last_ts:
                text = out_of_order(result.first_ts, last_ts, begins_file=part.path != last_path)
                found.append(Problem(part.first_row, TIME, text))
            last_ts, last_path = result.last_ts, part.path
        if found:
            raise BadInputError(min(found).message(part.path))


def _digest(parts: list[FilePart], reduced: list[ReducedPart]) -> str:
    files: dict[Path, PartialDigest] = {}
    for part, result in zip(parts, reduced, strict=True):
        files[part.path] = files.get(part.path, PartialDigest()) + result.digest
    return sha256("\n".join(digest.hexdigest() for digest in files.values()).encode()).hexdigest()


@waiting("writing expected answers")
def _join(scratch: Path, stream: str) -> None:
    """Join the answers of all shards into one file, in the order of the strategies."""
    repetitive = [name for name in ("strategy", "type", "symbol") if name in EXPECTED[stream].names]
    with pq.ParquetWriter(scratch / f"{stream}.parquet", EXPECTED[stream], use_dictionary=repetitive) as target:
        for file in sorted(scratch.glob(f"{stream}-*.arrow")):
            target.write_table(read_table(file))


def _put_in_place(dataset: Dataset, scratch: Path) -> None:
    """Replace old answers. Without the manifest, which is removed first and written last, they are not used."""
    dataset.expected_folder.mkdir(exist_ok=True)
    dataset.expected_manifest_file.unlink(missing_ok=True)
    for stream in STREAMS:
        (scratch / f"{stream}.parquet").replace(dataset.expected_file(stream))
