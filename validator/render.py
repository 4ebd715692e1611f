"""What the validator says on the terminal: the counts, the verdict, incorrect answers side by side, first errors."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pairs.core.units import show_duration
from pairs.validator.validation import FirstError, StreamResult, Validation

_COUNTS = {
    "validator": "validator answers",
    "sut": "SUT answers",
    "correct": "correct answers",
    "missing": "missing answers",
    "undue": "undue answers",
    "duplicates": "  duplicates among them",
    "wrong": "wrong answers",
}
_VALUES = ("ratio", "avgRatio", "upperBand", "lowerBand")


def plain(text: object) -> str:
    """Return a text that comes from data as it may be printed: no control characters."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in str(text))


def counts_report(validation: Validation) -> RenderableType:
    """Return the verdict and the counts of both streams."""
    table = _table("")
    for stream in validation.streams:
        table.add_column(stream, justify="right")
    for name, label in _COUNTS.items():
        cells = (getattr(one.counts, name) for one in validation.streams.values())
        table.add_row(label, *(f"{one:,}" for one in cells))
    verdict = Text(validation.verdict, style="bold green" if validation.passed else "bold red")
    return Group(Text.assemble("Validation result: ", verdict), table, *_remarks(validation))


def _remarks(validation: Validation) -> Iterator[Text]:
    for stream, result in validation.streams.items():
        if result.malformed:
            first = result.malformed_examples[0]
            yield Text(
                f"{result.malformed:,} rows of {stream} are no answers and count as undue; "
                f"the first: {first.file}:{first.line}: {plain(first.problem)}"
            )
        if result.unknown:
            name, answers = next(iter(result.unknown.items()))
            yield Text(
                f"undue {stream} of strategies that are not in the set: {sum(result.unknown.values()):,}, "
                f"of them {answers:,} of {plain(name)}"
            )


def first_errors_report(errors: list[FirstError], limit: int) -> RenderableType:
    """Return where the strategies first went wrong, the earliest ones."""
    table = _table("strategy", "first error", "inputTickTS", "what", "incorrect in all")
    for one in errors[:limit]:
        when = show_duration(one.inputTickTS // 1000 * 1000)
        table.add_row(
            plain(one.strategy), when, str(one.inputTickTS), f"{one.kind} {one.stream[:-1]}", f"{one.incorrect:,}"
        )
    heading = f"Where the {len(errors):,} strategies concerned first went wrong; later errors are mostly an echo"
    return Group(Text(heading), table, *_more(len(errors), limit))


def incorrect_report(stream: str, kind: str, result: StreamResult, rows: pa.Table, limit: int) -> RenderableType:
    """Return incorrect answers with both sides next to each other, the earliest ones."""
    shown = rows.slice(0, limit).to_pylist()
    table = _indicator_table(shown) if stream == "indicators" else _order_table(shown)
    malformed = result.malformed_examples[:limit] if kind == "undue" else []
    lines = [Text(f"{one.file}:{one.line}: no answer: {plain(one.problem)}") for one in malformed]
    return Group(Text(f"{len(rows):,} {kind} {stream}"), *([table] if shown else []), *_more(len(rows), limit), *lines)


def _order_table(rows: list[dict[str, Any]]) -> Table:
    sides = [f"{side}_{name}" for name in ("symbol", "price", "size") for side in ("val", "sut")]
    table = _table("strategy", "type", "inputTickTS", *sides)
    for row in rows:
        table.add_row(
            plain(row["strategy"]), plain(row["type"]), str(row["inputTickTS"]), *(_cell(row[one]) for one in sides)
        )
    return table


def _indicator_table(rows: list[dict[str, Any]]) -> Table:
    table = _table("strategy", "inputTickTS", "value", "validator", "SUT", "relative error")
    for row in rows:
        for number, name in enumerate(_VALUES):
            key = ["", ""] if number else [plain(row["strategy"]), str(row["inputTickTS"])]
            error = row.get(f"error_{name}")
            shown_error = "" if error is None else f"{error:.2g}"
            table.add_row(*key, name, _cell(row[f"val_{name}"]), _cell(row[f"sut_{name}"]), shown_error)
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def _cell(value: object) -> str:
    return "-" if value is None else plain(value)


def _more(count: int, limit: int) -> list[Text]:
    return [Text(f"... and {count - limit:,} more")] if count > limit else []
