"""Reads pages as a browser does: the data in them, and what they say."""

import base64
import json
import re
import zlib
from collections.abc import Sequence
from html import unescape
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run

NASTY = [
    "<script>alert(1)</script>",
    "</script><b>",
    "\"'`${1}",
    "&lt;img src=x onerror=alert(1)&gt;",
    "<!--",
    "\u2028",
]
_NOT_A_NUMBER = 65_535


def payload_of(page: str) -> dict[str, Any]:
    """Return the data in a page."""
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def text_of(page: str) -> str:
    """Return what a page says, without scripts, styles and tags."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def decoded(array: dict[str, str]) -> NDArray[Any]:
    """Return the numbers of a chart, as plotly.js does."""
    return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])


def unpack(packed: dict[str, Any]) -> NDArray[Any]:
    """Return the array that was packed, as the page's script does."""
    dtype, count = np.dtype(packed["packed"]), packed["n"]
    planes = np.frombuffer(zlib.decompress(base64.b64decode(packed["z"])), np.uint8)
    values = np.ascontiguousarray(planes.reshape(dtype.itemsize, count).T).reshape(-1).view(dtype)
    return np.cumsum(values, dtype=dtype) if packed["delta"] else values


def restored(
    steps: NDArray[np.uint16], low: NDArray[np.float64], high: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the values that 16-bit steps stand for, as the page's script does."""
    lengths = np.diff(starts)
    values = np.repeat(low, lengths) + steps / (_NOT_A_NUMBER - 1) * np.repeat(high - low, lengths)
    return np.where(steps == _NOT_A_NUMBER, np.nan, values)


def rename_everything(run: Run, given: Sequence[str] = NASTY) -> None:
    """Let an engine answer with names that look like markup, or others."""
    for stream in STREAMS:
        table = pq.read_table(run.answers_file(stream))
        for column in sorted({"strategy", "symbol"} & set(table.column_names)):
            names = [given[place % len(given)] for place in range(len(table))]
            table = table.set_column(table.schema.get_field_index(column), column, pa.array(names))
        pq.write_table(table, run.answers_file(stream))
