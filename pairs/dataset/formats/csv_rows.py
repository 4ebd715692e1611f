"""Reads CSV of any origin, in blocks of whole rows; a row that cannot be read is reported with its line.

UTF-8 with or without a byte order mark, lines that end with LF, CRLF or CR, plain or compressed. Arrow reads the blocks
in which every line is a row of the wanted types; what it cannot read so, Python's csv module reads line by line. Both
take a line for the same values. A value in quotes may contain line ends, but only in a row that is whole; otherwise the
line where its quote opens is an invalid row, and the next line is a row again.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from pairs.core.units import counted
from pairs.dataset.formats.base import SkippedRow, StoredRows, refuse_missing

_LONGEST_LINE = 1_048_576  # bytes; a file is read in blocks of as many
_LONGEST_SPAN = 65_536  # characters of a row of several lines
_MOST_HEADER_LINES = 100  # blank lines before the header included
_MAX_SHOWN = 40  # characters of a row in a message
_BOM = b"\xef\xbb\xbf"
_COMPRESSED = {
    "gzip": rb"\x1f\x8b\x08",
    "bz2": rb"BZh[1-9]1AY&SY",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "lz4": rb"\x04\x22\x4d\x18",
}
_NOT_CLOSED = "a quote is not closed"

csv.field_size_limit(_LONGEST_LINE)  # as long as a line; the module's own limit is lower

Types = Mapping[str, pa.DataType]  # of the wanted columns, by name


def csv_rows(path: Path, types: Types) -> Iterator[StoredRows]:
    """Yield the rows of a file, with values of these types or, in blocks where one does not convert, as text.

    A dictionary type is of text, and stays. Raises ValueError or the library's error if the file is not such a table.
    """
    with _opened(path) as source:
        blocks = _blocks_of_lines(source)
        header, beginning, line = _header(next(blocks, b""))
        refuse_missing(list(types), header)
        table = _Table(header, types, line)
        yield from table.read(_resumed(beginning, blocks, table))


def csv_header(path: Path) -> list[str]:
    """Return the names of the columns of a file."""
    with _opened(path) as source:
        return _header(next(_blocks_of_lines(source), b""))[0]


@contextmanager
def _opened(path: Path) -> Iterator[pa.NativeFile]:
    """Open a file that may be compressed; by its first bytes, as names are often wrong about that."""
    with path.open("rb") as source:
        beginning = source.read(16)
    compression = next((name for name, mark in _COMPRESSED.items() if re.match(mark, beginning)), None)
    with pa.input_stream(str(path), compression=compression) as stream:
        yield stream


def _blocks_of_lines(source: pa.NativeFile) -> Iterator[bytes | None]:
    """Yield blocks of whole lines that end with LF, and None for a line that is too long."""
    partial, only_cr = b"", False
    first = source.read(_LONGEST_LINE).removeprefix(_BOM)
    if found := re.search(rb"\r?\n|\r", first):
        only_cr = found[0] == b"\r"
    data = first
    while data:
        data = data.replace(b"\r", b"\n") if only_cr else data
        first_end, last_end = data.find(b"\n") + 1, data.rfind(b"\n") + 1
        if not first_end:
            partial = (partial + data)[: _LONGEST_LINE + 1]
        else:
            is_long = len(partial) + first_end > _LONGEST_LINE
            if is_long:
                yield None
            if block := data[first_end:last_end] if is_long else partial + data[:last_end]:
                yield block
            partial = data[last_end:]
        data = source.read(_LONGEST_LINE)
    if partial:
        yield None if len(partial) >= _LONGEST_LINE else partial + b"\n"


def _header(block: bytes | None) -> tuple[list[str], bytes, int]:
    """Return the names in the first row that is not blank, the bytes after it, and the number of the next line."""
    if block is None:
        raise ValueError(f"its first line has more than {_LONGEST_LINE:,} bytes")
    lines = block.split(b"\n", _MOST_HEADER_LINES)[:-1]
    if block.startswith((b"\xff\xfe", b"\xfe\xff")) or any(b"\0" in line for line in lines[:1]):
        raise ValueError("not UTF-8 text but UTF-16 or binary; save it as UTF-8")
    reader = csv.reader((line.decode("utf-8", "replace") + "\n" for line in lines), skipinitialspace=True)
    try:
        names = [name.strip() for name in next(filter(None, reader), [])]
    except csv.Error:
        raise ValueError("its header has a carriage return inside") from None
    if len(names) == 1 and (other := re.search(r"[;\t|]", names[0])):
        raise ValueError(f"its header is separated by {other[0]!r}; separate values by commas")
    used = sum(len(line) + 1 for line in lines[: reader.line_num])
    return names, block[used:], 1 + reader.line_num


def _resumed(beginning: bytes, blocks: Iterator[bytes | None], table: "_Table") -> Iterator[bytes | None]:
    """Yield the blocks after the header; say after which line a file is damaged."""
    if beginning:
        yield beginning
    try:
        yield from blocks
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"damaged or cut off after line {table.next_line - 1:,}: {reason}") from None


class _Table:
    """Reads consecutive blocks of lines as rows."""

    def __init__(self, header: Sequence[str], types: Types, next_line: int) -> None:
        self.next_line = next_line
        self._next_row = 0
        self._header = header
        self._names = list(types)
        self._places = [header.index(name) for name in types]
        as_text = {name: kind if pa.types.is_dictionary(kind) else pa.string() for name, kind in types.items()}
        self._text_types = list(as_text.values())
        self._convert_options = [
            self._converting(wanted) for wanted in ([types] if types == as_text else [types, as_text])
        ]
        self._read_options = pa_csv.ReadOptions(
            use_threads=False,  # as fast with one, by blocks of this size
            block_size=4 * _LONGEST_LINE,  # more than a block has
            column_names=[str(place) for place in range(len(header))],
        )

    def _converting(self, types: Types) -> pa_csv.ConvertOptions:
        columns = {str(place): kind for place, kind in zip(self._places, types.values(), strict=True)}
        return pa_csv.ConvertOptions(column_types=columns, include_columns=list(columns), null_values=[])

    def read(self, blocks: Iterable[bytes | None]) -> Iterator[StoredRows]:
        held = b""  # lines of a row that may go on in the next block
        for block in blocks:
            if block is None:
                yield from self._read_lines(held, is_last=True)[0]
                yield self._too_long()
                held = b""
            elif (batch := self._read_by_arrow(held + block)) is not None:
                yield self._placed(batch)
                held = b""
            else:
                found, held = self._read_lines(held + block)
                yield from found
        yield from self._read_lines(held, is_last=True)[0]

    def _read_by_arrow(self, block: bytes) -> pa.RecordBatch | None:
        """Return the rows of a block; None if they are not its lines, one by one."""
        if not _may_be_plain(block):
            return None
        for options in self._convert_options:
            try:
                with pa_csv.open_csv(pa.BufferReader(block), self._read_options, convert_options=options) as source:
                    batches = list(source)
            except pa.ArrowInvalid:
                continue
            if len(batches) != 1 or len(batches[0]) != _count(block, b"\n"):
                return None
            return batches[0].rename_columns(self._names)
        return None

    def _placed(self, batch: pa.RecordBatch) -> StoredRows:
        """Return rows of a line each, which follow what was read."""
        row, line, count = self._next_row, self.next_line, len(batch)
        self._next_row, self.next_line = row + count, line + count
        return StoredRows(batch, range(row, row + count), range(line, line + count))

    def _read_lines(self, block: bytes, is_last: bool = False) -> tuple[list[StoredRows], bytes]:
        """Return the rows of a block, and its last lines if they are of a row that may go on in the next block."""
        lines = [line + "\n" for line in block.decode("utf-8", "surrogateescape").split("\n")[:-1]]
        kept: list[list[str]] = []
        rows: list[int] = []
        line_numbers: list[int] = []
        skipped: list[SkippedRow] = []
        at = 0
        while at < len(lines):
            found, span = _row_at(lines, at, len(self._header), is_last)
            if not span:
                break
            values = self._wanted(found) if isinstance(found, list) and found else found
            if isinstance(values, str):
                skipped.append(SkippedRow(self._next_row, self.next_line, f"{values}: {_shown(lines[at])}"))
            elif values:
                kept.append(values)
                rows.append(self._next_row)
                line_numbers.append(self.next_line)
            self._next_row += bool(values)
            self.next_line += span
            at += span
        rest = "".join(lines[at:]).encode("utf-8", "surrogateescape")
        return [StoredRows(self._as_batch(kept), rows, line_numbers, skipped)] if kept or skipped else [], rest

    def _wanted(self, values: list[str]) -> list[str] | str:
        """Return the values of the wanted columns, or what is wrong with the row."""
        if len(values) != len(self._header):
            return f"{counted(len(values), 'value')} for {counted(len(self._header), 'column')}"
        wanted = [values[place] for place in self._places]
        invalid = [name for name, value in zip(self._names, wanted, strict=True) if not _is_unicode(value)]
        return f"{invalid[0]} is not UTF-8" if invalid else wanted

    def _as_batch(self, rows: list[list[str]]) -> pa.RecordBatch:
        columns = zip(*rows, strict=True) if rows else [[]] * len(self._names)
        texts = (pa.array(column, pa.string()) for column in columns)
        return pa.record_batch(
            [text.cast(kind) for text, kind in zip(texts, self._text_types, strict=True)], self._names
        )

    def _too_long(self) -> StoredRows:
        problem = f"a line of more than {_LONGEST_LINE:,} bytes"
        skipped = SkippedRow(self._next_row, self.next_line, problem)
        self._next_row, self.next_line = self._next_row + 1, self.next_line + 1
        return StoredRows(self._as_batch([]), (), (), (skipped,))


def _may_be_plain(block: bytes) -> bool:
    """Return whether Arrow may take each line for a row: no CR but at line ends, no quote open at the end."""
    if block.startswith(_BOM) or (b"\r" in block and _count(block, b"\r") != block.count(b"\r\n")):
        return False
    last_line = block[block.rfind(b"\n", 0, -1) + 1 :]
    if b'"' not in last_line:
        return True
    alone = csv.reader((last_line.decode("utf-8", "surrogateescape"), ""))
    next(alone)
    return not _is_open(alone)


def _count(block: bytes, character: bytes) -> int:
    """Count a frequent character, several times as fast as bytes.count."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord(character)))


def _is_open(alone: Any) -> bool:
    """Return whether a reader that was given a line and an empty one needed both, as a quote was open."""
    return bool(alone.line_num > 1)


def _row_at(lines: list[str], at: int, width: int, is_last: bool) -> tuple[list[str] | str, int]:
    """Return the values of the row that begins at a line, or what is wrong with it, and how many lines it has.

    It has no line if it may go on in the next block.
    """
    alone = csv.reader((lines[at], ""))
    try:
        values = next(alone)
    except csv.Error:
        return "a carriage return inside the line", 1
    if not _is_open(alone):
        return values, 1
    within = _span(lines, at)
    reader = csv.reader(within, strict=True)
    try:
        values = next(reader)
    except csv.Error:
        may_go_on = not is_last and reader.line_num == len(within) == len(lines) - at
        return _NOT_CLOSED, 0 if may_go_on else 1
    return (values, reader.line_num) if len(values) == width else (_NOT_CLOSED, 1)


def _span(lines: list[str], at: int) -> list[str]:
    """Return the lines that a row may have, from the one it begins at."""
    length = len(lines[at])
    for end in range(at + 1, len(lines)):
        length += len(lines[end])
        if length > _LONGEST_SPAN:
            return lines[at:end]
    return lines[at:]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(line: str) -> str:
    text = line.rstrip("\r\n").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return repr(text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "...")
