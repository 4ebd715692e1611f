"""Answers as lines of text: what a program in any language can send to the sink, without Arrow.

A line is an answer: the name of its stream and its values in the order of the stream's columns, separated by tabs, in
UTF-8, ended by a newline. Lines are not numbered and get no receipt: what is sent twice is there twice.
"""

import time
from collections.abc import Iterator
from io import BufferedReader

import pyarrow as pa

from pairs.model.streams import STREAMS
from pairs.transport.answers import MAGIC

_MOST_LINE_BYTES = 4_096
_READ_BYTES = 1 << 16
_WANTED = {pa.int64(): "a whole number", pa.float64(): "a number"}

Streams = dict[str, pa.Table]


class InvalidLineError(ValueError):
    """A line that is not an answer; if it names a stream, it counts as a wrong answer there."""

    def __init__(self, problem: str, stream: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.stream, self.line = problem, stream, 0

    def __str__(self) -> str:
        return f"line {self.line:,}: {self.problem}"


def are_lines(first_bytes: bytes) -> bool:
    """Tell by the first bytes of a connection whether it sends lines, and not batches."""
    return not MAGIC.startswith(first_bytes[: len(MAGIC)])


def receive_lines(source: BufferedReader) -> Iterator[tuple[Streams, int]]:
    """Yield the answers that arrive together, and when, us of wall time; the first invalid line ends it."""
    rest, lines_before = b"", 0
    while chunk := source.read1(_READ_BYTES):
        arrived_us = time.time_ns() // 1000
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            lines = whole.split(b"\n")
            streams, invalid = _parse(lines)
            if streams:
                yield streams, arrived_us
            if invalid is not None:
                invalid.line += lines_before
                raise invalid
            lines_before += len(lines)
        if len(rest) > _MOST_LINE_BYTES:
            raise _at(lines_before + 1, _too_long())
    if rest:
        raise _at(lines_before + 1, InvalidLineError("is cut off, as it does not end with a newline"))


def _too_long() -> InvalidLineError:
    return InvalidLineError(f"has more than {_MOST_LINE_BYTES:,} bytes")


def _at(line: int, invalid: InvalidLineError) -> InvalidLineError:
    invalid.line = line
    return invalid


def _parse(lines: list[bytes]) -> tuple[Streams, InvalidLineError | None]:
    """Return the answers of some lines, and the first invalid line, from which on nothing is parsed."""
    try:
        return _tables(lines), None
    except InvalidLineError:
        for place, line in enumerate(lines):
            try:
                _tables([line])
            except InvalidLineError as error:
                return _tables(lines[:place]), _at(place + 1, error)
        raise


def _tables(lines: list[bytes]) -> Streams:
    """Parse lines, all at once; the error names a line only if there is no other."""
    rows: dict[str, list[list[str]]] = {}
    for line in lines:
        if len(line) > _MOST_LINE_BYTES:
            raise _too_long()
        try:
            stream, *values = line.decode().split("\t")
        except UnicodeDecodeError:
            raise InvalidLineError("is not UTF-8") from None
        rows.setdefault(stream, []).append(values)
    return {stream: answers_table(stream, found) for stream, found in rows.items()}


def answers_table(stream: str, rows: list[list[str]]) -> pa.Table:
    """Return answers by the texts of their columns; the error names a row only if there is no other."""
    if stream not in STREAMS:
        raise InvalidLineError(f"{stream[:40]!r} is not a stream; give one of {', '.join(STREAMS)}, then a tab")
    schema = STREAMS[stream].schema
    for row in rows:
        if len(row) != len(schema):
            wanted = f"{len(schema)} for {', '.join(schema.names)}"
            raise InvalidLineError(f"has {len(row)} values after the stream, not {wanted}", stream)
    columns = zip(schema, zip(*rows, strict=True) if rows else [()] * len(schema), strict=True)
    return pa.table([_column(stream, field, values) for field, values in columns], schema=schema)


def _column(stream: str, field: pa.Field, values: tuple[str, ...]) -> pa.Array:
    try:
        return pa.array(values, pa.string()).cast(field.type)
    except pa.ArrowInvalid:
        raise InvalidLineError(f"{field.name} is {values[0][:40]!r}, not {_WANTED[field.type]}", stream) from None
