"""Reads the answers of any engine, Parquet or CSV, tolerantly: an invalid row is reported with its position."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairs.core.errors import BadInputError
from pairs.dataset.formats.base import StoredRows, numbered, refuse_missing
from pairs.dataset.formats.csv_rows import csv_rows
from pairs.dataset.formats.parquet import is_parquet
from pairs.run_folder.records import InvalidRow, WrongColumn
from pairs.validator.answer_values import InvalidValue, expected_values, read_column

_ROWS_AT_A_TIME = 65_536
_ENDING = re.compile(r"\.(parquet|csv(\.(gz|bz2|zst|lz4))?)$", re.IGNORECASE)
_FEWEST_THROUGHOUT = 2  # rows, so that a column can be called wrong throughout

Answer: TypeAlias = "pa.RecordBatch | InvalidRow | WrongColumn"


def answer_files(folder: Path, stream: str) -> list[Path]:
    """Return the files of a stream's answers: one file, or those of a folder in the order of their names."""
    if not folder.is_dir():
        raise BadInputError(f"{folder}: no such folder; give the folder with the answers of a run")
    named = sorted(path for path in folder.iterdir() if path.name.lower().partition(".")[0] == stream)
    found = [path for path in named if path.name.lower() == stream or _ENDING.match(path.name[len(stream) :])]
    if not found:
        names = f"{stream}.parquet or {stream}.csv"
        what = f"{named[0].name} is not a format of answers" if named else f"no {names} there"
        raise BadInputError(f"{folder}: {what}; give the folder with {names}")
    if len(found) > 1:
        raise BadInputError(f"{folder}: both {found[0].name} and {found[1].name} are there; remove one of them")
    if found[0].is_file():
        return found
    files = sorted(path for path in found[0].glob("[!._]*") if _ENDING.search(path.name))
    if not files:
        raise BadInputError(f"{found[0]}: no .parquet or .csv file there; give the folder with the answers")
    return files


def read_answers(path: Path, schema: pa.Schema) -> Iterator[Answer]:
    """Yield the answers of a file in order, in batches of the given columns, and the invalid rows.

    At the end come the columns that are wrong throughout.
    """
    tally = _Tally()
    try:
        for stored in _stored_rows(path, schema):
            yield from _converted(path, stored, schema, tally)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        remedy = "give Parquet, or CSV with a header line, with the columns of the benchmark"
        raise BadInputError(f"{path}: not readable as answers: {reason}; {remedy}") from None
    yield from tally.wrong_columns(path, schema)


def _stored_rows(path: Path, schema: pa.Schema) -> Iterator[StoredRows]:
    if is_parquet(path):
        return numbered(_parquet_batches(path, schema))
    return csv_rows(path, dict(zip(schema.names, schema.types, strict=True)))


def _parquet_batches(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as source:
        refuse_missing(schema.names, source.schema_arrow.names)
        for batch in source.iter_batches(_ROWS_AT_A_TIME, columns=schema.names):
            yield batch.select(schema.names)


@dataclass
class _Tally:
    """Counts the invalid values of each column."""

    rows: int = 0
    invalid: Counter[str] = field(default_factory=Counter)  # by column
    kinds: dict[str, set[str]] = field(default_factory=dict)
    first: dict[str, InvalidValue] = field(default_factory=dict)

    def add(self, column: str, invalid: dict[int, InvalidValue]) -> None:
        self.invalid[column] += len(invalid)
        self.kinds.setdefault(column, set()).update(value.kind for value in invalid.values())
        self.first.setdefault(column, next(iter(invalid.values())))

    def wrong_columns(self, path: Path, schema: pa.Schema) -> Iterator[WrongColumn]:
        for column in schema:
            if self.invalid[column.name] == self.rows >= _FEWEST_THROUGHOUT:
                kinds = self.kinds[column.name]
                yield WrongColumn(
                    file=str(path),
                    column=column.name,
                    found=next(iter(kinds)) if len(kinds) == 1 else "invalid values",
                    expected=expected_values(column.type),
                    first=self.first[column.name].problem,
                )


def _converted(path: Path, stored: StoredRows, schema: pa.Schema, tally: _Tally) -> Iterator[Answer]:
    columns = {column.name: read_column(stored.batch[column.name], column) for column in schema}
    batch = pa.record_batch([values for values, _ in columns.values()], schema=schema)
    tally.rows += len(batch)
    problems: dict[int, str] = {}  # of the first invalid value of a row
    for name, (_, invalid) in columns.items():
        if invalid:
            tally.add(name, invalid)
            problems = {row: value.problem for row, value in invalid.items()} | problems
    if problems:
        valid = np.ones(len(batch), bool)
        valid[list(problems)] = False
        batch = batch.filter(pa.array(valid))
    yield batch
    by_line = {stored.lines[row]: problem for row, problem in problems.items()}
    by_line |= {skipped.line: skipped.problem for skipped in stored.skipped}
    for line in sorted(by_line):
        yield InvalidRow(file=str(path), line=line, problem=by_line[line])
