"""The rules that ticks must keep, each with its message, in one place: for `check`, `expected` and `run` alike.

They are looked at a batch at a time, all rows at once; what a clean batch costs is a few passes over its numbers.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pairs.core.errors import BadInputError
from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED, SYMBOL_BYTES

LATEST_TS = 2**53 - 1  # ms; what is later has no exact place in a double, nor in a strategy set
MOST_SHOWN = 5  # rows that break the same rule
_STAND_IN = 1  # for a price or size that is none, so that the other values of the row can be looked at

Mask = NDArray[np.bool_]


@dataclass(frozen=True, order=True)
class Problem:
    """What is wrong with a tick file, or with a row of it."""

    row: int  # from 0; -1 if it is about the file
    rule: int  # by which rules come at the same row
    text: str

    def said_of(self, path: Path) -> str:
        """Return the message."""
        return f"{path}: {self.text}" if self.row < 0 else f"{path}: row {self.row + 1:,}: {self.text}"

    def refusal(self, path: Path) -> BadInputError:
        """Return the error that refuses a dataset because of it."""
        return BadInputError(self.said_of(path))


@dataclass(frozen=True)
class Broken:
    """Rows that break a rule: the first of them, with what is said of each, and how many there are."""

    rule: int
    rows: tuple[int, ...]
    texts: tuple[str, ...]
    count: int

    def at(self, rows: Iterable[int]) -> "Broken":
        """Return the same with the rows' places in the file."""
        return replace(self, rows=tuple(rows))

    def problems(self) -> list[Problem]:
        """Return a problem for each of the first rows."""
        return [Problem(row, self.rule, text) for row, text in zip(self.rows, self.texts, strict=True)]


def first_problem(broken: list[Broken]) -> Problem:
    """Return the first problem of the first row that breaks a rule."""
    return min(problem for one in broken for problem in one.problems())


def wrong_rows(rows: list[int], texts: list[str]) -> list[Broken]:
    """Return the rows that a file holds and that are none; nothing if there are none of them."""
    return [Broken(ROW, tuple(rows[:MOST_SHOWN]), tuple(texts[:MOST_SHOWN]), len(rows))] if rows else []


def _broken(rule: int, mask: Mask, say: Callable[[int], str]) -> Iterator[Broken]:
    rows = np.flatnonzero(mask)
    if len(rows):
        first = tuple(rows[:MOST_SHOWN].tolist())
        yield Broken(rule, first, tuple(map(say, first)), len(rows))


ROW, VALUE, SYMBOL, PRICE, SIZE, TIME = range(6)  # the rules, in the order in which a row is looked at

_WANTED = {
    "price": "prices are whole cents above zero",
    "size": "sizes are whole numbers above zero",
    "tickTS": "times are whole milliseconds from zero",
}


def refuse_types(schema: pa.Schema) -> None:
    """Refuse columns that hold something else than text and whole numbers."""
    for name in STOCK_TICK.names:
        kind = schema.field(name).type
        wanted, is_it = ("text", _is_text) if name == "symbol" else ("whole numbers", pa.types.is_integer)
        if not is_it(kind):
            raise ValueError(f"column {name!r} holds {kind} and not {wanted}")


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(is_it(kind) for is_it in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def as_ticks(raw: pa.RecordBatch) -> tuple[pa.RecordBatch, list[Broken]]:
    """Convert a batch as a file holds it to ticks; where a value is none, another one stands in for it."""
    try:
        ticks = raw.cast(STOCK_TICK_CODED)
        if not any(column.null_count for column in ticks.columns):
            return ticks, []
    except ValueError:
        pass  # a text that is no number, a number that does not fit, or none at all
    broken: list[Broken] = []
    columns = []
    for field in STOCK_TICK_CODED:
        column, found = _converted(raw[field.name], field)
        columns.append(column)
        broken += found
    return pa.record_batch(columns, schema=STOCK_TICK_CODED), broken


def _converted(raw: pa.Array, field: pa.Field) -> tuple[pa.Array, list[Broken]]:
    """Convert a column in which something is wrong."""
    if field.name == "symbol":
        missing = _mask(raw.is_null())
        names = raw.cast(pa.string())
        stand_in = "-" if missing.all() else names.drop_null()[0]
        found = list(_broken(VALUE, missing, lambda _: "no symbol; every tick has one"))
        return names.fill_null(stand_in).dictionary_encode().cast(field.type), found
    is_text = pa.types.is_string(raw.type)  # as in CSV, where nothing is null
    missing = _mask(pc.equal(raw, "") if is_text else raw.is_null())
    usable = pc.match_substring_regex(raw, r"^-?\d{1,18}$") if is_text else raw.is_valid()
    plain = pc.if_else(usable, raw, pa.scalar("0" if is_text else 0, raw.type))
    values = plain.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False, writable=True)
    bad = ~_mask(usable) | (values.astype(field.type.to_pandas_dtype()) != values)

    def say(row: int) -> str:
        if missing[row]:
            return f"no {field.name}; every tick has one"
        bits = field.type.bit_width
        return f"{field.name} {raw[row].as_py()!r} is no whole number of {bits} bits; {_WANTED[field.name]}"

    return pa.array(_with_stand_ins(values, bad, field.name), field.type), list(_broken(VALUE, bad, say))


def _mask(values: pa.Array) -> Mask:
    mask: Mask = values.to_numpy(zero_copy_only=False).astype(bool)
    return mask


def _with_stand_ins(values: NDArray[np.int64], bad: Mask, name: str) -> NDArray[np.int64]:
    """Put other values where there are none: a time takes that of the row before, so that it breaks no order."""
    if name != "tickTS":
        values[bad] = _STAND_IN
        return values
    first = int(np.argmin(bad))
    rows = np.maximum.accumulate(np.where(bad, first, np.arange(len(bad))))
    return values[rows]


class TickRules:
    """Looks at consecutive batches of ticks, and remembers what the next one follows."""

    def __init__(self, known: Collection[str] | None = None) -> None:
        self.last_ts: int | None = None
        self._begins_file = True
        self._known = known
        self._names: pa.Array | None = None
        self._wrong_names: dict[int, str] = {}

    def begin_file(self) -> None:
        """Say that the next batch is the first of a file."""
        self._begins_file = True

    def broken_by(self, ticks: pa.RecordBatch) -> list[Broken]:
        """Return what is wrong with the next batch."""
        price, size, tick_ts = (ticks[name].to_numpy() for name in ("price", "size", "tickTS"))
        wrong_names = self._names_wrong_in(ticks["symbol"].dictionary)
        steps = np.diff(tick_ts, prepend=tick_ts[:1] if self.last_ts is None else self.last_ts)
        begins_file = self._begins_file
        if len(tick_ts):
            self.last_ts, self._begins_file = int(tick_ts[-1]), False
        in_order = steps.min(initial=0) >= 0 and (not len(steps) or (tick_ts[0] >= 0 and tick_ts[-1] <= LATEST_TS))
        if in_order and price.min(initial=1) > 0 and size.min(initial=1) > 0 and not wrong_names:
            return []
        symbol = ticks["symbol"].indices.to_numpy()
        return [
            *_broken(SYMBOL, np.isin(symbol, list(wrong_names)), lambda row: wrong_names[int(symbol[row])]),
            *_broken(PRICE, price <= 0, lambda row: f"price {price[row]}; {_WANTED['price']}"),
            *_broken(SIZE, size <= 0, lambda row: f"size {size[row]}; {_WANTED['size']}"),
            *_broken(
                TIME, (tick_ts < 0) | (tick_ts > LATEST_TS), lambda row: f"tickTS {tick_ts[row]}; {_WANTED['tickTS']}"
            ),
            *_broken(
                TIME,
                steps < 0,
                lambda row: out_of_order(tick_ts[row], tick_ts[row] - steps[row], begins_file and row == 0),
            ),
        ]

    def _names_wrong_in(self, names: pa.Array) -> dict[int, str]:
        """Return what is wrong with the names of a dictionary, by their places; it often is the one before again."""
        if self._names is None or not names.equals(self._names):
            said = {place: wrong_with_symbol(name, self._known) for place, name in enumerate(names.to_pylist())}
            self._names = names
            self._wrong_names = {place: text for place, text in said.items() if text}
        return self._wrong_names


def wrong_with_symbol(name: str, known: Collection[str] | None = None) -> str | None:
    """Say what is wrong with a symbol, if anything is."""
    if not name:
        return "empty symbol; every tick has one"
    if len(name.encode()) > SYMBOL_BYTES:
        return f"symbol {name!r} is longer than {SYMBOL_BYTES} bytes, which the tick log holds; shorten it"
    if "\0" in name:
        return f"symbol {name!r} holds a zero byte, which ends it in the tick log; remove it"
    if known is not None and name not in known:
        return f"unknown symbol {name!r}; dataset.json does not know it"
    return None


def out_of_order(tick_ts: int, after_ts: int, begins_file: bool) -> str:
    """Say that time runs backwards, inside a file or from one to the next."""
    remedy = "the order of the files' names must be the order of time" if begins_file else "sort by time"
    return f"tickTS {tick_ts} after {after_ts}; {remedy}"
