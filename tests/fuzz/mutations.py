"""Makes hostile files of valid ones: changes bytes, words, lines, JSON, TOML and Parquet, each by its structure."""

import gzip
import io
import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.fuzz.values import CELLS, JSON_VALUES, MARKS, NUMBERS, TEXTS

Files = Mapping[str, bytes]  # by name, below the folder that a reader is given
Mutate = Callable[[DrawFn, bytes], bytes]

_WORD = re.compile(rb"[^\s\"'<>=,:;{}\[\]]+")
_STEPS = (1, 1, 1, 2, 3)  # one change is found out most often, several hide each other
_LONG = 200_000  # bytes of what is repeated
_FEW, _MANY = 100, 70_000  # rows; many are more than any reader takes at a time

TYPES = (
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(4), pa.bool_(), pa.null()),
    *(pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(38, 9)),
    *(pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ms", "Asia/Kathmandu")),
    *(pa.date32(), pa.date64(), pa.time64("ns"), pa.duration("us"), pa.dictionary(pa.int8(), pa.string())),
    *(pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64())),
)


@st.composite
def hostile_files(draw: DrawFn, valid: Files, chosen: Collection[str] = ()) -> Files:
    """Change one file of some, or of those that are `chosen`."""
    name = draw(st.sampled_from(sorted(chosen or valid)))
    content = valid[name]
    kinds = [*_STRUCTURED.get(name.rpartition(".")[2], ()), _changed_bytes]
    steps = draw(st.sampled_from(_STEPS))
    places = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=steps, max_size=steps))
    for place in sorted(places):  # bytes last, so that nothing hostile is parsed here
        content = kinds[place](draw, content)
    return {**valid, name: content}


def _place(draw: DrawFn, length: int) -> int:
    """Draw a position; the ends of a file are as likely as all the rest, as headers and footers are there."""
    near_end = draw(st.booleans())
    return max(0, length - draw(st.integers(0, 400))) if near_end else draw(st.integers(0, max(length, 0)))


def _changed_bytes(draw: DrawFn, content: bytes) -> bytes:
    first, second = sorted((_place(draw, len(content)), _place(draw, len(content))))
    kind = draw(st.sampled_from(_BYTE_KINDS))
    return kind(draw, content, first, second)


def _often(content: bytes) -> bytes:
    return content * (_LONG // (len(content) or 1))


def _flip(draw: DrawFn, content: bytes, first: int, _: int) -> bytes:
    flipped = bytes([content[first] ^ (1 << draw(st.integers(0, 7)))]) if first < len(content) else b"\1"
    return content[:first] + flipped + content[first + 1 :]


def _overwrite(draw: DrawFn, content: bytes, first: int, _: int) -> bytes:
    new = draw(st.sampled_from(MARKS) | st.binary(max_size=16))
    return content[:first] + new + content[first + len(new) :]


def _insert(draw: DrawFn, content: bytes, first: int, _: int) -> bytes:
    return content[:first] + draw(st.sampled_from(MARKS) | st.binary(max_size=64)) + content[first:]


_BYTE_KINDS: tuple[Callable[[DrawFn, bytes, int, int], bytes], ...] = (
    *(_flip, _flip, _overwrite, _overwrite, _insert, _insert),
    lambda draw, content, first, second: content[:first],
    lambda draw, content, first, second: content[first:],
    lambda draw, content, first, second: content[:first] + content[second:],
    lambda draw, content, first, second: content[:second] + content[first:],  # some of it twice
    lambda draw, content, first, second: content[second:] + content[:first],
    lambda draw, content, first, second: content[:first] + _often(content[first:second]) + content[second:],
    lambda draw, content, first, second: draw(st.binary(max_size=200)),
    lambda draw, content, first, second: gzip.compress(content, 1),
    lambda draw, content, first, second: gzip.compress(content, 1)[:-6],
    lambda draw, content, first, second: content.decode("utf-8", "replace").encode("utf-16"),
    lambda draw, content, first, second: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"),
    lambda draw, content, first, second: content.replace(b"\n", b"\r"),
)


def _changed_words(draw: DrawFn, content: bytes) -> bytes:
    """Replace a word, a number perhaps, by another."""
    words = list(_WORD.finditer(content[:_LONG]))
    if not words:
        return content
    word = words[draw(st.integers(0, len(words) - 1))]
    other = words[draw(st.integers(0, len(words) - 1))].group().decode("utf-8", "replace")
    new = draw(st.sampled_from((*NUMBERS, *TEXTS, other)))
    return content[: word.start()] + new.encode() + content[word.end() :]


def _changed_lines(draw: DrawFn, content: bytes) -> bytes:
    """Remove a line, empty it, put another in its place, or repeat it: as many lines, or as one that is long."""
    lines = content.splitlines(keepends=True) or [b""]
    place, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    many, long = _often(lines[place]), _often(lines[place].rstrip())
    new = draw(st.sampled_from([b"", b"\n", lines[other] * 2, many, long]))
    return b"".join([*lines[:place], new, *lines[place + 1 :]])


def _changed_json(draw: DrawFn, content: bytes) -> bytes:
    with suppress(ValueError, RecursionError):
        return json.dumps(_changed_tree(draw, json.loads(content), JSON_VALUES)).encode()
    return content


def _changed_json_lines(draw: DrawFn, content: bytes) -> bytes:
    lines = content.splitlines()
    place = draw(st.integers(0, len(lines))) if lines else 0
    return b"\n".join(
        [*lines[:place], *(_changed_json(draw, line) for line in lines[place : place + 1]), *lines[place + 1 :]]
    )


def _changed_toml(draw: DrawFn, content: bytes) -> bytes:
    values = [value for value in JSON_VALUES if value is not None and value != [None]]
    with suppress(ValueError, RecursionError, TypeError, AttributeError):
        return tomli_w.dumps(_changed_tree(draw, tomllib.loads(content.decode()), values)).encode()
    return content


def _changed_tree(draw: DrawFn, tree: Any, values: Collection[Any]) -> Any:
    """Replace, remove, rename or wrap a value somewhere in a tree of lists and tables."""
    places = list(_places(tree))
    if not places:
        return draw(st.sampled_from(list(values)))
    parent, key = places[draw(st.integers(0, len(places) - 1))]
    kind = draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename", "wrap", "copy"]))
    if kind == "replace":
        parent[key] = draw(st.sampled_from(list(values)))
    elif kind == "wrap":
        parent[key] = draw(st.sampled_from([[parent[key]], {"a": parent[key]}, [parent[key]] * 3]))
    elif kind == "copy":
        other, other_key = places[draw(st.integers(0, len(places) - 1))]
        parent[key] = json.loads(json.dumps(other.get(other_key) if isinstance(other, dict) else None))
    else:
        value = parent.pop(key)
        if kind == "rename" and isinstance(parent, dict):
            parent[draw(st.sampled_from(["", "x", f"{key}s", "\n", "A" * 300]))] = value
    return tree


def _places(tree: Any) -> Any:
    """Yield each table or list of a tree with each of its keys."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key
        yield from _places(value)


def _changed_parquet(draw: DrawFn, content: bytes) -> bytes:
    """Change columns of a table; write it in some way or other."""
    with suppress(pa.ArrowException, ValueError, TypeError, OverflowError):  # not everything can be taken or written
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        for _ in range(draw(st.integers(0, 2)) if table.num_columns else 0):
            table = draw(st.sampled_from(_TABLE_KINDS))(draw, table, draw(st.integers(0, table.num_columns - 1)))
        return _written(draw, table)
    return content


def _written(draw: DrawFn, table: pa.Table) -> bytes:
    target = io.BytesIO()
    pq.write_table(
        table,
        target,
        row_group_size=draw(st.sampled_from([1, 7, 1_000])) if len(table) < _FEW else _MANY,
        compression=draw(st.sampled_from(["none", "snappy", "gzip", "zstd"])),
        data_page_version=draw(st.sampled_from(["1.0", "2.0"])),
        use_dictionary=draw(st.booleans()),
        store_schema=draw(st.booleans()),
    )
    return target.getvalue()


def _column_of(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Make a column of any values; those that do not fit are null."""
    with suppress(pa.ArrowException, ValueError, TypeError, OverflowError):
        return pa.array(values, kind)
    made = []
    for value in values:
        try:
            made.append(pa.scalar(value, kind).as_py())
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            made.append(None)
    return pa.array(made, kind)


def _other_type(draw: DrawFn, table: pa.Table, place: int) -> pa.Table:
    kind, values = draw(st.sampled_from(TYPES)), table.column(place).to_pylist()
    filling = draw(st.sampled_from(CELLS))
    as_text = [None if value is None else str(value) for value in values]
    for cells in (values, as_text, [filling] * len(values)):
        with suppress(pa.ArrowException, ValueError, TypeError, OverflowError):
            return table.set_column(place, table.column_names[place], pa.array(cells, kind))
    return table.set_column(place, table.column_names[place], pa.nulls(len(table), kind))


def _other_cell(draw: DrawFn, table: pa.Table, place: int) -> pa.Table:
    values = table.column(place).to_pylist() or [None]
    values[draw(st.integers(0, len(values) - 1))] = draw(st.sampled_from(CELLS))
    column = _column_of(values[: len(table)], table.schema.field(place).type)
    return table.set_column(place, table.column_names[place], column)


def _renamed(draw: DrawFn, table: pa.Table, place: int) -> pa.Table:
    names = table.column_names
    names[place] = draw(st.sampled_from(["", "x", "a.b", names[place].upper(), names[0], "\n", "\U0001f4a5"]))
    return table.rename_columns(names)


def _repeated(draw: DrawFn, table: pa.Table, place: int) -> pa.Table:
    """Take one row many times: a file of some kilobytes, as equal values are written once."""
    row = table.slice(draw(st.integers(0, max(len(table) - 1, 0))), 1)
    return row.take(pa.array([0] * draw(st.sampled_from([1_000, _MANY])))) if len(row) else table


_TABLE_KINDS: tuple[Callable[[DrawFn, pa.Table, int], pa.Table], ...] = (
    *(_other_type, _other_type, _other_cell, _other_cell, _other_cell, _renamed, _repeated),
    lambda draw, table, place: table.remove_column(place),
    lambda draw, table, place: table.append_column(table.field(place), table.column(place)),
    lambda draw, table, place: table.slice(0, 0),
    lambda draw, table, place: pa.table(table.columns[::-1], table.column_names[::-1]),
)

_WORDS_AND_LINES: tuple[Mutate, ...] = (_changed_words, _changed_words, _changed_lines)
_STRUCTURED: dict[str, tuple[Mutate, ...]] = {
    "csv": _WORDS_AND_LINES,
    "xml": _WORDS_AND_LINES,
    "toml": (_changed_toml, _changed_toml, *_WORDS_AND_LINES),
    "json": (_changed_json, _changed_json, _changed_json, _changed_words),
    "jsonl": (_changed_json_lines, _changed_json_lines, _changed_words),
    "virtual": (_changed_json, _changed_json, _changed_words),
    "parquet": (_changed_parquet, _changed_parquet),
}
