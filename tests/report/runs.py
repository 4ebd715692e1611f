"""Small runs with real answers: those of the golden dataset, given after made-up latencies."""

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pairs.config.profile import Profile
from pairs.config.run_settings import RunSettings
from pairs.config.workload import complete
from pairs.dataset.folder import Correlation, Dataset
from pairs.dataset.manifest import Content, ExpectedManifest, InputDigests, TickFileEntry, describe_generated
from pairs.measure.recordings import read_run
from pairs.measure.score import score_run
from pairs.model.arrivals import due_us
from pairs.model.load import load
from pairs.model.plan import all_steps
from pairs.model.strategy_xml import read_strategies
from pairs.model.streams import STREAMS
from pairs.run_folder.folder import Run, digest_of
from pairs.run_folder.records import Environment, RunManifest, ScoreRecord, SendDelayRecord
from pairs.validator.shards import EXPECTED
from pairs.validator.validation import validate

GOLDEN = Path(__file__).parents[1] / "golden"
START_US, SPEED, DURATION_MS, TICKS = 1_794_000_000_000_000, 90.0, 900_000, 26_669
SETTINGS = {"target": "bare", "plan": "vectorized", "speed": SPEED}
DIGESTS = InputDigests(ticks="t" * 64, strategies="s" * 64)
ENVIRONMENT = Environment(
    system="a system", processor="a chip", cores=2, memory_bytes=8_000_000_000, versions={"python": "3.11"}
)


def golden_dataset(path: Path, **parameters: Any) -> Dataset:
    """Make the golden dataset with its manifest and its expected answers; `parameters` go into the manifest."""
    dataset = Dataset(path)
    dataset.ticks_folder.mkdir(parents=True)
    dataset.expected_folder.mkdir()
    shutil.copy(GOLDEN / "ticks.csv", dataset.ticks_folder)
    shutil.copy(GOLDEN / "strategies.xml", dataset.strategies_file)
    for stream, schema in EXPECTED.items():
        pq.write_table(golden_answers(stream).select(schema.names).cast(schema), dataset.expected_file(stream))
    answers = {stream: len(golden_answers(stream)) for stream in STREAMS}
    expected = ExpectedManifest(digests=DIGESTS, ticks=TICKS, strategies=1, answers=answers, knife_edges={}, files={})
    expected.write(dataset.expected_manifest_file)
    values = {"seed": 7, "duration": DURATION_MS, "basis_rate": Fraction(250, 3), "symbols": 12, "correlations": 6}
    files = (TickFileEntry(name="ticks.csv", ticks=TICKS, bytes=1),)
    content = Content(format="csv", digest="d" * 64, correlations_digest="c" * 64, files=files)
    manifest = describe_generated(Profile("golden", complete(values | parameters)), content)
    manifest.model_copy(update={"nonstandard": ("duration",)}).write(dataset.manifest_file)
    return dataset


def write_pairs(dataset: Dataset) -> None:
    """Write the pairs that the strategies of a dataset watch as its correlations."""
    strategies = read_strategies(dataset.strategies_file).strategies
    pairs = {(strategy.symbol1, strategy.symbol2) for strategy in strategies}
    dataset.write_correlations(Correlation(1, *pair) for pair in sorted(pairs))


def golden_answers(stream: str) -> pa.Table:
    """Read the golden answers."""
    return pa_csv.read_csv(GOLDEN / f"{stream}.csv")


def golden_run(folder: Path, seed: int = 1, **parameters: Any) -> Run:
    """Make a run that gave the golden answers; `parameters` are of its market."""
    dataset = Dataset(folder / "market")
    if not dataset.path.exists():
        golden_dataset(dataset.path, **parameters)
    run = Run(folder / f"run-{seed}")
    run.path.mkdir(parents=True)
    random = np.random.default_rng(seed)
    for stream, schema in EXPECTED.items():
        write_answers(run, stream, golden_answers(stream).select(schema.names).cast(schema), random)
        assert set(STREAMS[stream].schema.names) <= set(pq.read_schema(run.answers_file(stream)).names)
    _write_manifest(run, dataset)
    _write_machine(run, random)
    _write_progress(run)
    judge(run)
    return run


def write_answers(run: Run, stream: str, answers: pa.Table, random: np.random.Generator) -> None:
    """Write answers of a stream as if they had been given some milliseconds after they were due."""
    due = due_us(START_US, answers["inputTickTS"].to_numpy(), SPEED)
    sink = due + random.lognormal(9, 0.6, len(due)).astype(np.int64) + 3_000
    run.write_parquet(run.answers_file(stream), answers.append_column("inputTS", [due]).append_column("sinkTS", [sink]))


def judge(run: Run, repeated: dict[str, int] | None = None) -> None:
    """Validate and score a run."""
    dataset = run.dataset()
    aliases = [strategy.alias for strategy in read_strategies(dataset.strategies_file).strategies]
    knife_edges = ExpectedManifest.read(dataset.expected_manifest_file).knife_edges
    validation = validate(dataset, aliases, run.path, knife_edges)
    validation.record(dataset, DIGESTS, repeated or {}).write(run.validation_file)
    score_run(read_run(run)).write(run.score_file)


def change_manifest(run: Run, **changes: Any) -> None:
    """Change what run.json says."""
    run.manifest.model_copy(update=changes).write(run.manifest_file)


def change_market(run: Run, **changes: Any) -> None:
    """Change what run.json says of the dataset."""
    known = run.manifest.dataset_manifest
    assert known is not None
    change_manifest(run, dataset_manifest=known.model_copy(update=changes))


def change_settings(run: Run, **changes: Any) -> None:
    """Change how a run was executed, according to run.json."""
    change_manifest(run, settings=RunSettings.from_plain(SETTINGS | changes, "test"))


def change_score(run: Run, **changes: Any) -> None:
    """Change what score.json says."""
    ScoreRecord.read(run.score_file).model_copy(update=changes).write(run.score_file)


def make_valid(run: Run) -> None:
    """Let score.json say that the score counts: the golden market has too few triggers for that."""
    change_score(run, valid=True, reasons=(), warnings=())


def _write_manifest(run: Run, dataset: Dataset) -> None:
    shutil.copy(dataset.strategies_file, run.strategies_file)
    strategies = len(read_strategies(run.strategies_file).strategies)
    manifest = RunManifest(
        dataset=str(dataset.path),
        dataset_manifest=dataset.manifest,
        strategies_digest=digest_of(run.strategies_file),
        strategies_generated=True,
        strategies=strategies,
        warm_strategies=strategies,
        load=load(250 / 3 * SPEED, strategies, 2 * strategies / 12),
        plan_class="block",
        plan_steps=dict(all_steps("block")),
        settings=RunSettings.from_plain(SETTINGS, "test"),
        ticks=TICKS,
        duration_ms=DURATION_MS,
        phases_ms={"ramp-up": 0, "warm-up": 7_500, "measurement": 225_000, "cool-down": 675_000},
        measurement_interval_ms=(225_000, 675_000),
        command=("pairs", "run", "market", "--target", "bare"),
        environment=ENVIRONMENT,
        engine_versions={"pyspark": "4.3"},
        state="ended",
        start_us=START_US,
        seconds=12.0,
        exit_codes={"sink": 0, "engine": 0, "driver-0": 0},
    )
    manifest.write(run.manifest_file)


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
    others = {"outside_seconds": random.uniform(0, 0.1, len(times)), "stolen_seconds": np.full(len(times), 0.02)}
    run.write_parquet(run.machine_file, pa.table({"time": times, "seconds": np.ones(len(times)), **others}))
    produced = np.linspace(0, TICKS, len(times)).astype(np.int64)
    noted = {"time": times, "produced": produced, "consumed": np.maximum(produced - 50, 0)}
    run.write_parquet(run.throughput_file, pa.table(noted))
    seconds = [(START_US // 1_000_000 + second, 2_667, 900) for second in range(10)]
    delays = SendDelayRecord(
        ticks=TICKS,
        due_in_interval=TICKS // 2,
        sent_in_interval=TICKS // 2,
        step_us=10,
        histogram=[(10, 26_000), (90, 669)],
        seconds=seconds,
    )
    delays.write(run.driver_file(0))
    slots = np.arange(1_000, dtype=np.int32)
    run.write_parquet(run.send_delay_file(0), pa.table({"slot": slots, "delay_us": np.full(1_000, 800, np.int32)}))


def _write_progress(run: Run) -> None:
    lines = [json.dumps({"kind": "settings", "time": START_US - 1, "settings": {"spark.example": "7"}})]
    for batch in range(20):
        duration = {"total": 60, "addBatch": 40 + batch % 5, "walCommit": 8, "queryPlanning": None}
        moment = START_US + batch * 500_000
        rows, size = 25, 4_000
        noted = {"kind": "batch", "batch": batch, "time": moment, "rows": 1_300, "duration_ms": duration}
        lines.append(json.dumps(noted | {"state_rows": rows, "state_bytes": size, "handed": moment + 9_000}))
        lines.append(json.dumps({"kind": "jvm", "time": moment, "gc_seconds": batch * 0.01, "heap_bytes": 2e8}))
    lines.append('{"kind": "batch", "batch": 20, "ti')  # the engine died here
    run.progress_file.write_text("\n".join(lines))
