"""Small valid files of every kind, from which hostile ones are made."""

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pairs.config.grid import GridPoint
from pairs.config.profile import load_profile
from pairs.core.files import shipped_folder
from pairs.generator import virtual
from pairs.model.streams import STREAMS
from pairs.model.tuples import STOCK_TICK
from pairs.run_folder.records import SinkRecord
from pairs.stages.search_session import SearchManifest
from pairs.stages.sweep import SweepSession, sweep_session
from pairs.transport.answers import HEADER, MAGIC, encode_batch, split_streams
from pairs.transport.tick_records import RECORD
from pairs.transport.ticklog import TickLogTransport, TickLogWriter
from pairs.transport.ticklog_file import create_log
from pairs.validator.shards import EXPECTED
from tests.fuzz.mutations import Files
from tests.markets import GOLDEN
from tests.report.runs import golden_run
from tests.transport.answers import answers

_ROWS = 24  # of a table
_SEGMENT_RECORDS = 50

TRADES_CSV = b"""sym,px,qty,at,ms
A,12.345,100,2024-01-02T09:30:00.123Z,1704187800123
B,0.01,1,2024-01-02 09:30:00,1704187800124
A,12.35,20,2024-01-02T04:30:01-05:00,1704187801000
"B,C",99.5,3,2024-01-02T09:30:02+0000,1704187802000.5
"""

_PHASES = b"""# Phases of one's own.
scale_factor = 2
speed = 10
market_rate = "5000/60"
arrivals = "constant"
[[phase]]
name = "auction"
until = "5m"
rate = "300%"
[[phase]]
name = "halt"
until = "1h30m"
rate = 0
"""

_RUN = b"""target = "bare"
plan = "vectorized"
transport = "ticklog"
speed = 60
drivers = 2
stall_timeout = "90s"
faults = ["kill@30m"]
[settings]
"spark.sql.shuffle.partitions" = 2
shards = true
"""


def parquet(table: pa.Table) -> bytes:
    """Write a table as a run or a dataset has it."""
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


def golden(name: str) -> pa.Table:
    """Read the beginning of a golden table."""
    return pa_csv.read_csv(GOLDEN / name).slice(0, _ROWS)


def beginning(name: str) -> bytes:
    """Return the first lines of a golden file."""
    return b"".join((GOLDEN / name).read_bytes().splitlines(keepends=True)[: _ROWS + 1])


def strategies_xml() -> bytes:
    """Return some golden strategies."""
    lines = (GOLDEN / "strategies.xml").read_bytes().splitlines(keepends=True)
    return b"".join([*lines[:6], b"</Strategies>\n"])


def answer_files(suffix: str) -> Files:
    """Return expected answers, and the same as the answers of an engine."""
    files = {}
    for stream, schema in EXPECTED.items():
        table = golden(f"{stream}.csv").select(schema.names).cast(schema)
        files[f"market/expected/{stream}.parquet"] = parquet(table)
        files[f"{stream}.{suffix}"] = parquet(table) if suffix == "parquet" else beginning(f"{stream}.csv")
    return files


def tick_files(suffix: str) -> Files:
    """Return a dataset made by hand, of two files."""
    table = golden("ticks.csv").cast(STOCK_TICK)
    later = pa_csv.read_csv(GOLDEN / "ticks.csv").slice(_ROWS, _ROWS).cast(STOCK_TICK)
    contents = [table, later]
    if suffix == "parquet":
        return {f"ticks/part-{number}.parquet": parquet(content) for number, content in enumerate(contents)}
    header, rows = (GOLDEN / "ticks.csv").read_bytes().split(b"\n", 1)
    lines = rows.splitlines(keepends=True)
    halves = [lines[:_ROWS], lines[_ROWS : 2 * _ROWS]]
    return {f"ticks/part-{number}.csv": b"".join([header + b"\n", *half]) for number, half in enumerate(halves)}


def profiles() -> list[Files]:
    """Return profiles: those that are shipped, and one with phases."""
    shipped = [file.read_bytes() for file in sorted((shipped_folder("configs") / "profiles").glob("*.toml"))]
    return [{"my.toml": content} for content in (*shipped, _PHASES)]


def run_files() -> list[Files]:
    """Return run files: the shipped one, and one with everything."""
    return [
        {"my.toml": content} for content in ((shipped_folder("configs") / "runs" / "local.toml").read_bytes(), _RUN)
    ]


def _files_in(folder: Path) -> Files:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@cache
def run_folder() -> Files:
    """Return a scored run and its dataset, with few ticks."""
    with tempfile.TemporaryDirectory() as name:
        run = golden_run(Path(name))
        SinkRecord(
            writers=1,
            batches=2,
            rows={},
            repeated_batches=1,
            repeated_rows=dict.fromkeys(STREAMS, 1),
            recent_latency_us={},
        ).write(run.sink_file)
        run.manifest.model_copy(update={"dataset": "../market"}).write(run.manifest_file)
        files = dict(_files_in(Path(name)))
    files["market/ticks/ticks.csv"] = beginning("ticks.csv")
    files["market/correlations.csv"] = b"market,symbol1,symbol2\n1,YQRXPU,VFBHHW\n"
    return files


@cache
def dataset() -> Files:
    """Return a dataset with everything that one may have."""
    return {
        name.removeprefix("market/"): content for name, content in run_folder().items() if name.startswith("market")
    }


@cache
def search() -> Files:
    """Return a search with one run."""
    manifest = SearchManifest(profile="quick", settings={}, workload={})
    of_run = {name.replace("run-1/", "runs/sf-1-1/"): content for name, content in run_folder().items()}
    return {"search.json": manifest.to_json().encode(), **of_run}


def session_of(folder: Path) -> SweepSession:
    """Return the session of a sweep over two points."""
    grid = [
        GridPoint({"target": "bare", "plan": "vectorized", "speed": speed}, {"speed": speed}) for speed in ("30", "60")
    ]
    profile = load_profile("quick", {})
    return sweep_session(profile, grid, "local", repeat=1, output=folder, data=None, suffix="csv", master=None)


@cache
def sweep() -> Files:
    """Return a sweep without any run."""
    with tempfile.TemporaryDirectory() as name:
        session = session_of(Path(name))
        session._manifest(session.repeat).write(Path(name) / "sweep.json")
        return _files_in(Path(name))


@cache
def transport() -> Files:
    """Return the folder of a transport with some ticks in its log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "transport"
        TickLogTransport(folder).create()
        for file in (folder / "log").iterdir():
            file.unlink()
        (folder / "log").rmdir()
        create_log(folder / "log", 1, _SEGMENT_RECORDS)
        records = np.zeros(3 * _SEGMENT_RECORDS, RECORD)
        records["symbol"], records["price"] = b"AAAAAA", 100
        with TickLogWriter(folder / "log") as log:
            log.append(records)
        return _files_in(folder)


def _retyped(table: pa.Table, kind: pa.DataType) -> pa.Table:
    return table.cast(pa.schema([(name, kind) for name in table.column_names]))


@cache
def batches() -> list[Files]:
    """Return what engines send to the sink: one batch, and several."""
    streams = split_streams(answers(1, 2))
    first, second = (encode_batch(0, number, streams) for number in (0, 1))
    as_texts = {name: _retyped(table, pa.string()) for name, table in streams.items()}
    empty = {
        name: pa.table([pa.nulls(2**27)] * table.num_columns, table.column_names) for name, table in streams.items()
    }
    nested = b"[" * 60_000
    sent = [
        first,
        first + second,
        encode_batch(0, 0, as_texts),
        encode_batch(0, 0, empty),  # a gigabyte, if somebody asked for its values
        HEADER.pack(MAGIC, 0, 0, len(nested)) + nested,
    ]
    return [{"sent": content} for content in sent]


@cache
def raw_answers() -> Files:
    """Return the files that a sink has not finalized."""
    files = {}
    for name, stream in STREAMS.items():
        rows = split_streams(answers(1, 2, 3))[name]
        stamped = rows.append_column("sinkTS", pa.array([1] * len(rows))).cast(stream.recorded_schema)
        target = io.BytesIO()
        with pa.ipc.new_stream(target, stream.recorded_schema) as writer:
            writer.write_table(stamped, max_chunksize=1)
        files[f"{name}.arrows"] = target.getvalue()
    return files


def trades_parquet() -> bytes:
    """Return the trades with times and prices in types of their own."""
    return parquet(pa_csv.read_csv(io.BytesIO(TRADES_CSV)))


def recipe() -> bytes:
    """Return a virtual tick file."""
    return virtual.recipe(load_profile("quick", {}).workload, 0, 100).encode()
