"""Validates the answers of an engine: every answer of all streams, a verdict, and the first error of each strategy.

Reads the expected answers of a dataset and a folder of answers, a share of the strategies at a time, so that memory
stays bounded however many answers there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairs.core.progress import waiting
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import InputDigests
from pairs.model.streams import STREAMS, StreamSpec
from pairs.run_folder.records import FirstError, InvalidRow, StreamCounts, ValidationRecord, WrongColumn
from pairs.validator.answers import answer_files, read_answers
from pairs.validator.compare import KINDS, Counts, NameCodes, compare, side_by_side
from pairs.validator.shards import EXPECTED

_ANSWERS_AT_A_TIME = 4_000_000
_KEPT_EXAMPLES = 100


@dataclass
class StreamResult:
    """The result of a stream."""

    counts: Counts = field(default_factory=Counts)
    wrong_columns: list[WrongColumn] = field(default_factory=list)
    malformed: int = 0
    malformed_examples: list[InvalidRow] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)  # answers by strategy, of strategies that are not in the set
    incorrect: dict[str, list[pa.Table]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add_invalid(self, row: InvalidRow) -> None:
        self.malformed += 1
        self.counts += Counts(sut=1, undue=1)
        if len(self.malformed_examples) < _KEPT_EXAMPLES:
            self.malformed_examples.append(row)

    def add_wrong_column(self, wrong: WrongColumn) -> None:
        """Add a column of a file; what is so in many files is said once."""
        for place, known in enumerate(self.wrong_columns):
            if (known.column, known.found) == (wrong.column, wrong.found):
                self.wrong_columns[place] = known.model_copy(update={"files": known.files + 1})
                return
        self.wrong_columns.append(wrong)

    def record(self, repeated: int) -> StreamCounts:
        return StreamCounts(
            **asdict(self.counts),
            repeated=repeated,
            wrong_columns=tuple(self.wrong_columns),
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
    knife_edges: Mapping[str, int] = field(default_factory=dict)  # decisions of the dataset that rounding may decide

    @property
    def passed(self) -> bool:
        return all(result.counts.passed for result in self.streams.values())

    @property
    def verdict(self) -> Literal["PASSED", "FAILED"]:
        return "PASSED" if self.passed else "FAILED"

    @waiting("looking for first errors")
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

    def knife_edge_strategies(self) -> list[str]:
        """Return the strategies with incorrect answers and decisions that rounding may decide, by their first error."""
        return [error.strategy for error in self.first_errors() if error.strategy in self.knife_edges]

    def record(self, dataset: Dataset, digests: InputDigests, repeated: Mapping[str, int]) -> ValidationRecord:
        """Return the content of validation.json; `repeated` counts the answers that the sink dropped, by stream."""
        return ValidationRecord(
            verdict=self.verdict,
            streams={stream: result.record(repeated.get(stream, 0)) for stream, result in self.streams.items()},
            first_errors=tuple(self.first_errors()),
            knife_edges=sum(self.knife_edges.values()),
            knife_edge_strategies=tuple(self.knife_edge_strategies()),
            dataset=str(dataset.path.absolute()),
            digests=digests,
        )


def _earliest(table: pa.Table) -> Iterator[tuple[str, int, int]]:
    """Yield the earliest time and the number of rows of each strategy in a table of incorrect answers."""
    grouped = table.group_by("strategy").aggregate([("inputTickTS", "min"), ("inputTickTS", "count")])
    yield from zip(*(column.to_pylist() for column in grouped.columns), strict=True)


@waiting("comparing answers")
def validate(
    dataset: Dataset, aliases: Sequence[str], folder: Path, knife_edges: Mapping[str, int] | None = None
) -> Validation:
    """Compare the answers in a folder with the expected answers of a dataset, which must exist.

    The decisions that rounding may decide, by strategy, do not change the verdict; they help to understand it.
    """
    files = {stream: answer_files(folder, stream) for stream in STREAMS}  # before any is read: all must be there
    results = {name: _validate_stream(dataset, aliases, stream, files[name]) for name, stream in STREAMS.items()}
    return Validation(results, knife_edges or {})


def _validate_stream(dataset: Dataset, aliases: Sequence[str], stream: StreamSpec, files: list[Path]) -> StreamResult:
    result, schema = StreamResult(), EXPECTED[stream.name]
    expected_file = dataset.expected_file(stream.name)
    shares = -(-pq.read_metadata(expected_file).num_rows // _ANSWERS_AT_A_TIME) or 1
    known = NameCodes(aliases)
    for share in range(shares):
        of_share = partial(_of_share, known, share, shares)
        expected = of_share(pq.read_table(expected_file, schema=schema))
        kept = [schema.empty_table()]
        for read in chain.from_iterable(read_answers(file, schema) for file in files):
            if isinstance(read, pa.RecordBatch):
                kept.append(of_share(pa.Table.from_batches([read])))
            elif share > 0:  # each share reads all rows
                continue
            elif isinstance(read, InvalidRow):
                result.add_invalid(read)
            else:
                result.add_wrong_column(read)
        answers = pa.concat_tables(kept)
        comparison = compare(expected, answers, stream)
        result.counts += comparison.counts
        for kind in KINDS:
            result.incorrect[kind].append(side_by_side(kind, expected, answers, comparison, stream))
    undue = _earliest(pa.concat_tables(result.incorrect["undue"]))
    strategies = set(aliases)
    result.unknown = {strategy: count for strategy, _, count in undue if strategy not in strategies}
    return result


def _of_share(known: NameCodes, share: int, shares: int, table: pa.Table) -> pa.Table:
    return table if shares == 1 else table.filter(pa.array(known.code(table["strategy"]) % shares == share))
