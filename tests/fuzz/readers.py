"""Everything of the kit that reads files from outside: how it is called, and what it is fuzzed with."""

import io
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pairs.cli.show import show
from pairs.config.profile import load_profile
from pairs.config.run_settings import load_run
from pairs.config.workload import Workload
from pairs.core.errors import PairsError
from pairs.dataset.check import scan_part
from pairs.dataset.folder import Dataset
from pairs.dataset.manifest import InputDigests
from pairs.dataset.reader import parts_of, read_ticks
from pairs.generator.pairing import read_pairs
from pairs.generator.trades import TradeColumns, parts_of_trades, read_trades
from pairs.generator.virtual import Recipe
from pairs.harness.sink import Sink, finalize_answers
from pairs.measure.recordings import read_run
from pairs.measure.score import score_run
from pairs.model.strategy_xml import read_strategies, scan
from pairs.report.making import make_report
from pairs.run_folder.folder import Run
from pairs.stages.run import check_settings, job_for
from pairs.stages.search_result import sustained_load
from pairs.transport.registry import load_transport
from pairs.transport.tick_records import to_arrow, to_records
from pairs.transport.ticklog import TickLogTransport
from pairs.transport.ticklog_file import TickLogReader
from pairs.validator.expected import current_manifest
from pairs.validator.validation import validate
from tests.fuzz import seeds
from tests.fuzz.mutations import Files, hostile_files
from tests.processes import wait_until

_SOME = 100_000  # ticks of a log that are looked at
_BATCHES = 20


@dataclass(frozen=True)
class Reader:
    """Something that reads files: valid ones, and the function that is given the folder with them."""

    read: Callable[[Path], Any]
    valid: Callable[[], Sequence[Files]]
    changed: Callable[[str], bool] = lambda name: True  # which of the files are made hostile

    @property
    def inputs(self) -> SearchStrategy[Files]:
        """Return files of which one is hostile."""
        return st.one_of([hostile_files(files, [*filter(self.changed, files)]) for files in self.valid()])


def _answers(folder: Path) -> None:
    validation = validate(Dataset(folder / "market"), ["st_00004"], folder)
    validation.record(Dataset(folder), InputDigests(ticks="t", strategies="s"), {})


def _strategies(folder: Path) -> None:
    scan(folder / "strategies.xml", {"YQRXPU"})
    read_strategies(folder / "strategies.xml")


def _profile(folder: Path) -> None:
    _look_at(load_profile(str(folder / "my.toml"), {}).workload)


def _look_at(workload: Workload) -> None:
    workload.as_plain(), workload.nonstandard, workload.phase_begins, workload.rate_knots(1.0), workload.users


def _run_file(folder: Path) -> None:
    settings = load_run(str(folder / "my.toml"), {})
    settings.as_plain()
    check_settings(settings, 7_200_000)


def _ticks(folder: Path) -> None:
    dataset = Dataset(folder)
    dataset.file_problems()
    refused = None
    for file in dataset.tick_files():
        try:
            for part in parts_of(file):
                scan_part(part, 0, None)
            for batch in read_ticks(file):
                to_records(batch)
        except PairsError as error:
            refused = error
    if refused is not None:
        raise refused


def _trades(folder: Path) -> None:
    file = next(folder.iterdir())
    refused = None
    for time, size, unit in (("at", "qty", None), ("ms", None, "ms")):
        columns = TradeColumns("sym", "px", time, size, unit)
        try:
            for part in parts_of_trades(file, columns):
                for _ in read_trades(part, columns):
                    pass
        except PairsError as error:
            refused = error
    if refused is not None:
        raise refused


def _dataset(folder: Path) -> None:
    dataset = Dataset(folder)
    dataset.file_problems()
    dataset.known_symbols()
    _look_at(dataset.manifest.workload)
    current_manifest(dataset)
    job_for(dataset, load_run("local", {"target": "bare"}))
    with redirect_stdout(io.StringIO()):
        show(folder)


def _recipe(folder: Path) -> None:
    recipe = Recipe.read(folder / "part-00000.virtual")
    _look_at(Workload.from_plain(recipe.parameters, "part-00000.virtual"))


def _scored_run(folder: Path) -> None:
    run = Run(folder / "run-1")
    run.repeated_answers()
    score_run(read_run(run)).to_json()


def _reported_run(folder: Path) -> None:
    make_report([Run(folder / "run-1")], folder / "report.html")


def _sweep(folder: Path) -> None:
    session = seeds.session_of(folder)
    with session.in_use():
        session.remaining()
        session.results()


def _transport(folder: Path) -> None:
    """Open the transport of a run as driver, sink and supervisor do, and read its log as an engine does."""
    transport = load_transport(folder)
    transport.positions()
    transport.next_tick_ts()
    log = TickLogReader(Path(transport.source))
    for records in islice(log.read(log.consumed, min(log.produced, log.consumed + _SOME)), _BATCHES):
        to_arrow(records)
    with transport.writer(0) as writer:
        writer.append(to_records(next(read_ticks(_ticks_file())))[:3])
        writer.trim()


@cache
def _ticks_file() -> Path:
    file = Path(tempfile.mkdtemp(prefix="pairs-fuzz-")) / "ticks.csv"
    file.write_bytes(seeds.beginning("ticks.csv"))
    return file


def _sink(folder: Path) -> None:
    """Send something to a sink as an engine would; it may refuse that, but must go on serving."""
    run, ended = Run(folder), threading.Event()
    sink, transport = Sink(run), TickLogTransport(run.transport_folder)
    transport.create()
    errors: list[BaseException] = []
    threading.excepthook = lambda hooked: errors.append(hooked.exc_value or SystemExit())
    sending = threading.Thread(target=_send, args=(transport, (folder / "sent").read_bytes(), ended))
    sending.start()
    with redirect_stderr(io.StringIO()):
        try:
            transport.receive(sink.handle, ended)
        except PairsError as error:
            errors.append(AssertionError(f"the sink gave up: {error}"))
        sending.join()
        sink.finalize()
    if errors:
        raise errors[0]


def _send(transport: TickLogTransport, content: bytes, ended: threading.Event) -> None:
    """Send something, wait until all of it is handled, and end the sink."""
    wait_until(lambda: transport.sink is not None)
    host, port = str(transport.sink).split(":")
    with suppress(OSError), socket.create_connection((host, int(port))) as connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass
    ended.set()
    with suppress(OSError):
        socket.create_connection((host, int(port))).close()  # so that it need not wait for one


def _in_market(name: str) -> bool:
    return name.startswith("market/")


READERS: Mapping[str, Reader] = {
    "answers-csv": Reader(_answers, lambda: [seeds.answer_files("csv")], lambda name: not _in_market(name)),
    "answers-parquet": Reader(_answers, lambda: [seeds.answer_files("parquet")], lambda name: not _in_market(name)),
    "strategies": Reader(_strategies, lambda: [{"strategies.xml": seeds.strategies_xml()}]),
    "profile": Reader(_profile, seeds.profiles),
    "run-file": Reader(_run_file, seeds.run_files),
    "ticks-csv": Reader(_ticks, lambda: [seeds.tick_files("csv")]),
    "ticks-parquet": Reader(_ticks, lambda: [seeds.tick_files("parquet")]),
    "ticks-virtual": Reader(_recipe, lambda: [{"part-00000.virtual": seeds.recipe()}]),
    "trades-csv": Reader(_trades, lambda: [{"trades.csv": seeds.TRADES_CSV}]),
    "trades-parquet": Reader(_trades, lambda: [{"trades.parquet": seeds.trades_parquet()}]),
    "pairs-csv": Reader(
        lambda folder: read_pairs(folder / "pairs.csv"), lambda: [{"pairs.csv": b"symbol1,symbol2\nA,B\nC,D\n"}]
    ),
    "dataset": Reader(_dataset, lambda: [seeds.dataset()], lambda name: name.count("/") == 0 or name.endswith("json")),
    "run-scored": Reader(_scored_run, lambda: [seeds.run_folder()], lambda name: not _in_market(name)),
    "run-reported": Reader(_reported_run, lambda: [seeds.run_folder()]),
    "search": Reader(sustained_load, lambda: [seeds.search()], lambda name: name == "search.json"),
    "sweep": Reader(_sweep, lambda: [seeds.sweep()]),
    "transport": Reader(_transport, lambda: [seeds.transport()]),
    "sink": Reader(_sink, seeds.batches),
    "sink-files": Reader(lambda folder: finalize_answers(Run(folder)), lambda: [seeds.raw_answers()]),
}
