"""Reads what a run recorded into typed arrays. What is missing or broken is None, never zero and never an error."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.model import schedule
from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.run_folder.send_delay import SLOT_US

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """The answers of a stream, in the order in which they arrived."""

    table: pa.Table
    strategies: list[str]
    strategy: NDArray[np.int32]  # into `strategies`
    tick_ts: Wholes  # ms of simulated time
    sink_us: Wholes
    due_us: Wholes | None  # when their triggers were due, wall time; none if the run was unpaced
    late_s: Floats | None  # how late the triggers were sent; none if that was not recorded

    def __len__(self) -> int:
        return len(self.tick_ts)

    @property
    def latency_s(self) -> Floats:
        """Latency from the scheduled time of the trigger, which is what is scored; empty if unpaced."""
        if self.due_us is None:
            return np.empty(0)
        latencies: Floats = (self.sink_us - self.due_us) / 1e6
        return latencies


@dataclass(frozen=True)
class Driver:
    """What a driver recorded: ticks sent and worst lateness in every second, and a histogram of lateness."""

    seconds: Wholes  # wall time
    ticks: Wholes
    worst_s: Floats
    late_s: Floats  # the histogram's steps, upper ends
    counts: Wholes
    slots: dict[str, Wholes] | None  # worst lateness by slot of 10 ms


@dataclass(frozen=True)
class Batch:
    """A batch as the engine itself saw it."""

    time_us: int
    rows: int
    total_ms: float
    parts_ms: dict[str, float]
    state_rows: float | None
    state_bytes: float | None


@dataclass(frozen=True)
class Heap:
    """A look into the engine's JVM."""

    time_us: int
    gc_s: float  # since its start
    heap_bytes: float


@dataclass(frozen=True)
class Recorded:
    """All that is known of a run."""

    run: Run
    facts: dict[str, Any]
    score: dict[str, Any] | None
    validation: dict[str, Any] | None
    dataset: Dataset
    dataset_facts: dict[str, Any] | None
    strategies: StrategySet | None
    answers: dict[str, Answers | None]
    resources: pa.Table | None
    throughput: pa.Table | None
    drivers: list[Driver]
    batches: list[Batch] = field(default_factory=list)
    heaps: list[Heap] = field(default_factory=list)

    @property
    def settings(self) -> Mapping[str, Any]:
        """How it was executed."""
        settings = self.facts.get("run")
        return settings if isinstance(settings, dict) else {}

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; none if unpaced."""
        speed = self.settings.get("speed")
        return float(speed) if isinstance(speed, int | float) and self.facts.get("start_us") is not None else None

    @property
    def why_untimed(self) -> str:
        """Why nothing is known about latency, where that is so."""
        if self.settings.get("speed") == "max":
            return "The run was unpaced: ticks had no time at which they were due, so there is no latency."
        return "The run did not come to its end, so it is not known when its ticks were due."

    @property
    def origin_us(self) -> int:
        """The wall time that charts count from: when the first tick was due, or the first thing that was noted."""
        if isinstance(start := self.facts.get("start_us"), int):
            return start
        noted = [int(table["time"][0].as_py()) for table in (self.throughput, self.resources) if table is not None]
        noted += [int(one.sink_us.min()) for one in self.answers.values() if one is not None and len(one)]
        return min(noted, default=0)

    @property
    def duration_ms(self) -> int:
        """The length of the trading day in simulated time."""
        return int(self.facts.get("duration_ms") or 0)

    @property
    def interval_ms(self) -> tuple[int, int]:
        """The measurement interval in simulated time."""
        begin, end = self.facts.get("measurement_interval_ms") or (0, 0)
        return int(begin), int(end)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the dataset, as far as they are known."""
        found = self.facts.get("dataset_parameters") or (self.dataset_facts or {}).get("parameters")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return self.run.path.absolute().name

    def wall_s(self, times_us: NDArray[Any]) -> Floats:
        """Return wall times as seconds since the first tick was due."""
        seconds: Floats = (times_us - self.origin_us) / 1e6
        return seconds

    def wall_of(self, simulated_ms: float) -> float:
        """Return when a moment of simulated time was due, in wall seconds since the first tick."""
        return simulated_ms / 1000 / (self.speed or 1.0)

    def measured(self, stream: str) -> tuple[Wholes, Floats]:
        """Return tickTS and latency of the answers triggered within the measurement interval."""
        answers = self.answers.get(stream)
        if answers is None or answers.due_us is None:
            return np.empty(0, np.int64), np.empty(0)
        begin, end = self.interval_ms
        inside = (answers.tick_ts >= begin) & (answers.tick_ts < end)
        return answers.tick_ts[inside], answers.latency_s[inside]


def read_run(run: Run) -> Recorded:
    """Read a run; only run.json has to be there."""
    facts = run.facts()
    dataset = run.dataset()
    drivers = [one for number in range(_drivers(facts)) if (one := _driver(run, number)) is not None]
    late = _lateness_by_slot(drivers) if len(drivers) == _drivers(facts) else None
    batches, heaps = _progress(run.progress_file)
    return Recorded(
        run=run,
        facts=facts,
        score=_json(run.score_file),
        validation=_json(run.validation_file),
        dataset=dataset,
        dataset_facts=_json(dataset.facts_file),
        strategies=_strategies(dataset),
        answers={stream: _answers(run, stream, facts, late) for stream in STREAMS},
        resources=_table(run.resources_file, "time"),
        throughput=_table(run.throughput_file, "time"),
        drivers=drivers,
        batches=batches,
        heaps=heaps,
    )


def _drivers(facts: Mapping[str, Any]) -> int:
    settings = facts.get("run")
    return int(settings.get("drivers") or 1) if isinstance(settings, dict) else 1


def _json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _table(path: Path, order: str) -> pa.Table | None:
    """Read a table, sorted; none if there is no row to speak of."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException):
        return None
    if order not in table.column_names or not len(table):
        return None
    return table.sort_by(order)


def _strategies(dataset: Dataset) -> StrategySet | None:
    try:
        return read_strategies(dataset.strategies_file)
    except (BadInputError, OSError):
        return None


def _answers(run: Run, stream: str, facts: Mapping[str, Any], late_us: Wholes | None) -> Answers | None:
    try:
        table = pq.read_table(run.answers_file(stream), read_dictionary=["strategy"])
    except (OSError, pa.ArrowException):
        return None
    if not {*STREAMS[stream].schema.names, "sinkTS"} <= set(table.column_names):
        return None
    coded = table["strategy"].combine_chunks() if len(table) else pa.array([], pa.dictionary(pa.int32(), pa.string()))
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    tick_ts, start_us = table["inputTickTS"].to_numpy(), facts.get("start_us")
    due_us = late_s = None
    if start_us is not None:
        speed = float(facts["run"]["speed"])
        due_us = schedule.due_us(start_us, tick_ts, speed)
        late_s = _late_s(due_us - start_us, late_us)
    return Answers(
        table,
        coded.dictionary.to_pylist(),
        coded.indices.to_numpy(zero_copy_only=False).astype(np.int32),
        tick_ts,
        table["sinkTS"].to_numpy(),
        due_us,
        late_s,
    )


def _late_s(since_start_us: Wholes, late_us: Wholes | None) -> Floats | None:
    """Return how late triggers were sent: the worst lateness of the slot in which they were due."""
    if late_us is None or not len(late_us):
        return None
    late: Floats = late_us[np.clip(since_start_us // SLOT_US, 0, len(late_us) - 1)] / 1e6
    return late


def _driver(run: Run, number: int) -> Driver | None:
    recorded = _json(run.driver_file(number))
    if recorded is None:
        return None
    try:
        seconds = np.array(recorded["seconds"], np.int64).reshape(-1, 3)
        histogram = np.array(recorded["histogram"], np.int64).reshape(-1, 2)
        steps_s = (histogram[:, 0] + 1) * (recorded["step_us"] / 1e6)
    except (KeyError, TypeError, ValueError):
        return None
    table = _table(run.send_delay_file(number), "slot")
    slots = None if table is None else {name: table[name].to_numpy().astype(np.int64) for name in ("slot", "delay_us")}
    return Driver(seconds[:, 0], seconds[:, 1], seconds[:, 2] / 1e6, steps_s, histogram[:, 1], slots)


def _lateness_by_slot(drivers: list[Driver]) -> Wholes | None:
    """Return the worst lateness of any driver in every slot; none if one did not record it."""
    kept = [one.slots for one in drivers if one.slots is not None]
    if not kept or len(kept) < len(drivers):
        return None
    worst = np.zeros(max(int(one["slot"].max()) for one in kept) + 1, np.int64)
    for one in kept:
        np.maximum.at(worst, np.maximum(one["slot"], 0), one["delay_us"])
    return worst


def _progress(path: Path) -> tuple[list[Batch], list[Heap]]:
    """Read what the engine noted of itself; a line that was cut off is left out."""
    batches: list[Batch] = []
    heaps: list[Heap] = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return batches, heaps
    for line in lines:
        try:
            noted = json.loads(line)
            if noted["kind"] == "batch":
                batches.append(_batch(noted))
            elif noted["kind"] == "jvm":
                heaps.append(Heap(int(noted["time"]), float(noted["gc_seconds"]), float(noted["heap_bytes"])))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return sorted(batches, key=lambda one: one.time_us), sorted(heaps, key=lambda one: one.time_us)


def _batch(noted: Mapping[str, Any]) -> Batch:
    parts = {str(name): float(value) for name, value in noted["duration_ms"].items() if value is not None}
    total = parts.pop("total", sum(parts.values()))
    rows, size = noted.get("state_rows"), noted.get("state_bytes")
    return Batch(
        int(noted["time"]),
        int(noted["rows"]),
        total,
        parts,
        None if rows is None else float(rows),
        None if size is None else float(size),
    )
