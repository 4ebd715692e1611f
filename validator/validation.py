"""Validates the answers of an engine: every answer of all streams, a verdict, and the first error of each strategy.

Reads the expected answers of a dataset and a folder of answers, a share of the strategies at a time, so that memory
stays bounded however many answers there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import InputDigests
from pairs.model.streams import STREAMS
from pairs.run_folder.records import FirstError, InvalidRow, StreamCounts, ValidationRecord
from pairs.validator.answers import answer_files, read_answers
from pairs.validator.compare import KINDS, Counts, NameCodes, compare, side_by_side
from pairs.validator.shards import EXPECTED

_ANSWERS_AT_A_TIME = 4_000_000
_KEPT_EXAMPLES = 100


@dataclass
class StreamResult:
    """The result of a stream."""

    counts: Counts = field(default_factory=Counts)
    malformed: int = 0
    malformed_examples: list[InvalidRow] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)  # answers by strategy, of strategies that are not in the set
    incorrect: dict[str, list[pa.Table]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add_invalid(self, row: InvalidRow) -> None:
        """Count an invalid row as an undue answer."""
        self.malformed += 1
        self.counts += Counts(sut=1, undue=1)
        if len(self.malformed_examples) < _KEPT_EXAMPLES:
            self.malformed_examples.append(row)

    def record(self, repeated: int) -> StreamCounts:
        """Return the stream's part of validation.json."""
        return StreamCounts(
            **asdict(self.counts),
            repeated=repeated,
            malformed=self.malformed,
            malformed_examples=tuple(self.malformed_examples),
            unknown_strategies=dict(list(self.unknown.items())[:_KEPT_EXAMPLES]),
        )

    def listed(self, kind: str, strategy: str | None = None) -> pa.Table:
        """Return all incorrect answers of a kind side by side, sorted by time; optionally of one strategy."""
        table = pa.concat_tables(self.incorrect[kind])
        if strategy is not None:
            table = table.filter(pc.field("strategy") == strategy)
        return table.sort_by([("inputTickTS", "ascending"), ("strategy", "ascending")])


@dataclass(frozen=True)
class Validation:
    """The result of all streams."""

    streams: dict[str, StreamResult]

    @property
    def passed(self) -> bool:
        """Whether nothing is missing, undue or wrong."""
        return all(result.counts.passed for result in self.streams.values())

    @property
    def verdict(self) -> Literal["PASSED", "FAILED"]:
        """PASSED or FAILED."""
        return "PASSED" if self.passed else "FAILED"

    def first_errors(self) -> list[FirstError]:
        """Return the first error of each strategy, in the order of time; later errors mostly follow from it."""
        first: dict[str, tuple[int, str, str]] = {}
        total: dict[str, int] = {}
        for stream, result in self.streams.items():  # indicators first: orders follow from them
            for kind in KINDS:
                for strategy, tick_ts, count in _earliest(pa.concat_tables(result.incorrect[kind])):
                    total[strategy] = total.get(strategy, 0) + count
                    if strategy not in first or tick_ts < first[strategy][0]:
                        first[strategy] = (tick_ts, stream, kind)
        return [
            FirstError(inputTickTS=tick_ts, strategy=strategy, stream=stream, kind=kind, incorrect=total[strategy])
            for strategy, (tick_ts, stream, kind) in sorted(first.items(), key=lambda item: (item[1][0], item[0]))
        ]

    def record(self, dataset: Dataset, digests: InputDigests, repeated: Mapping[str, int]) -> ValidationRecord:
        """Return the content of validation.json; `repeated` counts the answers that the sink dropped, by stream."""
        return ValidationRecord(
            verdict=self.verdict,
            streams={stream: result.record(repeated.get(stream, 0)) for stream, result in self.streams.items()},
            first_errors=tuple(self.first_errors()),
            dataset=str(dataset.path.absolute()),
            digests=digests,
        )


def _earliest(table: pa.Table) -> Iterator[tuple[str, int, int]]:
    """Yield the earliest time and the number of rows of each strategy in a table of incorrect answers."""
    grouped = table.group_by("strategy").aggregate([("inputTickTS", "min"), ("inputTickTS", "count")])
    yield from zip(
        *(grouped[name].to_pylist() for name in ("strategy", "inputTickTS_min", "inputTickTS_count")), strict=True
    )


def validate(dataset: Dataset, aliases: Sequence[str], folder: Path) -> Validation:
    """Compare the answers in a folder with the expected answers of a dataset, which must exist."""
    files = {stream: answer_files(folder, stream) for stream in STREAMS}
    return Validation({stream: _validate_stream(dataset, aliases, stream, files[stream]) for stream in STREAMS})


def _validate_stream(dataset: Dataset, aliases: Sequence[str], stream: str, files: list[Path]) -> StreamResult:
    result, schema = StreamResult(), EXPECTED[stream]
    expected_file = dataset.expected_file(stream)
    shares = -(-pq.read_metadata(expected_file).num_rows // _ANSWERS_AT_A_TIME) or 1
    known = NameCodes(aliases)
    for share in range(shares):
        expected = _share_of([pq.read_table(expected_file, schema=schema)], schema, known, share, shares)
        read = (row for file in files for row in read_answers(file, schema))
        answers = _share_of(_valid(read, result, share == 0), schema, known, share, shares)
        comparison = compare(expected, answers, STREAMS[stream])
        result.counts += comparison.counts
        for kind in KINDS:
            result.incorrect[kind].append(side_by_side(kind, expected, answers, comparison, STREAMS[stream]))
    _count_unknown(result, set(aliases))
    return result


def _valid(
    read: Iterator[pa.RecordBatch | InvalidRow], result: StreamResult, counting: bool
) -> Iterator[pa.RecordBatch]:
    for part in read:
        if not isinstance(part, InvalidRow):
            yield part
        elif counting:
            result.add_invalid(part)


def _share_of(
    batches: Iterator[pa.RecordBatch] | list[pa.Table], schema: pa.Schema, known: NameCodes, share: int, shares: int
) -> pa.Table:
    """Return the answers of every `shares`-th strategy."""
    kept = []
    for batch in batches:
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        if shares > 1:
            table = table.filter(pa.array(known.code(table["strategy"]) % shares == share))
        kept.append(table)
    return pa.concat_tables(kept) if kept else schema.empty_table()


def _count_unknown(result: StreamResult, aliases: set[str]) -> None:
    """Count the undue answers of strategies that are not in the set."""
    for table in result.incorrect["undue"]:
        for strategy, _, count in _earliest(table):
            if strategy not in aliases:
                result.unknown[strategy] = result.unknown.get(strategy, 0) + count
