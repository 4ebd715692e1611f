"""The expected answers of a dataset: computed on Spark, kept beside it, and reused while their inputs are the same.

Executors reduce the ticks to panes (validator/panes.py), then evaluate the strategies over them, a shard at a time
(validator/shards.py). Needs only the ticks and the strategies of a dataset.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from pairs import __version__
from pairs.core.errors import BadInputError, PairsError
from pairs.core.progress import Progress
from pairs.core.spark import TaskError, run_tasks, session, warm_up
from pairs.dataset.digest import PartialDigest
from pairs.dataset.expected_manifest import ExpectedManifest, FileStamp, InputDigests
from pairs.dataset.folder import Dataset
from pairs.dataset.formats.base import FilePart
from pairs.dataset.reader import parts_of
from pairs.dataset.tick_rules import TIME, Problem, out_of_order
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.validator.panes import Clock, PartTask, ReducedPart, reduce_part
from pairs.validator.shards import EXPECTED, EvaluatedShard, ShardTask, evaluate_shard, read_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_STRATEGIES_OF_A_SHARD = 256
_MOST_PANES_OF_A_SHARD = 500_000


@dataclass(frozen=True)
class Computed:
    """What computing the expected answers came to."""

    ticks: int
    answers: dict[str, int]  # by stream
    worker_peak_bytes: int


def current_manifest(dataset: Dataset) -> ExpectedManifest | None:
    """Return the manifest of expected answers that are still those of the dataset, or None."""
    try:
        manifest = ExpectedManifest.read(dataset.expected_manifest_file)
        stamps = _input_stamps(dataset) | _output_stamps(dataset)
    except (OSError, BadInputError):
        return None
    return manifest if manifest.kit_version == __version__ and manifest.files == stamps else None


def kept_or_computed(dataset: Dataset, master: str, recompute: bool = False) -> tuple[ExpectedManifest, float | None]:
    """Return the manifest of the expected answers, and the seconds it took if they had to be computed."""
    dataset.refuse_bad_files()
    kept = None if recompute else current_manifest(dataset)
    if kept is not None:
        return kept, None
    read_strategies(dataset.strategies_file)  # before Spark starts
    with session("pairs expected", master) as spark:
        warm_up(spark, reduce_part)
        started = time.perf_counter()
        compute(spark, dataset)
        seconds = time.perf_counter() - started
    manifest = current_manifest(dataset)
    if manifest is None:
        raise PairsError(f"{dataset.path}: changed while the expected answers were computed; try again")
    return manifest, seconds


def _input_stamps(dataset: Dataset) -> dict[str, FileStamp]:
    return _stamps(dataset, [dataset.strategies_file, *dataset.tick_files()])


def _output_stamps(dataset: Dataset) -> dict[str, FileStamp]:
    return _stamps(dataset, [dataset.expected_file(stream) for stream in STREAMS])


def _stamps(dataset: Dataset, files: list[Path]) -> dict[str, FileStamp]:
    stats = [(file.relative_to(dataset.path), file.stat()) for file in files]
    return {
        str(name): FileStamp(size=stat.st_size, mtime_ns=stat.st_mtime_ns, ctime_ns=stat.st_ctime_ns)
        for name, stat in stats
    }


def compute(spark: "SparkSession", dataset: Dataset) -> Computed:
    """Compute the expected answers and put them in place."""
    inputs = _input_stamps(dataset)  # before reading them: a change while they are read must show later
    strategies = read_strategies(dataset.strategies_file)
    strategies_digest = sha256(dataset.strategies_file.read_bytes()).hexdigest()
    parts = [part for file in dataset.tick_files() for part in parts_of(file.absolute())]
    with _scratch_folder(dataset) as scratch:
        try:
            plan = Plan.of(strategies, scratch, dataset.known_symbols())
            reduced = plan.reduce(spark, parts)
            _refuse_bad_rows(parts, reduced)
            evaluated = plan.evaluate(spark, reduced)
        except TaskError as error:
            raise PairsError(f"the expected answers were not computed: {error}; fix that and try again") from None
        computed = Computed(
            ticks=sum(part.digest.rows for part in reduced),
            answers={stream: sum(shard.answers[stream] for shard in evaluated) for stream in STREAMS},
            worker_peak_bytes=max(
                [part.worker_peak_bytes for part in reduced] + [shard.worker_peak_bytes for shard in evaluated]
            ),
        )
        for stream in STREAMS:
            files = [plan.answer_file(stream, shard) for shard in range(len(evaluated))]
            _join(files, scratch / f"{stream}.parquet", EXPECTED[stream])
        _put_in_place(dataset, scratch)
    ExpectedManifest(
        digests=InputDigests(ticks=_digest(parts, reduced), strategies=strategies_digest),
        ticks=computed.ticks,
        strategies=len(strategies.strategies),
        answers=computed.answers,
        files=inputs | _output_stamps(dataset),
    ).write(dataset.expected_manifest_file)
    return computed


@contextmanager
def _scratch_folder(dataset: Dataset) -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix=".expected-", dir=dataset.path.absolute()))
    except OSError as error:
        raise BadInputError(
            f"{dataset.path}: cannot be written: {error.strerror}; copy the dataset elsewhere"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Plan:
    """How the work is cut: the ticks into parts, the strategies into shards, and where the pieces lie meanwhile."""

    strategies: StrategySet
    clock: Clock
    symbols: tuple[str, ...]
    scratch: Path
    known: frozenset[str] | None = None  # symbols of the dataset, if it says

    @classmethod
    def of(cls, strategies: StrategySet, scratch: Path, known: frozenset[str] | None = None) -> "Plan":
        """Plan for a set of strategies."""
        periods = {one.period_ms for one in strategies.strategies}
        symbols = {symbol for one in strategies.strategies for symbol in (one.symbol1, one.symbol2)}
        clock = Clock(tuple(sorted(periods)), strategies.market_close_ms)
        return cls(strategies, clock, tuple(sorted(symbols)), scratch, known)

    def answer_file(self, stream: str, shard: int) -> Path:
        """Return where the answers of a shard lie."""
        return self.scratch / f"{stream}-{shard:06d}.arrow"

    def _pane_file(self, number: int) -> Path:
        return self.scratch / f"panes-{number:06d}.arrow"

    def reduce(self, spark: "SparkSession", parts: list[FilePart]) -> list[ReducedPart]:
        """Reduce all parts of the ticks to panes."""
        tasks = [
            PartTask(part, self.clock, self.symbols, self._pane_file(number), self.known)
            for number, part in enumerate(parts)
        ]
        with Progress("reading ticks", len(tasks), "parts") as progress:
            return run_tasks(spark, reduce_part, tasks, progress.set)

    def evaluate(self, spark: "SparkSession", reduced: list[ReducedPart]) -> list[EvaluatedShard]:
        """Evaluate all shards of the strategies."""
        triggers_file = self.scratch / "triggers.arrow"
        triggers = pa.concat_tables([one.triggers for one in reduced])
        with pa.OSFile(str(triggers_file), "wb") as sink, pa.ipc.new_stream(sink, triggers.schema) as target:
            target.write_table(triggers)
        tasks = [
            ShardTask(
                strategies,
                self.symbols,
                self.clock.market_close_ms,
                tuple(self._pane_file(number) for number in range(len(reduced))),
                triggers_file,
                {stream: self.answer_file(stream, shard) for stream in STREAMS},
            )
            for shard, strategies in enumerate(self._shards(sum(one.panes for one in reduced)))
        ]
        with Progress("evaluating strategies", len(tasks), "shards") as progress:
            return run_tasks(spark, evaluate_shard, tasks, progress.set)

    def _shards(self, panes: int) -> list[tuple[Strategy, ...]]:
        """Cut the strategies so that the panes of a shard stay few, however many there are in all."""
        panes_of_a_pair = 2 * panes // len(self.symbols) + 1
        length = min(max(_MOST_PANES_OF_A_SHARD // panes_of_a_pair, 1), _MOST_STRATEGIES_OF_A_SHARD)
        every = self.strategies.strategies
        return [every[first : first + length] for first in range(0, len(every), length)]


def _refuse_bad_rows(parts: list[FilePart], reduced: list[ReducedPart]) -> None:
    """Refuse the first row that breaks a rule. Inside a part its task has looked; here is what lies between two."""
    last_ts, last_path = None, None
    for part, one in zip(parts, reduced, strict=True):
        found = [] if one.problem is None else [one.problem]
        if one.first_ts is not None:
            if last_ts is not None and one.first_ts < last_ts:
                said = out_of_order(one.first_ts, last_ts, begins_file=part.path != last_path)
                found.append(Problem(part.first_row, TIME, said))
            last_ts, last_path = one.last_ts, part.path
        if found:
            raise min(found).refusal(part.path)


def _digest(parts: list[FilePart], reduced: list[ReducedPart]) -> str:
    """Return a digest of all ticks in their files."""
    files: dict[Path, PartialDigest] = {}
    for part, one in zip(parts, reduced, strict=True):
        files[part.path] = files.get(part.path, PartialDigest()) + one.digest
    return sha256("\n".join(one.hexdigest() for one in files.values()).encode()).hexdigest()


def _join(files: list[Path], target: Path, schema: pa.Schema) -> None:
    """Put the answers of all shards into one file, in the order of the strategies."""
    with pq.ParquetWriter(
        target, schema, use_dictionary=["strategy", *({"type", "symbol"} & set(schema.names))]
    ) as sink:
        for file in files:
            sink.write_table(read_table(file))


def _put_in_place(dataset: Dataset, scratch: Path) -> None:
    """Replace old answers. Without their manifest, which goes first and comes last, they count for nothing."""
    dataset.expected_folder.mkdir(exist_ok=True)
    dataset.expected_manifest_file.unlink(missing_ok=True)
    for stream in STREAMS:
        (scratch / f"{stream}.parquet").replace(dataset.expected_file(stream))
