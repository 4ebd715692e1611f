"""The incorrect answers of a run side by side with the expected ones, the earliest of each kind."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.measure.recordings import Recorded

MOST_ROWS = 1_000  # of a kind and stream
MOST_FIRST_ERRORS = 5_000


def incorrect_answers(recorded: Recorded) -> dict[str, Any]:
    """Return the incorrect answers for the page's tables; none if there are none or they cannot be told any more."""
    validation = recorded.validation or {}
    if validation.get("verdict") != "FAILED":
        return {"lists": [], "firstErrors": []}
    first_errors = [_first_error(one) for one in validation.get("first_errors", [])[:MOST_FIRST_ERRORS]]
    try:
        lists = _judged(recorded)
    except (PairsError, OSError, pa.ArrowException) as error:
        return {"lists": [], "firstErrors": first_errors, "absent": f"They cannot be shown: {error}."}
    return {"lists": lists, "firstErrors": first_errors}


def _first_error(noted: dict[str, Any]) -> list[Any]:
    return [noted.get(name) for name in ("strategy", "inputTickTS", "kind", "stream", "incorrect")]


def _judged(recorded: Recorded) -> list[dict[str, Any]]:
    """Hold the answers against the expected ones again, as these are not kept side by side for every run."""
    from pairs.validator.compare import KINDS
    from pairs.validator.validation import validate

    _refuse_other_answers(recorded)
    aliases = [one.alias for one in recorded.strategies.strategies] if recorded.strategies else []
    found = validate(recorded.dataset, aliases, recorded.run.path)
    lists = []
    for stream in reversed(found.streams):  # orders first, which are what is scored
        for kind in KINDS:
            rows = found.streams[stream].listed(kind)
            if len(rows):
                lists.append(_listed(recorded, stream, kind, rows))
    return lists


def _refuse_other_answers(recorded: Recorded) -> None:
    """Refuse to compare with answers that are gone, or were computed anew from something else."""
    try:
        digests = json.loads(recorded.dataset.expected_facts_file.read_text(encoding="utf-8")).get("digests")
    except (OSError, ValueError):
        raise PairsError("the expected answers are no longer there") from None
    if recorded.validation and digests != recorded.validation.get("digests"):
        raise PairsError("the expected answers are of another dataset by now")


def _listed(recorded: Recorded, stream: str, kind: str, rows: pa.Table) -> dict[str, Any]:
    shown = rows.slice(0, MOST_ROWS)
    return {
        "stream": stream,
        "kind": kind,
        "total": len(rows),
        "file": str(recorded.run.incorrect_file(kind, stream)),
        "command": f"pairs validate {recorded.run.path} --show {kind}",
        "columns": shown.column_names,
        "rows": [list(row) for row in zip(*(_plain(column) for column in shown.columns), strict=True)],
    }


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Return values that JSON can hold; what is no number is said in words."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [value if value is None or np.isfinite(value) else str(value) for value in values]
    return values
