"""Tests of profiles, run files and flags."""

from pathlib import Path

import pytest

from pairs.config.load import load_run, load_workload, shipped, workload_from_plain
from pairs.core.errors import BadInputError


def test_flags_override_the_profile() -> None:
    """A flag wins over the file; what neither says follows from the scale factor."""
    workload = load_workload("quick", {"scale_factor": "15", "volatility": "0.01"})
    assert (workload.scale_factor, workload.volatility, workload.symbols) == (15, 0.01, 200)


def test_quick_replays_at_the_standard_rate() -> None:
    """At its own speed the quick profile sends 5,000 ticks per wall second and market, all of two hours."""
    quick = load_workload("quick", {})
    assert isinstance(quick.speed, float)
    assert quick.basis_rate * int(quick.speed) == 5_000
    assert quick.duration == load_workload("standard", {}).duration == 7_200_000


def test_standard_is_standard() -> None:
    """The standard profile is what scores are compared by."""
    workload = load_workload("standard", {})
    assert workload.nonstandard == []
    assert workload.speed == 1


@pytest.mark.parametrize("profile", shipped("profiles"))
@pytest.mark.parametrize("run", shipped("runs"))
def test_any_profile_goes_with_any_run_file(profile: str, run: str) -> None:
    """A run takes its pace from the profile unless told otherwise."""
    workload = load_workload(profile, {})
    assert load_run(run, {}, workload.speed).speed == workload.speed
    assert load_run(run, {"speed": "max"}, workload.speed).speed == "max"


def test_engine_settings_come_from_file_or_flag(tmp_path: Path) -> None:
    """A run file's table of settings is kept as text; --set gives the same."""
    file = tmp_path / "mine.toml"
    file.write_text('plan = "direct"\n[settings]\n"spark.sql.shuffle.partitions" = 2\n"spark.x" = true\n')
    workload = load_workload("quick", {})
    assert load_run(str(file), {}, workload.speed).settings == {"spark.sql.shuffle.partitions": "2", "spark.x": "true"}
    assert load_run("local", {"settings": ["a=b=c"]}, workload.speed).settings == {"a": "b=c"}


def test_a_resolved_workload_reads_back() -> None:
    """What is saved with a result is the whole configuration."""
    workload = load_workload("quick", {"scale_factor": "11", "market": "cointegrated", "seed": str(2**64 - 1)})
    assert workload_from_plain(workload.as_plain(), "dataset.json") == workload


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("scalefactor = 1", "unknown key 'scalefactor'; did you mean 'scale_factor'?"),
        ("duration = 0", "duration: 0 is not valid; give a duration above zero"),
        ("seed = true", "seed: True is not valid; give a whole number"),
        ("seed = ", "not valid TOML"),
        ("volatility = 1" + 400 * "0", "is not valid; give a number from 0 up"),
        ("correlations = 51", "correlations: 51 correlations need 102 symbols and there are 100; give at most 50"),
        ("[market]\nkind = 1", "market: {'kind': 1} is not valid; give one of gbm, cointegrated"),
    ],
)
def test_a_bad_profile_is_refused_with_file_key_and_remedy(tmp_path: Path, content: str, message: str) -> None:
    """The message names the file, the key and what would be valid."""
    file = tmp_path / "mine.toml"
    file.write_text(content)
    with pytest.raises(BadInputError) as error:
        load_workload(str(file), {})
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)
