"""Tests of the Spark job that writes the ticks."""

import csv
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pairs.config.profile import Profile, load_profile
from pairs.config.workload import Workload, complete
from pairs.dataset.check import check
from pairs.dataset.digest import PartialDigest
from pairs.dataset.folder import Dataset, new_dataset
from pairs.dataset.formats import FORMATS
from pairs.dataset.reader import read_ticks
from pairs.generator.job import FileTask, cut_into_files, generate, write_file
from pairs.generator.ticks import TickSource
from pairs.model.tuples import STOCK_TICK

DIGESTS = Path(__file__).parents[2] / "docs" / "digests.md"


def written(spark: SparkSession, path: Path, workload: Workload, files: int | None, suffix: str = "parquet") -> Dataset:
    """Generate a dataset the way the command line does."""
    source = TickSource(workload)
    with new_dataset(path, overwrite=False) as dataset:
        generate(
            spark, source, dataset, Profile("mine", workload), suffix, cut_into_files(source.timeline.ticks, files)
        )
    return Dataset(path)


@pytest.fixture(scope="module")
def quick() -> Workload:
    """Load the quick profile at scale factor 1."""
    return load_profile("quick", {}).workload


@pytest.fixture(scope="module")
def dataset(spark: SparkSession, quick: Workload, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Make a quick dataset in three files."""
    return written(spark, tmp_path_factory.mktemp("quick") / "market", quick, 3)


@pytest.mark.parametrize(
    ("files", "suffix"), [(1, "parquet"), (16, "parquet"), (None, "parquet"), (1, "csv"), (3, "csv"), (3, "virtual")]
)
def test_files_and_format_do_not_change_the_content(
    spark: SparkSession, quick: Workload, dataset: Dataset, tmp_path: Path, files: int | None, suffix: str
) -> None:
    """The digest is the same however the ticks are stored, also when computed again from what is on disk."""
    other = written(spark, tmp_path / "market", quick, files, suffix)
    assert len(other.tick_files()) == (files or 1)
    found = check(spark, other)
    assert (found.problems, found.remarks) == ([], [])
    assert found.digest == other.manifest.digest == dataset.manifest.digest


def test_a_virtual_dataset_is_the_stored_one(
    spark: SparkSession, quick: Workload, dataset: Dataset, tmp_path: Path
) -> None:
    """Without ticks on disk, every row is the same, and so is the manifest but for the files."""
    virtual = written(spark, tmp_path / "market", quick, 5, "virtual")
    stored, again = (
        pa.concat_tables(pa.Table.from_batches(read_ticks(file)).cast(STOCK_TICK) for file in folder.tick_files())
        for folder in (dataset, virtual)
    )
    assert again.equals(stored)
    assert sum(file.stat().st_size for file in virtual.tick_files()) < 5_000
    differing = {"format", "files"}
    assert virtual.manifest.model_dump(exclude=differing) == dataset.manifest.model_dump(exclude=differing)


def test_documented_digests_hold() -> None:
    """Anyone who draws the documented markets gets the documented digests."""
    rows = re.findall(r"\| (\w+) \| (\d+) \| (\d+) \| ([\d,]+) \| `([0-9a-f]{64})` \|", DIGESTS.read_text())
    assert {(profile, scale_factor) for profile, scale_factor, *_ in rows} >= {
        ("quick", "1"),
        ("quick", "10"),
        ("quick", "100"),
    }
    for profile, scale_factor, seed, ticks, digest in rows:
        source = TickSource(load_profile(profile, {"scale_factor": scale_factor, "seed": seed}).workload)
        assert f"{source.timeline.ticks:,}" == ticks
        drawn = sum((part for _, part in source.draw(0, source.timeline.ticks)), PartialDigest())
        assert drawn.hexdigest() == digest


def test_spark_reads_what_was_written(spark: SparkSession, dataset: Dataset) -> None:
    """The files are ordinary Parquet with the specified columns, types and order."""
    frame = spark.read.parquet(str(dataset.ticks_folder))
    assert frame.dtypes == [("symbol", "string"), ("price", "int"), ("size", "int"), ("tickTS", "bigint")]
    assert frame.count() == dataset.manifest.counts.ticks
    first = frame.selectExpr("min(price) price", "min(size) size", "max(size) most", "max(size % 10) rest").first()
    assert first is not None
    assert (first["price"] >= 1, first["size"], first["most"], first["rest"]) == (True, 100, 1000, 0)


def test_files_are_contiguous_in_time_and_symbols_cycle(dataset: Dataset, quick: Workload) -> None:
    """The order of files and rows is the order of the stream: times ascend, symbols go round."""
    ticks = pa.concat_tables([pq.read_table(path) for path in dataset.tick_files()])
    times = ticks["tickTS"].to_numpy()
    assert (times[1:] >= times[:-1]).all()
    assert (times[0], times[-1], times[-2] < quick.duration) == (0, quick.duration, True)
    names = TickSource(quick).market.symbols
    assert ticks["symbol"].to_pylist() == [names[number % 100] for number in range(len(ticks))]


def test_the_manifest_describes_the_dataset(dataset: Dataset, quick: Workload) -> None:
    """dataset.json has the whole configuration, counts, interval and whether it is standard."""
    manifest = dataset.manifest
    assert manifest.workload == quick
    assert manifest.counts.ticks == sum(file.ticks for file in manifest.files)
    assert manifest.measurement_interval_ms == (1_800_000, 5_400_000)
    assert (manifest.standard, manifest.nonstandard) == (False, ("basis_rate",))
    assert sorted(path.name for path in dataset.path.iterdir()) == ["correlations.csv", "dataset.json", "ticks"]
    assert all(not path.name.startswith(".") for path in dataset.ticks_folder.iterdir())


def test_the_auxiliary_file_lists_the_pairs(spark: SparkSession, tmp_path: Path) -> None:
    """Two markets have 25 pairs each, numbered from 1, of symbols that trade."""
    workload = complete({"scale_factor": 11, "duration": 1_000})
    made = written(spark, tmp_path / "market", workload, 1)
    rows = list(csv.DictReader(made.correlations_file.open(newline="")))
    names = TickSource(workload).market.symbols
    assert [row["market"] for row in rows] == ["1"] * 25 + ["2"] * 25
    assert all(names.index(row["symbol1"]) // 100 == int(row["market"]) - 1 for row in rows)
    assert len({row[leg] for row in rows for leg in ("symbol1", "symbol2")} & set(names)) == 100


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_task_may_run_twice(tmp_path: Path, quick: Workload, suffix: str) -> None:
    """A second attempt writes the same file and leaves nothing else."""
    task = FileTask(quick, 1_000, 5_000, tmp_path / f"part.{suffix}", FORMATS[suffix])
    first, content = write_file(task), task.path.read_bytes()
    assert write_file(task).digest == first.digest
    assert task.path.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([task.path.name, task.progress_file.name])


def test_the_shortest_market_opens_and_closes(spark: SparkSession, tmp_path: Path) -> None:
    """However short or slow, a market has its opening trade and its bell."""
    workload = complete({"duration": 1, "basis_rate": 1})
    made = written(spark, tmp_path / "market", workload, None)
    [batch] = read_ticks(made.tick_files()[0])
    assert batch["tickTS"].to_pylist() == [0, 1]


@pytest.mark.parametrize("damage", ["dropped", "altered", "cut", "extra"])
def test_damage_is_found(spark: SparkSession, quick: Workload, tmp_path: Path, damage: str) -> None:
    """A file missing, altered, truncated or added is found and named."""
    made = written(spark, tmp_path / "market", quick, 3)
    target = made.tick_file(1, "parquet")
    if damage == "dropped":
        target.unlink()
    elif damage == "altered":
        table = pq.read_table(target)
        prices = table["price"].to_numpy().copy()
        prices[77] += 1
        pq.write_table(table.set_column(1, table.schema.field(1), pa.array(prices)), target)
    elif damage == "cut":
        target.write_bytes(target.read_bytes()[:-1000])
    else:
        made.tick_file(9, "parquet").write_bytes(target.read_bytes())
    first = check(spark, made).problems[0]
    assert {
        "dropped": "part-00001.parquet is missing, dataset.json names it",
        "altered": "the rows have digest",
        "cut": "part-00001.parquet: not a readable tick file",
        "extra": "part-00009.parquet is not in dataset.json",
    }[damage] in first
