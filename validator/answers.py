"""Reads the answers of any engine, Parquet or CSV, tolerantly: an invalid row is reported with its position.

Batches are converted at once; only where that fails are their rows read singly.
"""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pairs.core.errors import BadInputError
from pairs.run_folder.records import InvalidRow

_ROWS_AT_A_TIME = 65_536
_FORMATS = (".parquet", ".csv")

Answer: TypeAlias = "pa.RecordBatch | InvalidRow"


def answer_files(folder: Path, stream: str) -> list[Path]:
    """Return the files of a stream's answers: one file, or those of a folder in the order of their names."""
    if not folder.is_dir():
        raise BadInputError(f"{folder}: no such folder; give the folder with the answers of a run")
    found = [path for path in (folder / f"{stream}{suffix}" for suffix in ("", *_FORMATS)) if path.exists()]
    if not found:
        raise BadInputError(f"{folder}: no {stream}.parquet or {stream}.csv there; give the folder with the answers")
    if len(found) > 1:
        raise BadInputError(f"{folder}: both {found[0].name} and {found[1].name} are there; remove one of them")
    if found[0].is_file():
        return found
    files = sorted(path for path in found[0].glob("[!._]*") if path.suffix in _FORMATS)
    if not files:
        raise BadInputError(f"{found[0]}: no .parquet or .csv file there; give the folder with the answers")
    return files


def read_answers(path: Path, schema: pa.Schema) -> Iterator[Answer]:
    """Yield the answers of a file in order, in batches of the given columns, and the invalid rows."""
    try:
        yield from (_read_parquet if path.suffix == ".parquet" else _read_csv)(path, schema)
    except (pa.ArrowException, csv.Error, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise BadInputError(f"{path}: not readable as answers: {reason}; write it again") from None


def _read_parquet(path: Path, schema: pa.Schema) -> Iterator[Answer]:
    row = 0
    with pq.ParquetFile(path) as source:
        _refuse_missing(path, source.schema_arrow.names, schema)
        for batch in source.iter_batches(_ROWS_AT_A_TIME, columns=schema.names):
            yield from _read_batch(path, batch.select(schema.names), schema, row)
            row += len(batch)


def _read_batch(path: Path, batch: pa.RecordBatch, schema: pa.Schema, rows_before: int) -> Iterator[Answer]:
    try:
        fitting = batch.cast(schema)
        valid = not any(column.null_count for column in fitting.columns)
    except (pa.ArrowException, ValueError):
        valid = False
    if valid:
        yield fitting
        return
    rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
    numbered = ((rows_before + number, list(row)) for number, row in enumerate(rows, 1))
    yield from _read_rows(path, numbered, schema)


def _read_csv(path: Path, schema: pa.Schema) -> Iterator[Answer]:
    with path.open(newline="", encoding="utf-8", errors="replace") as source:
        header = next(csv.reader(source), [])
    _refuse_missing(path, header, schema)
    options = pa_csv.ConvertOptions(column_types=schema, include_columns=schema.names, null_values=[])
    rows = 0
    try:
        with pa_csv.open_csv(path, convert_options=options) as batches:
            for batch in batches:
                yield batch.cast(schema)
                rows += len(batch)
    except pa.ArrowException:
        yield from _read_rows(path, islice(_csv_rows(path, header, schema), rows, None), schema)


def _csv_rows(path: Path, header: list[str], schema: pa.Schema) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows with their last lines; a row of another length than the header has no values."""
    places = [header.index(name) for name in schema.names]
    with path.open(newline="", encoding="utf-8", errors="replace") as source:
        rows = csv.reader(source)
        next(rows)
        for row in rows:
            if row:
                yield rows.line_num, [row[place] for place in places] if len(row) == len(header) else []


def _refuse_missing(path: Path, names: list[str], schema: pa.Schema) -> None:
    for name in schema.names:
        if names.count(name) != 1:
            has = f"has {', '.join(names)}" if names else "is empty"
            how = "no column" if name not in names else "more than one column"
            raise BadInputError(f"{path}: {how} {name!r} (it {has}); name the columns as the benchmark does")


def _read_rows(path: Path, rows: Iterator[tuple[int, list[Any]]], schema: pa.Schema) -> Iterator[Answer]:
    valid: list[list[Any]] = []
    for line, row in rows:
        try:
            valid.append(_read_row(row, schema))
        except (ValueError, TypeError, OverflowError) as error:
            yield InvalidRow(file=str(path), line=line, problem=str(error))
        if len(valid) == _ROWS_AT_A_TIME:
            yield pa.record_batch(list(zip(*valid, strict=True)), schema)
            valid = []
    if valid:
        yield pa.record_batch(list(zip(*valid, strict=True)), schema)


def _read_row(row: list[Any], schema: pa.Schema) -> list[Any]:
    if len(row) != len(schema):
        raise ValueError("not as many values as columns")
    return [_READERS[field.type](field.name, value) for field, value in zip(schema, row, strict=True)]


def _read_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_shown(value)}, not a name")
    return value


def _read_whole(name: str, value: Any) -> int:
    """Read a whole number, also if written as 12.0."""
    found = re.fullmatch(r"\s*([+-]?\d+)(\.0*)?\s*", str(value), re.ASCII)
    if found is None:
        raise ValueError(f"{name} is {_shown(value)}, not a whole number")
    number = int(found[1][:40])
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} is {_shown(value)}, too large")
    return number


def _read_double(name: str, value: Any) -> float:
    try:
        return float(value)
    except (ValueError, TypeError):
        raise ValueError(f"{name} is {_shown(value)}, not a number") from None


def _shown(value: Any) -> str:
    return "empty" if value is None or value == "" else repr(value)[:40]


_READERS: dict[pa.DataType, Callable[[str, Any], Any]] = {
    pa.string(): _read_text,
    pa.int64(): _read_whole,
    pa.float64(): _read_double,
}
