"""The tick log as a streaming source of Spark: `spark.readStream.format("ticklog")`. Imported by generated programs.

Options: `path`, the folder of the log; `partitions`, into how many tasks a batch is cut; `maxTicksPerBatch`, at most so
many ticks a micro-batch; `ticksPerRead`, how many are handed over at a time; `blocks`, whether as one row each time:
the records of the ticks, as they are in the log, so that Spark need not take every tick apart and put it together again
on its way. Offsets are positions in the log: a batch that is run again gets the same ticks. The source knows nothing of
strategies, it hands over what is there.
"""

import gc
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from pairs.transport.tick_records import Records, to_arrow
from pairs.transport.ticklog_file import TickLogReader

TICK_SCHEMA = "seq LONG, symbol STRING, price INT, size INT, tickTS LONG, TS LONG"
BLOCK_SCHEMA = "seq LONG, ticks BINARY"


class TickLogSource(DataSource):
    """A tick log; register it with `spark.dataSource.register(TickLogSource)`."""

    @classmethod
    def name(cls) -> str:
        return "ticklog"

    def schema(self) -> str:
        """Return the columns of a tick or a block of them; `seq` is its number in the stream, or its first tick's."""
        return BLOCK_SCHEMA if _as_blocks(self.options) else TICK_SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _StreamReader(self.options)


class _StreamReader(DataSourceStreamReader):
    def __init__(self, options: Any) -> None:
        self._path = Path(options["path"])
        self._partitions = int(options.get("partitions", "1"))
        self._max_ticks = int(options.get("maxTicksPerBatch", "0"))
        self._as_blocks = _as_blocks(options)
        self._ticks_per_read = int(options.get("ticksPerRead", "32768"))

    @cached_property
    def _log(self) -> TickLogReader:
        return TickLogReader(self._path)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_log"}  # every process maps it itself

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"seq": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._max_ticks) if self._max_ticks else ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        produced = self._log.produced
        return {"seq": min(produced, start["seq"] + limit.max_rows) if isinstance(limit, ReadMaxRows) else produced}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        first, ticks = start["seq"], end["seq"] - start["seq"]
        borders = [first + ticks * number // self._partitions for number in range(self._partitions + 1)]
        return [InputPartition(border) for border in pairwise(borders) if border[0] < border[1]]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        _skip_modules_in_collections()
        begin, end = partition.value
        for first in range(begin, end, self._ticks_per_read):
            for records in self._log.read(first, min(first + self._ticks_per_read, end)):
                yield as_block(records) if self._as_blocks else to_arrow(records)

    def commit(self, end: dict[str, int]) -> None:
        self._log.mark_consumed(end["seq"])


def _as_blocks(options: Any) -> bool:
    return str(options.get("blocks", "false")).lower() == "true"


def as_block(records: Records) -> pa.RecordBatch:
    """Return records of the log as one row, without copying them."""
    bounds = pa.py_buffer(np.array([0, records.nbytes], np.int32))
    block = pa.BinaryArray.from_buffers(pa.binary(), 1, [None, bounds, pa.py_buffer(records)])
    return pa.record_batch([pa.array(records["seq"][:1]), block], names=["seq", "ticks"])


@cache
def _skip_modules_in_collections() -> None:
    """Let garbage collections, of which Spark makes one after every task, skip what lives as long as the process."""
    gc.freeze()
