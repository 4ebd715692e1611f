"""Prints a validation: the verdict, the counts, first errors, incorrect answers side by side."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from pairs.core.units import show_duration
from pairs.model.streams import INDICATORS, STREAMS
from pairs.run_folder.records import FirstError
from pairs.validator.knife_edges import knife_edge_remarks
from pairs.validator.validation import StreamResult, Validation

_COUNTS = {
    "validator": "validator answers",
    "sut": "SUT answers",
    "correct": "correct answers",
    "missing": "missing answers",
    "undue": "undue answers",
    "duplicates": "  duplicates among them",
    "wrong": "wrong answers",
}
_WIDE = 160
_VALUES = ("ratio", "avgRatio", "upperBand", "lowerBand")


def render_validation(validation: Validation, most_errors: int, strategy: str | None = None, hint: bool = True) -> None:
    """Print the verdict, the counts and the first errors, of all strategies or one."""
    console = _console()
    console.print(_counts(validation))
    if validation.passed:
        return
    errors = [error for error in validation.first_errors() if strategy in (None, error.strategy)]
    console.print("", _first_errors(errors, most_errors), sep="\n")
    if hint:
        print("\nto see the answers side by side, add --show missing, --show undue or --show wrong")


def render_incorrect(
    validation: Validation, kind: str, strategy: str | None, limit: int, files: Mapping[str, Path]
) -> None:
    """Print incorrect answers of a kind, and the files with all of them."""
    for stream, result in validation.streams.items():
        rows = result.listed(kind, strategy)
        _console().print("", _incorrect(stream, kind, result, rows, limit), sep="\n")
        if len(rows):
            print(f"all of them: {files[stream]}")


def _console() -> Console:
    return Console(width=_WIDE, soft_wrap=True, markup=False, highlight=False)


def plain(text: object) -> str:
    """Return a text from data without control characters."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(text))


def _counts(validation: Validation) -> RenderableType:
    table = _table("")
    for stream in validation.streams:
        table.add_column(stream, justify="right")
    for name, label in _COUNTS.items():
        cells = (getattr(result.counts, name) for result in validation.streams.values())
        table.add_row(label, *(f"{count:,}" for count in cells))
    verdict = Text(validation.verdict, style="bold green" if validation.passed else "bold red")
    wrong_columns = [
        Text(plain(wrong.sentence())) for result in validation.streams.values() for wrong in result.wrong_columns
    ]
    return Group(Text.assemble("Validation result: ", verdict), *wrong_columns, table, *_remarks(validation))


def _remarks(validation: Validation) -> Iterator[Text]:
    for stream, result in validation.streams.items():
        if result.malformed:
            first = result.malformed_examples[0]
            yield Text(
                f"{result.malformed:,} rows of {stream} are invalid and count as undue; "
                f"the first: {first.file}:{first.line}: {plain(first.problem)}"
            )
        elif _is_unmatched(result):
            yield Text(plain(_unmatched(stream, result)))
        if result.unknown:
            name, answers = next(iter(result.unknown.items()))
            yield Text(
                f"undue {stream} of strategies that are not in the set: {sum(result.unknown.values()):,}, "
                f"of them {answers:,} of {plain(name)}"
            )
    edges, touched = sum(validation.knife_edges.values()), validation.knife_edge_strategies()
    yield from (Text(plain(remark)) for remark in knife_edge_remarks(edges, touched, validation.passed))


def _is_unmatched(result: StreamResult) -> bool:
    counts = result.counts
    return bool(counts.missing and counts.undue) and not counts.correct + counts.wrong


def _unmatched(stream: str, result: StreamResult) -> str:
    """Return a remark on answers of which none is expected: mostly, a part of their keys is written in another way."""
    key = STREAMS[stream].key
    [given], [wanted] = (result.listed(kind).slice(0, 1).to_pylist() for kind in ("undue", "missing"))
    first, expected = (", ".join(str(row[name]) for name in key) for row in (given, wanted))
    return f"no answer of {stream} has the {', '.join(key)} of an expected one; the first has {first}, not {expected}"


def _first_errors(errors: list[FirstError], limit: int) -> RenderableType:
    table = _table("strategy", "first error", "inputTickTS", "what", "incorrect in all")
    for error in errors[:limit]:
        when = show_duration(error.inputTickTS // 1000 * 1000)
        kind = f"{error.kind} {error.stream[:-1]}"
        table.add_row(plain(error.strategy), when, str(error.inputTickTS), kind, f"{error.incorrect:,}")
    heading = f"First errors of {len(errors):,} strategies; later errors mostly follow from them"
    return Group(Text(heading), table, *_more(len(errors), limit))


def _incorrect(stream: str, kind: str, result: StreamResult, rows: pa.Table, limit: int) -> RenderableType:
    shown = rows.slice(0, limit).to_pylist()
    table = _indicator_table(shown) if stream == INDICATORS.name else _order_table(shown)
    malformed = result.malformed_examples[:limit] if kind == "undue" else []
    lines = [Text(f"{row.file}:{row.line}: invalid row: {plain(row.problem)}") for row in malformed]
    return Group(Text(f"{len(rows):,} {kind} {stream}"), *([table] if shown else []), *_more(len(rows), limit), *lines)


def _order_table(rows: list[dict[str, Any]]) -> Table:
    sides = [f"{side}_{name}" for name in ("symbol", "price", "size") for side in ("val", "sut")]
    table = _table("strategy", "type", "inputTickTS", *sides)
    for row in rows:
        table.add_row(
            plain(row["strategy"]), plain(row["type"]), str(row["inputTickTS"]), *(_cell(row[side]) for side in sides)
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
    return Table(*(Column(heading, no_wrap=True) for heading in headings), box=None, pad_edge=False)


def _cell(value: object) -> str:
    return "-" if value is None else plain(value)


def _more(count: int, limit: int) -> list[Text]:
    return [Text(f"... and {count - limit:,} more")] if count > limit else []
