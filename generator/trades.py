"""Reads real trades from CSV or Parquet, in the units of a tick stream; names every invalid value by file and row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pairs.core.errors import BadInputError, shown
from pairs.dataset.formats.base import StoredRows, numbered, refuse_missing
from pairs.dataset.formats.csv_rows import csv_header, csv_rows
from pairs.dataset.formats.parquet import cut_row_groups, is_parquet, read_row_groups
from pairs.dataset.tick_rules import wrong_with_symbol
from pairs.model.tuples import STOCK_TICK_CODED

UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
DEFAULT_SIZE = 100

TRADES = pa.schema([*(STOCK_TICK_CODED.field(name) for name in ("symbol", "price", "size")), ("time_ns", pa.int64())])

_MAX_INT32 = 2**31 - 1
_MAX_INT64 = 2**63 - 1
_FIRST_ROWS = 1_000  # that are read before the whole file
_DIGITS = 6  # of a cent that count; the digits after them come from storing a decimal as a double
_ZONED = r"\d[T ]\d\d:?\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_NUMBER = r"^-?\d+(\.\d*)?$"
_UNREADABLE = (pa.ArrowException, ValueError, OSError)


@dataclass(frozen=True)
class TradeColumns:
    """The names of the columns to read; the unit of time is needed only where times are numbers."""

    symbol: str
    price: str
    time: str
    size: str | None = None
    time_unit: str | None = None

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys([self.symbol, self.price, self.time, *([self.size] if self.size else [])]))

    def refuse_missing(self, schema: pa.Schema) -> None:
        refuse_missing(self.names, schema.names)


@dataclass(frozen=True)
class TradePart:
    """A file of trades, or some of its row groups, and the position of its first row in the file."""

    path: Path
    first_row: int = 0
    row_groups: range | None = None


class _InvalidValueError(Exception):
    """A value of a batch is invalid; carries its row in the batch."""

    def __init__(self, row: int, text: str) -> None:
        self.row, self.text = row, text


def parts_of_trades(path: Path, columns: TradeColumns) -> list[TradePart]:
    """Cut a file of trades into parts that tasks can share; refuse a file without these columns."""
    try:
        if is_parquet(path):
            return [TradePart(path, *part) for part in cut_row_groups(path, columns.refuse_missing)]
        refuse_missing(columns.names, csv_header(path))
    except _UNREADABLE as error:
        raise _unreadable(path, error) from None
    return [TradePart(path)]


def check_beginning(path: Path, columns: TradeColumns) -> None:
    """Refuse a file without these columns, or whose first rows have an invalid value."""
    part = parts_of_trades(path, columns)[0]
    next(read_trades(part, columns, _FIRST_ROWS), None)


def _unreadable(path: Path, error: BaseException) -> BadInputError:
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return BadInputError(f"{path}: not readable as trades: {reason}; give CSV with a header line, or Parquet")


def read_trades(part: TradePart, columns: TradeColumns, rows: int | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the trades of a part in the order of the file; of Parquet, so many rows at a time."""
    stored_rows = _stored_rows(part, columns, rows)
    while (stored := _next(part.path, stored_rows)) is not None:
        invalid = {skipped.row: skipped.problem for skipped in stored.skipped}
        try:
            trades = _converted(stored.batch, columns)
        except _InvalidValueError as error:
            invalid[stored.rows[error.row]] = error.text
        except pa.ArrowException as error:
            raise _unreadable(part.path, error) from None
        _refuse_first(part.path, invalid)
        yield trades


def _stored_rows(part: TradePart, columns: TradeColumns, rows: int | None) -> Iterator[StoredRows]:
    if not is_parquet(part.path):
        return csv_rows(part.path, dict.fromkeys(columns.names, pa.string()))
    batches = read_row_groups(part.path, part.row_groups, columns.names, columns.refuse_missing, rows=rows)
    return numbered(batches, part.first_row)


def _refuse_first(path: Path, invalid: dict[int, str]) -> None:
    if invalid:
        row = min(invalid)
        raise BadInputError(f"{path}: row {row + 1:,}: {invalid[row]}")


def _next(path: Path, stored_rows: Iterator[StoredRows]) -> StoredRows | None:
    try:
        return next(stored_rows, None)
    except _UNREADABLE as error:
        raise _unreadable(path, error) from None


def _converted(raw: pa.RecordBatch, columns: TradeColumns) -> pa.RecordBatch:
    """Convert a batch as the file holds it to trades; raise the first invalid value."""
    converters: list[Callable[[], Any]] = [
        lambda: _symbols(_present(raw, columns.symbol)),
        lambda: _cents(_present(raw, columns.price)),
        lambda: _sizes(_present(raw, columns.size)) if columns.size else np.full(len(raw), DEFAULT_SIZE, np.int32),
        lambda: _times_ns(_present(raw, columns.time), columns.time_unit),
    ]
    converted: list[Any] = []
    errors: list[_InvalidValueError] = []
    for convert in converters:
        try:
            converted.append(convert())
        except _InvalidValueError as error:
            errors.append(error)
    if errors:
        raise min(errors, key=lambda error: error.row)
    return pa.record_batch(converted, schema=TRADES)


def _present(raw: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column; raise the first row without a value."""
    column = raw[name]
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        _refuse(column.is_null().to_numpy(zero_copy_only=False), lambda _: f"no {name}; every trade needs a value")
    return column


def _refuse(invalid: NDArray[np.bool_], text_of: Callable[[int], str]) -> None:
    if invalid.any():
        row = int(np.argmax(invalid))
        raise _InvalidValueError(row, text_of(row))


def _cast(column: pa.Array, kind: pa.DataType, meaning: str) -> pa.Array:
    try:
        return column.cast(kind)
    except pa.ArrowException:
        for row, value in enumerate(column):
            try:
                value.cast(kind)
            except pa.ArrowException:
                text = f"{_shown(value)} is not a valid {meaning}; fix the row or remove it"
                raise _InvalidValueError(row, text) from None
        raise


def _shown(value: pa.Scalar) -> str:
    """Return a value as text; not every value of Arrow is one of Python."""
    try:
        return shown(value.as_py())
    except (ValueError, OverflowError):
        return f"a {value.type} that cannot be shown"


def _numbers(column: pa.Array, kind: pa.DataType, meaning: str) -> NDArray[Any]:
    numbers: NDArray[Any] = _cast(column, kind, meaning).to_numpy(zero_copy_only=False)
    return numbers


def _symbols(column: pa.Array) -> pa.Array:
    names = _cast(column, pa.string(), "symbol").dictionary_encode().cast(TRADES.field("symbol").type)
    texts = {code: text for code, name in enumerate(names.dictionary.to_pylist()) if (text := wrong_with_symbol(name))}
    if texts:
        codes = names.indices.to_numpy()
        _refuse(np.isin(codes, list(texts)), lambda row: texts[int(codes[row])])
    return names


def _cents(column: pa.Array) -> NDArray[np.int32]:
    """Round prices to whole cents, half a cent up, at least one cent."""
    prices = _numbers(column, pa.float64(), "price")
    with np.errstate(over="ignore", invalid="ignore"):
        cents = np.floor(np.round(prices * 100, _DIGITS) + 0.5)
        invalid = ~(prices > 0) | ~(cents <= _MAX_INT32)
    _refuse(invalid, lambda row: f"price {prices[row]:g}; prices are above zero, and at most {_MAX_INT32 / 100:,.2f}")
    whole: NDArray[np.int32] = np.maximum(cents, 1).astype(np.int32)
    return whole


def _sizes(column: pa.Array) -> NDArray[np.int32]:
    sizes = _numbers(column, pa.float64(), "size")
    invalid = ~((sizes >= 1) & (sizes <= _MAX_INT32) & (np.floor(sizes) == sizes))
    remedy = "without --size-column every trade has 100"
    _refuse(invalid, lambda row: f"size {sizes[row]:g}; sizes are whole numbers above zero; {remedy}")
    return sizes.astype(np.int32)


def _times_ns(column: pa.Array, unit: str | None) -> NDArray[np.int64]:
    """Return times in nanoseconds; texts without a zone are UTC."""
    kind = column.type
    if pa.types.is_temporal(kind):
        return _numbers(column, pa.timestamp("ns", getattr(kind, "tz", None)), "time").view(np.int64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbers_ns(column, unit)
    texts = _cast(column, pa.string(), "time")
    times = np.zeros(len(texts), np.int64)
    numeric = pc.match_substring_regex(texts, _NUMBER)
    zoned = pc.and_not(pc.match_substring_regex(texts, _ZONED), numeric)
    plain = pc.invert(pc.or_(numeric, zoned))
    kinds: list[tuple[pa.Array, Callable[[pa.Array], NDArray[np.int64]]]] = [
        (numeric, lambda chosen: _numbers_ns(chosen, unit)),
        (zoned, lambda chosen: _numbers(chosen, pa.timestamp("ns", "UTC"), "time").view(np.int64)),
        (plain, lambda chosen: _numbers(chosen, pa.timestamp("ns"), "time").view(np.int64)),
    ]
    for mask, convert in kinds:
        rows = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
        try:
            times[rows] = convert(texts.take(pa.array(rows)))
        except _InvalidValueError as error:
            raise _InvalidValueError(int(rows[error.row]), error.text) from None
    return times


def _numbers_ns(column: pa.Array, unit: str | None) -> NDArray[np.int64]:
    if unit is None and len(column):
        raise _InvalidValueError(
            0, f"time {shown(column[0].as_py())} is a number; give its unit, such as --time-unit ms"
        )
    factor = UNITS_NS[unit or "ns"]
    fractions = pa.types.is_string(column.type) and pc.any(pc.match_substring(column, ".")).as_py()
    if fractions or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        with np.errstate(over="ignore"):
            numbers = _numbers(column, pa.float64(), "time") * factor
        within = np.abs(numbers) <= float(2**62)
    else:
        numbers = _numbers(column, pa.int64(), "time")
        within = (numbers <= _MAX_INT64 // factor) & (numbers >= -_MAX_INT64 // factor)
        numbers = np.where(within, numbers, 0) * factor
    _refuse(
        ~within, lambda row: f"time {shown(column[row].as_py())} is too late for {unit}; give the right --time-unit"
    )
    times: NDArray[np.int64] = np.rint(numbers).astype(np.int64)
    return times
