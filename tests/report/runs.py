"""Small runs with real answers: those of the golden dataset, given after made-up latencies."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pairs.stages.execution import score_run

from pairs.dataset.folder import Dataset
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run
from pairs.validator.shards import EXPECTED
from pairs.validator.validation import validate

GOLDEN = Path(__file__).parents[1] / "golden"
START_US, SPEED, DURATION_MS = 1_794_000_000_000_000, 90.0, 900_000
DIGESTS = {"ticks": "t" * 64, "strategies": "s" * 64}
PARAMETERS = {
    "scale_factor": 1,
    "seed": 7,
    "duration": "15m",
    "basis_rate": "250/3",
    "peak_factor": 1.5,
    "curve": "varying",
    "speed": 90.0,
}


def golden_dataset(path: Path) -> Dataset:
    """Make the golden dataset with its facts and its expected answers."""
    dataset = Dataset(path)
    dataset.ticks_folder.mkdir(parents=True)
    dataset.expected_folder.mkdir()
    shutil.copy(GOLDEN / "ticks.csv", dataset.ticks_folder)
    shutil.copy(GOLDEN / "strategies.xml", dataset.strategies_file)
    for stream, schema in EXPECTED.items():
        pq.write_table(golden_answers(stream).select(schema.names).cast(schema), dataset.expected_file(stream))
    dataset.expected_facts_file.write_text(json.dumps({"digests": DIGESTS}))
    facts = {
        "format_version": 1,
        "digest": "d" * 64,
        "correlations_digest": "c" * 64,
        "seed": 7,
        "profile": "golden",
        "standard": False,
        "nonstandard": ["duration"],
        "parameters": PARAMETERS,
        "counts": {"ticks": 26_669, "symbols": 12},
        "basis_rate_per_second": 83.33,
        "duration_ms": DURATION_MS,
        "measurement_interval_ms": [225_000, 675_000],
        "files": [],
    }
    dataset.write_facts(facts)
    return dataset


def golden_answers(stream: str) -> pa.Table:
    """Read the golden answers."""
    return pa_csv.read_csv(GOLDEN / f"{stream}.csv")


def golden_run(folder: Path, seed: int = 1, **changes: Any) -> Run:
    """Make a run that gave the golden answers; `changes` go into run.json."""
    dataset = Dataset(folder / "market")
    if not dataset.path.exists():
        golden_dataset(dataset.path)
    run = Run(folder / f"run-{seed}")
    run.path.mkdir(parents=True)
    random = np.random.default_rng(seed)
    for stream in STREAMS:
        write_answers(run, stream, golden_answers(stream).select(EXPECTED[stream].names).cast(EXPECTED[stream]), random)
        assert set(STREAMS[stream].schema.names) <= set(pq.read_schema(run.answers_file(stream)).names)
    _write_facts(run, dataset, changes)
    _write_machine(run, random)
    _write_progress(run)
    judge(run)
    return run


def write_answers(run: Run, stream: str, answers: pa.Table, random: np.random.Generator) -> None:
    """Write answers of a stream as if they had been given some milliseconds after they were due."""
    due = START_US + np.rint(answers["inputTickTS"].to_numpy() * (1000 / SPEED)).astype(np.int64)
    sink = due + random.lognormal(9, 0.6, len(due)).astype(np.int64) + 3_000
    run.write_parquet(run.answers_file(stream), answers.append_column("inputTS", [due]).append_column("sinkTS", [sink]))


def judge(run: Run) -> None:
    """Validate and score a run."""
    dataset = run.dataset()
    aliases = [one.alias for one in read_strategies(dataset.strategies_file).strategies]
    run.write_json(run.validation_file, validate(dataset, aliases, run.path).as_plain(dataset, DIGESTS))
    run.write_json(run.score_file, score_run(run))


def change_facts(run: Run, /, **changes: Any) -> None:
    """Change what run.json says."""
    run.write_json(run.facts_file, run.facts() | changes)


def _write_facts(run: Run, dataset: Dataset, changes: dict[str, Any]) -> None:
    settings = {"target": "bare", "plan": "shared", "speed": SPEED, "drivers": 1, "master": "", "settings": {}}
    facts = {
        "format_version": 1,
        "kit_version": "0.1.0",
        "dataset": str(dataset.path),
        "dataset_digest": "d" * 64,
        "dataset_parameters": PARAMETERS,
        "strategies_digest": "s" * 64,
        "seed": 7,
        "command": ["pairs", "run", "market", "--target", "bare"],
        "run": settings,
        "ticks": 26_669,
        "duration_ms": DURATION_MS,
        "phases_ms": {"ramp-up": 0, "warm-up": 7_500, "measurement": 225_000, "cool-down": 675_000},
        "measurement_interval_ms": [225_000, 675_000],
        "environment": {"processor": "a chip", "cores": 2, "memory_bytes": 8_000_000_000, "python": "3.11"},
        "state": "ended",
        "seconds": 12.0,
        "start_us": START_US,
        "exit_codes": {"sink": 0, "engine": 0, "driver-0": 0},
    }
    run.write_json(run.facts_file, facts | changes)


def _write_machine(run: Run, random: np.random.Generator) -> None:
    times = START_US + np.arange(-1, 11) * 1_000_000
    parts = ["driver-0", "engine JVM", "engine Python", "sink"]
    total = len(times) * len(parts)
    samples = {
        "time": np.repeat(times, len(parts)),
        "part": parts * len(times),
        "cpu_seconds": random.uniform(0, 0.3, total),
        "rss_bytes": random.integers(10**8, 10**9, total),
        "processes": np.ones(total, np.int64),
        "read_bytes": random.integers(0, 10**6, total),
        "written_bytes": random.integers(0, 10**6, total),
    }
    run.write_parquet(run.resources_file, pa.table(samples))
    sent = np.linspace(0, 26_669, len(times)).astype(np.int64)
    noted = {"time": times, "produced": sent, "consumed": np.maximum(sent - 50, 0)}
    run.write_parquet(run.throughput_file, pa.table(noted))
    seconds = [[int(START_US // 1_000_000) + second, 2_667, 900] for second in range(10)]
    recorded = {"ticks": 26_669, "step_us": 10, "histogram": [[10, 26_000], [90, 669]], "seconds": seconds}
    run.write_json(run.driver_file(0), recorded)
    slots = np.arange(1_000, dtype=np.int32)
    run.write_parquet(run.send_delay_file(0), pa.table({"slot": slots, "delay_us": np.full(1_000, 800, np.int32)}))


def _write_progress(run: Run) -> None:
    lines = []
    for batch in range(20):
        duration = {"total": 60, "addBatch": 40 + batch % 5, "walCommit": 8, "queryPlanning": None}
        moment = START_US + batch * 500_000
        rows, size = 25, 4_000
        noted = {"kind": "batch", "batch": batch, "time": moment, "rows": 1_300, "duration_ms": duration}
        lines.append(json.dumps(noted | {"state_rows": rows, "state_bytes": size}))
        lines.append(json.dumps({"kind": "jvm", "time": moment, "gc_seconds": batch * 0.01, "heap_bytes": 2e8}))
    lines.append('{"kind": "batch", "batch": 20, "ti')  # the engine died here
    run.progress_file.write_text("\n".join(lines))
