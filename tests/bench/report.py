"""Time and size of a report of a large run: 1.5 million indicators, 200,000 orders, 2,500 strategies, two hours.

The run is made up: walks instead of prices, and as many ticks as are looked at of a dataset of any size.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairs.config.run_settings import RunSettings
from pairs.dataset.folder import Dataset
from pairs.model.plan import all_steps
from pairs.model.strategy import Strategy, StrategySet
from pairs.model.strategy_xml import write_strategies
from pairs.model.tuples import STOCK_TICK_CODED
from pairs.report.making import make_report
from pairs.run_folder.folder import Run
from pairs.run_folder.records import Environment, RunManifest, SendDelayRecord

_STRATEGIES, _INDICATORS, _ORDERS, _SYMBOLS = 2_500, 600, 80, 1_000
_DURATION_MS, _START_US = 7_200_000, 1_700_000_000_000_000
_ROW_GROUPS, _ROWS = 200, 262_144


def main() -> None:
    """Make up a run, report on it, print seconds and megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        run = made_up_run(Path(folder))
        started, begun = time.perf_counter(), time.process_time()
        made = make_report([run], None)
        seconds, cpu = time.perf_counter() - started, time.process_time() - begun
        answers = {stream: pq.read_metadata(run.answers_file(stream)).num_rows for stream in ("indicators", "orders")}
        print(f"{answers['indicators']:,} indicators and {answers['orders']:,} orders of {_STRATEGIES:,} strategies")
        print(f"{seconds:.1f} s, of which {cpu:.1f} s on a core, {made.stat().st_size / 1e6:.1f} MB")


def made_up_run(folder: Path) -> Run:
    """Write everything that a run leaves behind."""
    random = np.random.default_rng(1)
    dataset, run = Dataset(folder / "market"), Run(folder / "run")
    dataset.ticks_folder.mkdir(parents=True)
    run.path.mkdir()
    symbols = [f"S{number:05d}" for number in range(_SYMBOLS)]
    _write_strategies(dataset, symbols)
    _write_ticks(dataset, symbols, random)
    _write_answers(run, symbols, random)
    _write_machine(run, random)
    _write_drivers(run, random)
    _write_progress(run, random)
    _write_manifest(run, dataset)
    return run


def _write_strategies(dataset: Dataset, symbols: list[str]) -> None:
    made = tuple(
        Strategy(
            f"st_{number:05d}", "u_1", 1_000_000, symbols[number % 500], symbols[number % 500 + 1], 12_000, 5, 1.5, 0.2
        )
        for number in range(_STRATEGIES)
    )
    write_strategies(dataset.strategies_file, StrategySet(_DURATION_MS, made))


def _write_ticks(dataset: Dataset, symbols: list[str], random: np.random.Generator) -> None:
    names = pa.array(symbols)
    with pq.ParquetWriter(dataset.tick_file(0, "parquet"), STOCK_TICK_CODED) as target:
        for group in range(_ROW_GROUPS):
            begin = group * _DURATION_MS // _ROW_GROUPS
            codes = np.arange(_ROWS, dtype=np.int32) % _SYMBOLS
            columns = [
                pa.DictionaryArray.from_arrays(pa.array(codes), names),
                pa.array((5_000 + random.normal(0, 100, _ROWS)).astype(np.int32)),
                pa.array(np.full(_ROWS, 100, np.int32)),
                pa.array(begin + np.arange(_ROWS) * (_DURATION_MS // _ROW_GROUPS) // _ROWS),
            ]
            target.write_table(pa.table(columns, schema=STOCK_TICK_CODED))


def _write_answers(run: Run, symbols: list[str], random: np.random.Generator) -> None:
    aliases = pa.array([f"st_{number:05d}" for number in range(_STRATEGIES)])
    for stream, each in (("indicators", _INDICATORS), ("orders", _ORDERS)):
        total = _STRATEGIES * each
        step = _DURATION_MS // each
        tick_ts = np.repeat(np.arange(each) * step, _STRATEGIES) + random.integers(0, 20, total)
        due = _START_US + tick_ts * 1000
        columns: dict[str, object] = {
            "strategy": pa.DictionaryArray.from_arrays(pa.array(np.tile(np.arange(_STRATEGIES), each)), aliases).cast(
                "string"
            )
        }
        if stream == "indicators":
            walk = 1 + np.cumsum(random.normal(0, 0.002, (each, _STRATEGIES)), axis=0).ravel()
            spread = np.abs(random.normal(0.01, 0.001, total))
            columns |= {"ratio": walk, "avgRatio": walk * 0.999, "upperBand": walk + spread, "lowerBand": walk - spread}
        else:
            columns |= {
                "type": np.where(np.arange(total) // _STRATEGIES % 2, "SELL", "BUY"),
                "symbol": np.array(symbols)[np.tile(np.arange(_STRATEGIES) % 500, each)],
                "price": random.integers(3_000, 16_000, total),
                "size": random.integers(1, 100, total) * 10,
            }
        columns |= {
            "inputTickTS": tick_ts,
            "inputTS": due,
            "sinkTS": due + (random.lognormal(12, 0.5, total)).astype(np.int64),
        }
        run.write_parquet(run.answers_file(stream), pa.table(columns))


def _write_machine(run: Run, random: np.random.Generator) -> None:
    seconds = np.arange(7_200)
    times = _START_US + seconds * 1_000_000
    parts = ["driver-0", "sink", "engine JVM", "engine Python"]
    total = len(seconds) * len(parts)
    samples = {
        "time": np.repeat(times, len(parts)),
        "part": parts * len(seconds),
        "cpu_seconds": random.uniform(0, 1, total),
        "rss_bytes": random.integers(10**8, 10**9, total),
        "processes": np.ones(total, np.int64),
        "read_bytes": random.integers(0, 10**6, total),
        "written_bytes": random.integers(0, 10**6, total),
    }
    run.write_parquet(run.resources_file, pa.table(samples))
    produced = np.cumsum(random.integers(49_000, 51_000, len(seconds)))
    consumed = np.maximum(produced - random.integers(0, 50_000, len(seconds)), 0)
    run.write_parquet(run.throughput_file, pa.table({"time": times, "produced": produced, "consumed": consumed}))


def _write_drivers(run: Run, random: np.random.Generator) -> None:
    seconds = [(_START_US // 1_000_000 + second, 50_000, 1_000) for second in range(7_200)]
    delays = SendDelayRecord(
        due_in_interval=1,
        sent_in_interval=1,
        ticks=360_000_000,
        step_us=10,
        histogram=[(10, 360_000_000)],
        seconds=seconds,
    )
    delays.write(run.driver_file(0))
    slots = np.arange(720_000, dtype=np.int32)
    worst = {"slot": slots, "delay_us": random.integers(100, 2_000, len(slots)).astype(np.int32)}
    run.write_parquet(run.send_delay_file(0), pa.table(worst))


def _write_progress(run: Run, random: np.random.Generator) -> None:
    lines = []
    for batch in range(24_000):
        moment = _START_US + batch * 300_000
        duration = {"total": 280, "addBatch": float(random.uniform(150, 250)), "walCommit": 15, "commitOffsets": 15}
        lines.append(
            {
                "kind": "batch",
                "batch": batch,
                "time": moment,
                "rows": 15_000,
                "duration_ms": duration,
                "state_rows": 2_500,
                "state_bytes": 1_000_000,
            }
        )
        lines.append({"kind": "jvm", "time": moment, "gc_seconds": batch * 0.001, "heap_bytes": 300_000_000})
    run.progress_file.write_text("\n".join(json.dumps(line) for line in lines))


def _write_manifest(run: Run, dataset: Dataset) -> None:
    manifest = RunManifest(
        dataset=str(dataset.path),
        dataset_manifest=None,
        strategies_digest="s" * 64,
        strategies_generated=True,
        strategies=2_500,
        warm_strategies=2_500,
        load=1_200.0,
        plan_class="block",
        plan_steps=dict(all_steps("block")),
        settings=RunSettings.from_plain({"target": "made-up", "plan": "vectorized", "speed": 1}, "bench"),
        ticks=360_000_000,
        duration_ms=_DURATION_MS,
        phases_ms={"ramp-up": 0, "warm-up": 60_000, "measurement": 1_800_000, "cool-down": 5_400_000},
        measurement_interval_ms=(1_800_000, 5_400_000),
        command=("pairs",),
        environment=Environment(system="", processor="", cores=8, memory_bytes=0, versions={}),
        engine_versions={},
        state="ended",
        start_us=_START_US,
    )
    manifest.write(run.manifest_file)


if __name__ == "__main__":
    main()
