"""Tests of the records of a run: every record reads back as it was written."""

import json
from pathlib import Path

import pytest

from pairs.core.errors import BadInputError
from pairs.core.records import Record
from pairs.dataset.manifest import ExpectedManifest, FileStamp, InputDigests
from pairs.run_folder.folder import Run
from pairs.run_folder.records import (
    Adaptivity,
    FirstError,
    InjectedFault,
    InvalidRow,
    LatencySummary,
    Recovery,
    ScoreRecord,
    SendDelayRecord,
    SendDelaySummary,
    SinkRecord,
    StreamCounts,
    ValidationRecord,
    WrongColumn,
)
from pairs.stages.search_session import SearchManifest
from tests.records import dataset_manifest, run_manifest

DIGESTS = InputDigests(ticks="t", strategies="s")
LATENCY = LatencySummary(count=2, min=0.1, avg=0.2, p50=0.2, p95=0.3, p99=0.3, max=0.3, **{"p99.9": 0.3})
COUNTS = StreamCounts(
    validator=3,
    sut=3,
    correct=2,
    missing=1,
    undue=1,
    wrong=0,
    duplicates=0,
    wrong_columns=(
        WrongColumn(file="orders.csv", column="price", found="text", expected="whole numbers", first="price is 'x'"),
    ),
    malformed=1,
    malformed_examples=(InvalidRow(file="orders.csv", line=2, problem="price is empty"),),
    unknown_strategies={"x": 1},
)
SCORE = ScoreRecord(
    scale_factor=1,
    target="bare",
    plan="vectorized",
    plan_class="block",
    transport="ticklog",
    speed="max",
    standard=False,
    nonstandard=("speed",),
    valid=False,
    reasons=("unpaced",),
    warnings=("the machine was busy",),
    load=3.0,
    p99=0.3,
    p99_interval=(0.2, 0.4),
    orders=200,
    triggers=120,
    p_score=10.0,
    p_score_interval=(7.5, 15.0),
    verdict="PASSED",
    latency_s={"orders": LATENCY, "indicators": LatencySummary(count=0)},
    send_delay=SendDelaySummary(ticks=10, p50_s=0.0, p99_s=0.001, max_s=0.002),
    recovery=Recovery(kind="precise", explanation="x", faults=1, times_s=(1.5, None), latency_s={"orders": LATENCY}),
    adaptivity=Adaptivity(
        max_peak_latency_s=1.0, peak_degradation_ratio=2.0, recovery_time_s=None, post_peak_variation_ratio=1.0
    ),
)
VALIDATION = ValidationRecord(
    verdict="FAILED",
    streams={"indicators": COUNTS, "orders": COUNTS},
    first_errors=(FirstError(inputTickTS=5, strategy="s", stream="orders", kind="missing", incorrect=1),),
    knife_edges=12,
    knife_edge_strategies=("s",),
    dataset="/data/market",
    digests=DIGESTS,
)
RECORDS: dict[str, Record] = {
    "dataset": dataset_manifest(),
    "imported dataset": dataset_manifest().model_copy(update={"first_trade_ns": 7, "trades_by_symbol": {"A": 3}}),
    "expected": ExpectedManifest(
        digests=DIGESTS,
        ticks=10,
        strategies=1,
        answers={"orders": 2},
        knife_edges={"s": 12},
        files={"ticks/part-00000.csv": FileStamp(size=1, mtime_ns=2, ctime_ns=3)},
    ),
    "run": run_manifest(faults=(InjectedFault(kind="kill", at_us=5),)),
    "run of a hand-made dataset": run_manifest(dataset_manifest=None, ticks=None, start_us=None),
    "score": SCORE,
    "validation": VALIDATION,
    "sink": SinkRecord(
        writers=1, batches=2, rows={"orders": 1}, repeated_batches=0, repeated_rows={}, recent_latency_us={"p50": 1}
    ),
    "send delay": SendDelayRecord(
        due_in_interval=5, sent_in_interval=5, ticks=10, step_us=10, histogram=[(1, 10)], seconds=[(1, 10, 5)]
    ),
    "search": SearchManifest(profile="sprint", settings={"target": "bare"}, workload={"scale_factor": 1}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_reads_back(name: str, tmp_path: Path) -> None:
    """Nothing is lost between writing and reading."""
    record = RECORDS[name]
    record.write(tmp_path / "record.json")
    assert type(record).read(tmp_path / "record.json") == record


def test_streams_and_percentiles_have_their_published_keys() -> None:
    """validation.json has a key for each stream, score.json has p99.9."""
    assert '"orders": {' in VALIDATION.to_json()
    assert '"streams"' not in VALIDATION.to_json()
    assert '"p99.9": 0.3' in SCORE.to_json()


def test_a_run_of_another_version_is_refused(tmp_path: Path) -> None:
    """The message says which kit wrote it and what to do."""
    run_manifest(format_version=1, kit_version="0.0.1").write(tmp_path / "run.json")
    with pytest.raises(BadInputError, match=r"run\.json: has format version 1, not \d: kit 0\.0\.1 .*; run it again"):
        _ = Run(tmp_path).manifest


def test_the_speed_of_a_run_is_a_number_or_none() -> None:
    """None for an unpaced run."""
    assert run_manifest().speed == 60.0
    unpaced = {**run_manifest().settings.as_plain(), "speed": "max"}
    assert run_manifest(settings=type(run_manifest().settings).from_plain(unpaced, "test")).speed is None


@pytest.mark.parametrize("settings", ["null", "[]", '"x"', "[null]", "[[]]", "7"])
def test_settings_that_are_no_table_are_refused(tmp_path: Path, settings: str) -> None:
    """The message names file and field."""
    manifest = json.loads(run_manifest().to_json()) | {"settings": json.loads(settings)}
    Run(tmp_path).manifest_file.write_text(json.dumps(manifest))
    with pytest.raises(BadInputError, match=r"run\.json: settings: Value error, Input should be settings by name"):
        _ = Run(tmp_path).manifest
