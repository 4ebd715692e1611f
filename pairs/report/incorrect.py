"""The incorrect answers of a run side by side with the expected answers, the earliest of each kind."""

from typing import Any

import numpy as np
import pyarrow as pa

from pairs.core.errors import PairsError
from pairs.dataset.manifest import ExpectedManifest
from pairs.measure.recorded_files import optional_record
from pairs.measure.recordings import Recorded
from pairs.run_folder.records import ValidationRecord
from pairs.validator.compare import KINDS
from pairs.validator.validation import validate

MOST_ROWS = 1_000  # of a kind and stream
MOST_FIRST_ERRORS = 5_000


def incorrect_answers(recorded: Recorded) -> dict[str, Any]:
    """Return the incorrect answers for the page's tables; nothing if there are none or they cannot be told any more."""
    validation = recorded.validation
    if validation is None or validation.passed:
        return {"lists": [], "firstErrors": []}
    first_errors = [
        [error.strategy, error.inputTickTS, error.kind, error.stream, error.incorrect]
        for error in validation.first_errors[:MOST_FIRST_ERRORS]
    ]
    try:
        lists = _compared_again(recorded, validation)
    except (PairsError, OSError, pa.ArrowException) as error:
        return {"lists": [], "firstErrors": first_errors, "absent": f"They cannot be shown: {error}."}
    return {"lists": lists, "firstErrors": first_errors}


def _compared_again(recorded: Recorded, validation: ValidationRecord) -> list[dict[str, Any]]:
    """Compare the answers with the expected answers again, as they are not kept side by side for every run."""
    expected = optional_record(ExpectedManifest, recorded.dataset.expected_manifest_file)
    if expected is None:
        raise PairsError("the expected answers are no longer there")
    if expected.digests != validation.digests:
        raise PairsError("the expected answers are of another dataset by now")
    aliases = [strategy.alias for strategy in recorded.strategies.strategies] if recorded.strategies else []
    found = validate(recorded.dataset, aliases, recorded.run.path)
    return [
        _listed(recorded, stream, kind, rows)
        for stream in reversed(found.streams)  # orders first, which are what is scored
        for kind in KINDS
        if len(rows := found.streams[stream].listed(kind))
    ]


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
    """Return values that JSON can hold; infinite values and NaN as words."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [value if value is None or np.isfinite(value) else str(value) for value in values]
    return values
