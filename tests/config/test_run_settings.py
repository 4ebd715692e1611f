"""Tests of run settings: engine, plan, speed, faults and engine settings, from a file and from flags."""

from pathlib import Path

import pytest

from pairs.config.run_settings import FaultSpec, RunSettings, load_run
from pairs.config.settings import shipped
from pairs.core.errors import BadInputError


@pytest.mark.parametrize("run", shipped("runs"))
def test_a_run_has_a_speed_only_if_it_is_set(run: str) -> None:
    """Without --speed the dataset's recommended speed applies."""
    assert load_run(run, {}).speed is None
    assert load_run(run, {"speed": "max"}).speed == "max"
    assert load_run(run, {"speed": "60"}).speed == 60.0


def test_engine_settings_come_from_file_or_flag(tmp_path: Path) -> None:
    """A run file's table of settings is kept as text; --set gives the same."""
    file = tmp_path / "mine.toml"
    file.write_text('plan = "keyed"\n[settings]\n"spark.sql.shuffle.partitions" = 2\n"spark.x" = true\n')
    assert load_run(str(file), {}).settings == {"spark.sql.shuffle.partitions": "2", "spark.x": "true"}
    assert load_run("local", {"settings": ["a=b=c"]}).settings == {"a": "b=c"}


def test_a_flag_overrides_one_engine_setting(tmp_path: Path) -> None:
    """The others of the run file stay."""
    file = tmp_path / "mine.toml"
    file.write_text("[settings]\nshards = 2\npartitions = 3\n")
    settings = load_run(str(file), {"settings": ["shards=+04", "state=whole"]})
    assert settings.settings == {"shards": "+04", "partitions": "3", "state": "whole"}
    assert settings.engine_place("partitions") == f"{file}: settings partitions"
    assert settings.engine_place("shards") == "--set shards"


def test_faults_are_sorted_by_time() -> None:
    """Each is written KIND@TIME; the order of the flags does not matter."""
    settings = load_run("local", {"faults": ["kill@30m", "kill@90s"]})
    assert settings.faults == (FaultSpec(90_000, "kill"), FaultSpec(1_800_000, "kill"))


def test_run_settings_read_back() -> None:
    """run.json has the whole configuration, without what is not set."""
    settings = load_run("local", {"speed": "max", "faults": ["kill@30m"], "settings": ["a=b"], "plan": "keyed"})
    assert RunSettings.from_plain(settings.as_plain(), "run.json") == settings
    assert "plan" not in load_run("local", {}).as_plain()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"speed": "fast"}, "--speed: 'fast' is not valid; give a number from 0.001 to 10,000 such as 1 or 60, or max"),
        ({"drivers": "0"}, "--drivers: '0' is not valid; give a whole number from 1 to 16"),
        ({"faults": ["kill"]}, "--fault: 'kill' is not valid; give a fault and a time above zero such as kill@30m"),
        ({"faults": ["@30m"]}, "--fault: '@30m' is not valid"),
        ({"settings": ["a"]}, "--set: 'a' is not valid; give a name and a value such as"),
    ],
)
def test_bad_run_settings_are_refused(flags: dict[str, object], message: str) -> None:
    """The message names the flag and what would be valid."""
    with pytest.raises(BadInputError) as error:
        load_run("local", flags)
    assert str(error.value).startswith(message)


def test_a_list_that_holds_no_settings_is_refused(tmp_path: Path) -> None:
    """A file may hold a list of anything where a table belongs."""
    (tmp_path / "run.toml").write_text("settings = [[], 1]")
    with pytest.raises(BadInputError, match=r"run\.toml: settings: \[\] is not valid; give a name and a value"):
        load_run(str(tmp_path / "run.toml"), {})
