"""Prints a validation: the verdict, the counts, first errors, incorrect answers side by side."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.text import Text

from pairs.cli.layout import plain, print_lines, print_table
from pairs.core.units import counted, show_duration
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
_INDICATOR = ("ratio", "avgRatio", "upperBand", "lowerBand")  # values that are compared
_ORDER = ("symbol", "price", "size")

_Cells = tuple[str, ...]


def render_validation(validation: Validation, most_errors: int, strategy: str | None = None, hint: bool = True) -> None:
    """Print the verdict, the counts and the first errors, of all strategies or one."""
    _print_counts(validation)
    if validation.passed:
        return
    _print_first_errors(
        [error for error in validation.first_errors() if strategy in (None, error.strategy)], most_errors
    )
    if hint:
        print("\nto see the answers side by side, add --show missing, --show undue or --show wrong")


def render_incorrect(
    validation: Validation, kind: str, strategy: str | None, limit: int, files: Mapping[str, Path]
) -> None:
    """Print incorrect answers of a kind, and the files with all of them."""
    for stream, result in validation.streams.items():
        rows = result.listed(kind, strategy)
        _print_incorrect(stream, kind, result, rows, limit)
        if len(rows):
            print(f"all of them: {files[stream]}")


def _print_counts(validation: Validation) -> None:
    verdict = Text(validation.verdict, style="bold green" if validation.passed else "bold red")
    print_lines([Text.assemble("Validation result: ", verdict)])
    print_lines(plain(wrong.sentence()) for result in validation.streams.values() for wrong in result.wrong_columns)
    streams = list(validation.streams)
    counts = [result.counts for result in validation.streams.values()]
    rows = [(label, *(f"{getattr(found, name):,}" for found in counts)) for name, label in _COUNTS.items()]
    print_table(("", *streams), rows, right=streams, texts=("",))
    print_lines(_remarks(validation))


def _remarks(validation: Validation) -> Iterator[str]:
    for stream, result in validation.streams.items():
        if result.malformed:
            first = result.malformed_examples[0]
            yield (
                f"{counted(result.malformed, 'invalid row')} of {stream}, counted as undue; "
                f"the first: {first.file}:{first.line}: {plain(first.problem)}"
            )
        elif _is_unmatched(result):
            yield plain(_unmatched(stream, result))
        if result.unknown:
            name, answers = next(iter(result.unknown.items()))
            yield (
                f"undue {stream} of strategies that are not in the set: {sum(result.unknown.values()):,}, "
                f"of them {answers:,} of {plain(name)}"
            )
    edges, touched = sum(validation.knife_edges.values()), validation.knife_edge_strategies()
    yield from map(plain, knife_edge_remarks(edges, touched, validation.passed))


def _is_unmatched(result: StreamResult) -> bool:
    counts = result.counts
    return bool(counts.missing and counts.undue) and not counts.correct + counts.wrong


def _unmatched(stream: str, result: StreamResult) -> str:
    """Return a remark on answers of which none is expected: mostly, a part of their keys is written in another way."""
    key = STREAMS[stream].key
    [given], [wanted] = (result.listed(kind).slice(0, 1).to_pylist() for kind in ("undue", "missing"))
    first, expected = (", ".join(str(row[name]) for name in key) for row in (given, wanted))
    return f"no answer of {stream} has the {', '.join(key)} of an expected one; the first has {first}, not {expected}"


def _print_first_errors(errors: list[FirstError], limit: int) -> None:
    print(f"\nFirst errors of {counted(len(errors), 'strategy')}; later errors mostly follow from them")
    headings = ("strategy", "first error", "inputTickTS", "what", "incorrect in all")
    print_table(headings, [_first_error(error) for error in errors[:limit]])
    print_lines(_more(len(errors), limit))


def _first_error(error: FirstError) -> tuple[str, ...]:
    when = show_duration(error.inputTickTS // 1000 * 1000)
    kind = f"{error.kind} {error.stream[:-1]}"
    return error.strategy, when, str(error.inputTickTS), kind, f"{error.incorrect:,}"


def _print_incorrect(stream: str, kind: str, result: StreamResult, rows: pa.Table, limit: int) -> None:
    print(f"\n{counted(len(rows), f'{kind} {stream[:-1]}')}")
    shown = rows.slice(0, limit).to_pylist()
    if shown:
        print_table(*(_indicators(shown) if stream == INDICATORS.name else _orders(shown)))
    print_lines(_more(len(rows), limit))
    malformed = result.malformed_examples[:limit] if kind == "undue" else []
    print_lines(f"{row.file}:{row.line}: invalid row: {plain(row.problem)}" for row in malformed)


def _orders(rows: list[dict[str, Any]]) -> tuple[_Cells, list[_Cells]]:
    """Return the headings and the rows of a table of orders."""
    names = ("strategy", "type", "inputTickTS", *(f"{side}_{name}" for name in _ORDER for side in ("val", "sut")))
    return names, [tuple(_cell(row[name]) for name in names) for row in rows]


def _indicators(rows: list[dict[str, Any]]) -> tuple[_Cells, list[_Cells]]:
    """Return the headings and the rows of a table of indicators, with a row for each of their values."""
    cells: list[_Cells] = []
    for row in rows:
        for number, name in enumerate(_INDICATOR):
            key = ("", "") if number else (_cell(row["strategy"]), _cell(row["inputTickTS"]))
            error = row.get(f"error_{name}")
            shown_error = "" if error is None else f"{error:.2g}"
            cells.append((*key, name, _cell(row[f"val_{name}"]), _cell(row[f"sut_{name}"]), shown_error))
    return ("strategy", "inputTickTS", "value", "validator", "SUT", "relative error"), cells


def _cell(value: object) -> str:
    return "-" if value is None else str(value)


def _more(count: int, limit: int) -> list[str]:
    return [f"... and {count - limit:,} more"] if count > limit else []
