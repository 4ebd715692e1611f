"""The rules for ticks, each with its message, in one place: `check`, `expected` and `run` share them.

They are evaluated batch by batch, all rows at once; a valid batch costs a few passes over its numbers.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pairs.model.tuples import STOCK_TICK, STOCK_TICK_CODED, SYMBOL_BYTES

LATEST_TS = 2**53 - 1  # ms; later times are not exact in a double
MAX_SHOWN = 5  # rows that break the same rule
_STAND_IN = 1  # for an invalid price or size, so that the other values of the row can be checked

Mask = NDArray[np.bool_]


@dataclass(frozen=True, order=True)
class Problem:
    """Something wrong with a tick file, or with a row of it."""

    row: int  # from 0; -1 if it is about the file
    rule: int  # orders the problems of a row
    text: str

    def message(self, path: Path) -> str:
        return f"{path}: {self.text}" if self.row < 0 else f"{path}: row {self.row + 1:,}: {self.text}"


@dataclass(frozen=True)
class Violation:
    """Rows that break a rule: the first of them with their messages, and how many there are."""

    rule: int
    rows: tuple[int, ...]
    texts: tuple[str, ...]
    count: int

    def problems(self) -> list[Problem]:
        return [Problem(row, self.rule, text) for row, text in zip(self.rows, self.texts, strict=True)]


def first_problem(violations: list[Violation]) -> Problem:
    return min(problem for violation in violations for problem in violation.problems())


def invalid_rows(texts: dict[int, str]) -> list[Violation]:
    """Return rows that cannot be read, given why by position, as one violation, or nothing."""
    return [Violation(ROW, tuple(texts)[:MAX_SHOWN], tuple(texts.values())[:MAX_SHOWN], len(texts))] if texts else []


def _violations(rule: int, mask: Mask, text_of: Callable[[int], str]) -> list[Violation]:
    rows = np.flatnonzero(mask)
    first = tuple(rows[:MAX_SHOWN].tolist())
    return [Violation(rule, first, tuple(map(text_of, first)), len(rows))] if first else []


ROW, VALUE, SYMBOL, PRICE, SIZE, TIME = range(6)  # the rules, in the order of checking

_WANTED = {
    "price": "prices are whole cents above zero",
    "size": "sizes are whole numbers above zero",
    "tickTS": "times are whole milliseconds from zero",
}


def refuse_types(schema: pa.Schema) -> None:
    """Refuse columns of other types than text and whole numbers."""
    for name in STOCK_TICK.names:
        kind = schema.field(name).type
        wanted, matches = ("text", _is_text) if name == "symbol" else ("whole numbers", pa.types.is_integer)
        if not matches(kind):
            raise ValueError(f"column {name!r} has type {kind}, not {wanted}")


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(matches(kind) for matches in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def as_ticks(raw: pa.RecordBatch) -> tuple[pa.RecordBatch, list[Violation]]:
    """Convert a batch as stored to ticks; an invalid value is replaced by a valid one and reported."""
    try:
        ticks = raw.cast(STOCK_TICK_CODED)
        if not any(column.null_count for column in ticks.columns):
            return ticks, []
    except ValueError:
        pass  # a text that is not a number, a number that does not fit, or a null
    converted = [_converted(raw[field.name], field) for field in STOCK_TICK_CODED]
    ticks = pa.record_batch([column for column, _ in converted], schema=STOCK_TICK_CODED)
    return ticks, [violation for _, violations in converted for violation in violations]


def _converted(raw: pa.Array, field: pa.Field) -> tuple[pa.Array, list[Violation]]:
    if field.name == "symbol":
        missing = _mask(raw.is_null())
        names = raw.cast(pa.string())
        stand_in = "-" if missing.all() else names.drop_null()[0]
        found = _violations(VALUE, missing, lambda _: "no symbol; every tick has a symbol")
        return names.fill_null(stand_in).dictionary_encode().cast(field.type), found
    is_text = pa.types.is_string(raw.type)  # as in CSV, where nothing is null
    missing = _mask(pc.equal(raw, "") if is_text else raw.is_null())
    usable = pc.match_substring_regex(raw, r"^-?\d{1,18}$") if is_text else raw.is_valid()
    plain = pc.if_else(usable, raw, pa.scalar("0" if is_text else 0, raw.type))
    values = plain.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False, writable=True)
    bad = ~_mask(usable) | (values.astype(field.type.to_pandas_dtype()) != values)

    def text_of(row: int) -> str:
        if missing[row]:
            return f"no {field.name}; every tick has a {field.name}"
        bits = field.type.bit_width
        return f"{field.name} {raw[row].as_py()!r} is not a whole number of {bits} bits; {_WANTED[field.name]}"

    return pa.array(_with_stand_ins(values, bad, field.name), field.type), _violations(VALUE, bad, text_of)


def _mask(values: pa.Array) -> Mask:
    mask: Mask = values.to_numpy(zero_copy_only=False).astype(bool)
    return mask


def _with_stand_ins(values: NDArray[np.int64], bad: Mask, name: str) -> NDArray[np.int64]:
    """Replace invalid values; a time by that of the row before, so that the order stays."""
    if name != "tickTS":
        values[bad] = _STAND_IN
        return values
    first = int(np.argmin(bad))
    rows = np.maximum.accumulate(np.where(bad, first, np.arange(len(bad))))
    return values[rows]


class TickRules:
    """Checks consecutive batches of ticks against the rules, and keeps the last time for the next batch."""

    def __init__(self, known: Collection[str] | None = None) -> None:
        self.begins_file = True  # whether the next batch is the first of a file
        self._last_ts: int | None = None
        self._known = known
        self._names: pa.Array | None = None
        self._invalid_names: dict[int, str] = {}

    def check(self, ticks: pa.RecordBatch) -> list[Violation]:
        price, size, tick_ts = (ticks[name].to_numpy() for name in ("price", "size", "tickTS"))
        invalid_names = self._invalid_names_in(ticks["symbol"].dictionary)
        steps = np.diff(tick_ts, prepend=tick_ts[:1] if self._last_ts is None else self._last_ts)
        begins_file = self.begins_file
        if len(tick_ts):
            self._last_ts, self.begins_file = int(tick_ts[-1]), False
        in_order = steps.min(initial=0) >= 0 and (not len(steps) or (tick_ts[0] >= 0 and tick_ts[-1] <= LATEST_TS))
        if in_order and price.min(initial=1) > 0 and size.min(initial=1) > 0 and not invalid_names:
            return []
        symbol = ticks["symbol"].indices.to_numpy()
        after, outside = tick_ts - steps, (tick_ts < 0) | (tick_ts > LATEST_TS)
        return [
            *_violations(SYMBOL, np.isin(symbol, list(invalid_names)), lambda row: invalid_names[int(symbol[row])]),
            *_violations(PRICE, price <= 0, lambda row: f"price {price[row]}; {_WANTED['price']}"),
            *_violations(SIZE, size <= 0, lambda row: f"size {size[row]}; {_WANTED['size']}"),
            *_violations(TIME, outside, lambda row: f"tickTS {tick_ts[row]}; {_WANTED['tickTS']}"),
            *_violations(TIME, steps < 0, lambda row: out_of_order(tick_ts[row], after[row], begins_file and row == 0)),
        ]

    def _invalid_names_in(self, names: pa.Array) -> dict[int, str]:
        """Return what is wrong with the names of a dictionary, by position; batches often share a dictionary."""
        if self._names is None or not names.equals(self._names):
            texts = {place: wrong_with_symbol(name, self._known) for place, name in enumerate(names.to_pylist())}
            self._names = names
            self._invalid_names = {place: text for place, text in texts.items() if text}
        return self._invalid_names


def wrong_with_symbol(name: str, known: Collection[str] | None = None) -> str | None:
    if not name:
        return "empty symbol; every tick has a symbol"
    if len(name.encode()) > SYMBOL_BYTES:
        return f"symbol {name!r} is longer than {SYMBOL_BYTES} bytes, the limit of the tick log; shorten it"
    if "\0" in name:
        return f"symbol {name!r} contains a zero byte, which ends it in the tick log; remove it"
    if known is not None and name not in known:
        return f"unknown symbol {name!r}; it is not a symbol of dataset.json"
    return None


def out_of_order(tick_ts: int, after_ts: int, begins_file: bool) -> str:
    """Return the message for time that runs backwards, inside a file or between files."""
    remedy = "the order of the files' names must be the order of time" if begins_file else "sort by time"
    return f"tickTS {tick_ts} after {after_ts}; {remedy}"
