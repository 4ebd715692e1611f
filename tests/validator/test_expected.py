"""Tests of the expected answers of a dataset: computed on Spark from files of any shape, refused, kept and reused."""

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.dataset.formats import parquet as tick_parquet
from pairs.dataset.manifest import ExpectedManifest
from pairs.model.tuples import Indicator, MarketOrder, StockTick
from pairs.validator import expected
from pairs.validator.expected import compute, current_manifest
from pairs.validator.state_machine import Answer
from tests.processes import wait_until
from tests.validator.in_process import in_order, reference
from tests.validator.markets import Market, random_walk, table_of, ticks_of, write_market, write_ticks

ROWS = 4_000


@pytest.fixture(scope="module")
def market() -> Market:
    """Walk a market with a dozen strategies that trade."""
    return random_walk(2, ticks=ROWS, strategies=12)


@pytest.fixture(scope="module")
def answers(market: Market) -> list[Answer]:
    """Return the reference's answers."""
    found = reference(market.strategies, market.ticks)
    assert sum(isinstance(answer, MarketOrder) for answer in found) > 100
    return found


def kept_answers(dataset: Dataset, market: Market) -> list[Answer]:
    """Read the expected answers in the order of time."""
    found: list[Answer] = [Indicator(**row) for row in pq.read_table(dataset.expected_file("indicators")).to_pylist()]
    found += [MarketOrder(**row) for row in pq.read_table(dataset.expected_file("orders")).to_pylist()]
    return in_order(market.strategies, found)


@pytest.mark.parametrize(
    ("files", "suffix", "rows_of_a_part", "strategies_of_a_shard"),
    [
        (3, "parquet", 500, 3),
        (1, "parquet", 1, 1),
        (1, "parquet", 10**6, 256),
        (4, "csv", 500, 3),
    ],
)
def test_the_answers_are_those_of_the_reference_however_the_work_is_divided(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    market: Market,
    answers: list[Answer],
    files: int,
    suffix: str,
    rows_of_a_part: int,
    strategies_of_a_shard: int,
) -> None:
    """Files, formats, parts of files and shards of strategies change nothing, to the last bit."""
    monkeypatch.setattr(tick_parquet, "_ROWS_OF_A_PART", rows_of_a_part)
    monkeypatch.setattr(expected, "_MAX_STRATEGIES_PER_SHARD", strategies_of_a_shard)
    dataset = write_market(tmp_path / "market", market, files, suffix, rows_of_a_group=190)
    computed = compute(spark, dataset)
    assert kept_answers(dataset, market) == answers
    orders = sum(isinstance(answer, MarketOrder) for answer in answers)
    assert (computed.ticks, computed.answers) == (
        len(market.ticks),
        {"indicators": len(answers) - orders, "orders": orders},
    )
    assert sorted(path.name for path in dataset.path.iterdir()) == ["expected", "strategies.xml", "ticks"]


def test_the_digest_of_the_ticks_does_not_depend_on_the_cut(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, market: Market
) -> None:
    """The manifest has the same digests for the same files, whatever parts they were read in."""
    dataset = write_market(tmp_path / "market", market, files=2, rows_of_a_group=1_000)
    digests = []
    for rows in (1, 10**6):
        monkeypatch.setattr(tick_parquet, "_ROWS_OF_A_PART", rows)
        compute(spark, dataset)
        manifest = current_manifest(dataset)
        assert manifest is not None
        digests.append(manifest.digests)
    assert digests[0] == digests[1]


def test_files_without_ticks_are_no_error(
    spark: SparkSession, tmp_path: Path, market: Market, answers: list[Answer]
) -> None:
    """Not at the beginning, not in between."""
    dataset = write_market(tmp_path / "market", market, files=2)
    dataset.tick_file(1, "parquet").rename(dataset.tick_file(2, "parquet"))
    for name in ("part-00000-before.parquet", "part-00001.parquet"):
        write_ticks(dataset.ticks_folder / name, [])
    compute(spark, dataset)
    assert kept_answers(dataset, market) == answers


def ordinary() -> list[StockTick]:
    """Make forty ticks of a millisecond each."""
    return [StockTick("AAA", 100, 100, number) for number in range(40)]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("file", "row", "bad", "problem"),
    [
        (0, 7, StockTick("AAA", 100, 100, 5), r"part-00000\.\w+: row 8: tickTS 5 after 6; sort by time"),
        (1, 3, StockTick("AAA", 100, 100, 1), r"part-00001\.\w+: row 4: tickTS 1 after 22; sort by time"),
        (1, 0, StockTick("AAA", 100, 100, 18), r"part-00001\.\w+: row 1: tickTS 18 after 19; the order of the files"),
        (1, 2, StockTick("AAA", 0, 100, 22), r"part-00001\.\w+: row 3: price 0; prices are whole cents above zero"),
    ],
)
def test_bad_rows_are_refused_with_their_place(
    spark: SparkSession, tmp_path: Path, market: Market, suffix: str, file: int, row: int, bad: StockTick, problem: str
) -> None:
    """Time must not run backwards, within a file or between files, and prices are above zero."""
    ticks = ordinary()
    ticks[20 * file + row] = bad
    dataset = write_market(tmp_path / "market", Market(market.strategies, ticks), 2, suffix)
    with pytest.raises(BadInputError, match=problem):
        compute(spark, dataset)
    assert current_manifest(dataset) is None
    assert sorted(path.name for path in dataset.path.iterdir()) == ["strategies.xml", "ticks"]


def test_time_that_runs_backwards_between_parts_is_refused_with_its_row(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, market: Market
) -> None:
    """Parts of a file are read separately, and the row is still that of the file."""
    monkeypatch.setattr(tick_parquet, "_ROWS_OF_A_PART", 10)
    ticks = ordinary()
    ticks[20] = StockTick("AAA", 100, 100, 18)
    dataset = write_market(tmp_path / "market", Market(market.strategies, ticks), 1, rows_of_a_group=10)
    with pytest.raises(BadInputError, match=r"part-00000\.parquet: row 21: tickTS 18 after 19"):
        compute(spark, dataset)


def test_ticks_of_the_same_time_in_two_files_are_in_order(spark: SparkSession, tmp_path: Path) -> None:
    """The second file may begin with the last time of the first."""
    market = Market(random_walk(2).strategies, ticks_of("AAA100@0 BBB100@5 AAA100@5 BBB100@7"))
    dataset = write_market(tmp_path / "market", market, 2)
    assert compute(spark, dataset).ticks == 4


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_row_without_a_price_is_refused(spark: SparkSession, tmp_path: Path, market: Market, suffix: str) -> None:
    """A missing value does not count as zero."""
    dataset = write_market(tmp_path / "market", Market(market.strategies, ordinary()), 2, suffix)
    if suffix == "csv":
        with dataset.tick_file(1, "csv").open("a") as target:
            target.write("AAA,,100,40\r\n")
    else:
        pq.write_table(table_of([("AAA", 100, 100, 20), ("AAA", None, 100, 40)]), dataset.tick_file(1, "parquet"))
    row = 2 if suffix == "parquet" else 21
    with pytest.raises(BadInputError, match=rf"part-00001\.{suffix}: row {row}: no price; every tick has a price"):
        compute(spark, dataset)


@pytest.fixture
def computed(spark: SparkSession, tmp_path: Path) -> Dataset:
    """Make a small dataset with expected answers, and wait for the clock of the file system to tick."""
    dataset = write_market(tmp_path / "market", random_walk(2, ticks=200), 2)
    compute(spark, dataset)
    written, probe = dataset.expected_manifest_file.stat().st_ctime_ns, tmp_path / "probe"

    def has_ticked() -> bool:
        probe.touch()
        return probe.stat().st_ctime_ns > written

    wait_until(has_ticked)
    return dataset


def test_untouched_answers_are_reused(computed: Dataset) -> None:
    """The manifest says what they were computed from; reading changes nothing."""
    manifest = current_manifest(computed)
    assert manifest is not None
    assert manifest.ticks == sum(pq.read_metadata(file).num_rows for file in computed.tick_files())
    assert manifest.strategies == 6
    assert current_manifest(computed) == manifest


@pytest.mark.parametrize(
    "name",
    ["ticks/part-00001.parquet", "strategies.xml", "expected/indicators.parquet", "expected/orders.parquet"],
)
@pytest.mark.parametrize("set_back", [False, True])
def test_answers_are_not_reused_after_a_change(computed: Dataset, name: str, set_back: bool) -> None:
    """Of any file concerned, even if its size stays and its time of change is set back."""
    file = computed.path / name
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    if set_back:
        os.utime(file, ns=times)
    assert current_manifest(computed) is None


def test_answers_are_not_reused_if_files_come_or_go(spark: SparkSession, computed: Dataset) -> None:
    """An additional tick file, a missing tick file, missing or damaged answers or manifest."""
    more = computed.tick_file(2, "parquet")
    write_ticks(more, [])
    assert current_manifest(computed) is None
    more.unlink()
    assert current_manifest(computed) is not None
    hidden = computed.tick_files()[-1].rename(computed.path / "elsewhere")
    assert current_manifest(computed) is None
    hidden.rename(computed.tick_file(1, "parquet"))
    compute(spark, computed)
    assert current_manifest(computed) is not None
    for broken in ("", "[]", "{}", "null", '{"version": 1}'):
        computed.expected_manifest_file.write_text(broken)
        assert current_manifest(computed) is None
    compute(spark, computed)
    computed.expected_file("orders").unlink()
    assert current_manifest(computed) is None


def test_a_change_while_computing_shows(
    spark: SparkSession, computed: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ticks that change after they were read make the answers those of other ticks."""
    join = expected._join

    def changing(*arguments: Any) -> None:
        join(*arguments)
        computed.tick_files()[0].touch()

    monkeypatch.setattr(expected, "_join", changing)
    compute(spark, computed)
    assert current_manifest(computed) is None


def test_answers_of_another_version_are_not_reused(computed: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of the kit nor of what it computes."""
    with monkeypatch.context() as changed:
        changed.setattr(ExpectedManifest, "FORMAT", ExpectedManifest.FORMAT + 1)
        assert current_manifest(computed) is None
    monkeypatch.setattr(expected, "__version__", "0.0.0.other")
    assert current_manifest(computed) is None


def test_a_failure_while_computing_anew_leaves_the_old_answers_in_place(
    spark: SparkSession, computed: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are replaced only by complete answers."""
    before = current_manifest(computed)

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(expected, "_join", broken)
    with pytest.raises(OSError, match="disk full"):
        compute(spark, computed)
    assert current_manifest(computed) == before
