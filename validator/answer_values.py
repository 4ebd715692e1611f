"""Converts the values of answers, whatever their types, to those of the benchmark; an invalid value is named.

A column is converted at once; only where that fails are its values read singly, with the same result.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

# Possessive, so that no text takes more than one pass, however long it is.
_WHOLE = re.compile(r"\s*+([+-]?)(?=\d)0*+(\d*+)(?:\.0*+)?\s*+", re.ASCII)  # also 12.0
_NUMBER = re.compile(r"\s*+[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?\s*+", re.ASCII)
_TIMESTAMP = re.compile(r"\s*\d{4}-\d\d?-\d\d?([T ].*)?|\s*\d\d?:\d\d(:\d\d.*)?", re.ASCII)
_MOST_DIGITS = 19  # of a whole number of 64 bits

_EMPTY = "empty values"
_TEXT = "text"
_TIMES = "timestamps"
_FRACTIONS = "fractions"
_TOO_LARGE = "numbers of more than 64 bits"
_NOT_UTF8 = "bytes that are not UTF-8"


@dataclass(frozen=True)
class InvalidValue:
    """A value that is not of its column's type: what people call such values, in the plural, and what is wrong."""

    kind: str
    problem: str


class _InvalidError(Exception):
    """Carries the kind of an invalid value."""


@dataclass(frozen=True)
class _Reader:
    """Reads single values of a type."""

    expected: str  # such values, in the plural
    one: str
    read: Callable[[Any], Any]
    convertible: tuple[Callable[[pa.DataType], bool], ...]  # types that have such values


def expected_values(kind: pa.DataType) -> str:
    """Return what people call values of a type, in the plural."""
    return _READERS[kind].expected


def read_column(column: pa.Array, field: pa.Field) -> tuple[pa.Array, dict[int, InvalidValue]]:
    """Convert a column to the type of a field; invalid values become null, and are returned by row."""
    reader = _READERS[field.type]
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not any(matches(column.type) for matches in reader.convertible):
        invalid = _of_other_type(column.type, field.name, reader)
        return pa.nulls(len(column), field.type), dict.fromkeys(range(len(column)), invalid)
    try:
        column.validate(full=True)  # text in Parquet may not be UTF-8
        converted = column.cast(field.type)
        if not converted.null_count:
            return converted, {}
    except (pa.ArrowException, ValueError):
        pass
    return _read_singly(column, field, reader)


def _of_other_type(kind: pa.DataType, name: str, reader: _Reader) -> InvalidValue:
    called = _TIMES if pa.types.is_temporal(kind) else _EMPTY if pa.types.is_null(kind) else f"values of type {kind}"
    return InvalidValue(called, f"{name} is of type {kind}, not {reader.one}")


def _read_singly(column: pa.Array, field: pa.Field, reader: _Reader) -> tuple[pa.Array, dict[int, InvalidValue]]:
    values: list[Any] = []
    invalid: dict[int, InvalidValue] = {}
    for row, value in enumerate(_values(column)):
        try:
            values.append(reader.read(value))
        except _InvalidError as error:
            values.append(None)
            kind = str(error)
            wrong = "too large" if kind == _TOO_LARGE else f"not {reader.one}"
            shown = "empty" if kind == _EMPTY else f"{repr(value)[:40]}, {wrong}"
            invalid[row] = InvalidValue(kind, f"{field.name} is {shown}")
    return pa.array(values, field.type), invalid


def _values(column: pa.Array) -> Iterator[Any]:
    """Yield the values of a column; text that is not UTF-8 as bytes."""
    if not any(matches(column.type) for matches in _TEXTS):
        yield from column.to_pylist()
        return
    for value in column.cast(pa.large_binary()).to_pylist():
        try:
            yield None if value is None else value.decode()
        except UnicodeDecodeError:
            yield value


def _read_name(value: Any) -> str:
    if value is None:
        raise _InvalidError(_EMPTY)
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise _InvalidError(_NOT_UTF8) from None


def _read_whole(value: Any) -> int:
    if isinstance(value, str):
        return _whole_of_text(value)
    if value is None or isinstance(value, bytes):
        raise _InvalidError(_EMPTY if value is None else _NOT_UTF8)
    try:
        whole = int(value)
    except (ValueError, OverflowError):  # NaN and infinity
        raise _InvalidError(_FRACTIONS) from None
    if whole != value:
        raise _InvalidError(_FRACTIONS)
    return _of_64_bits(whole)


def _whole_of_text(text: str) -> int:
    found = _WHOLE.fullmatch(text)
    if found is not None:
        return _of_64_bits(int(found[1] + (found[2][: _MOST_DIGITS + 1] or "0")))
    if (by_arrow := _by_arrow(text, pa.int64())) is not None:
        return int(by_arrow)
    raise _InvalidError(_FRACTIONS if _NUMBER.fullmatch(text) else _kind_of_text(text))


def _of_64_bits(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise _InvalidError(_TOO_LARGE)
    return number


def _read_number(value: Any) -> float:
    if value is None or isinstance(value, bytes):
        raise _InvalidError(_EMPTY if value is None else _NOT_UTF8)
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return float(value)
    if (by_arrow := _by_arrow(value, pa.float64())) is not None:
        return float(by_arrow)
    raise _InvalidError(_kind_of_text(value))


def _by_arrow(text: str, kind: pa.DataType) -> Any:
    """Return what Arrow takes a text for, such as 0x1f, nan or inf; None if for nothing."""
    try:
        return pa.scalar(text.strip(" \t")).cast(kind).as_py()
    except pa.ArrowInvalid:
        return None


def _kind_of_text(text: str) -> str:
    return _EMPTY if not text.strip() else _TIMES if _TIMESTAMP.fullmatch(text) else _TEXT


_types = pa.types
_TEXTS = (_types.is_string, _types.is_large_string, _types.is_string_view)
_NUMBERS = (_types.is_integer, _types.is_floating, _types.is_decimal, *_TEXTS)
_READERS = {
    pa.string(): _Reader(
        "names", "a name", _read_name, (*_TEXTS, _types.is_integer, _types.is_binary, _types.is_large_binary)
    ),
    pa.int64(): _Reader("whole numbers", "a whole number", _read_whole, _NUMBERS),
    pa.float64(): _Reader("numbers", "a number", _read_number, _NUMBERS),
}
