"""Tests of the stage that generates a dataset, without Spark: an existing dataset is used or refused."""

from pathlib import Path

import pytest

from pairs.config.profile import Profile, load_profile
from pairs.config.run_settings import load_run
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Correlation, Dataset
from pairs.dataset.manifest import DatasetManifest, describe_generated
from pairs.generator.job import FileTask, write_file
from pairs.generator.market import Market
from pairs.generator.virtual import Virtual
from pairs.stages.begin import replay_of
from pairs.stages.generate import GeneratedStrategies, ensure_dataset, profile_for

FLAGS = {"duration": "10s"}


def written(path: Path, profile: Profile) -> DatasetManifest:
    """Write a virtual dataset the way the Spark job does."""
    dataset = Dataset(path)
    dataset.ticks_folder.mkdir(parents=True)
    file = write_file(FileTask(profile.workload, 0, 1_000, dataset.tick_file(0, "virtual"), Virtual()))
    dataset.remove_leftovers()
    market = Market(profile.workload)
    names = [(number, market.symbols[leg1], market.symbols[leg2]) for number, leg1, leg2 in market.pairs.tolist()]
    dataset.write_correlations(Correlation(number + 1, *symbols) for number, *symbols in names)
    manifest = describe_generated(profile, dataset.content("virtual", file.digest, [file.entry]))
    manifest.write(dataset.manifest_file)
    return manifest


def test_the_dataset_that_was_generated_is_used_whatever_the_speed(tmp_path: Path) -> None:
    """`pairs bench --data D --speed 30` runs again on the dataset of `pairs bench --data D`."""
    manifest = written(tmp_path, load_profile("quick", FLAGS))
    done: list[object] = []
    for flags in (FLAGS, FLAGS | {"speed": "30"}):
        dataset = ensure_dataset(load_profile("quick", flags), tmp_path, "virtual", "nowhere", done.append)
        assert dataset.manifest == manifest
    assert [type(result) for result in done] == [GeneratedStrategies]  # the first time


def test_another_workload_is_refused(tmp_path: Path) -> None:
    """A dataset is never mistaken for that of other parameters."""
    written(tmp_path, load_profile("quick", FLAGS))
    with pytest.raises(BadInputError, match="has a dataset with another seed; give another folder"):
        ensure_dataset(load_profile("quick", FLAGS | {"seed": "2"}), tmp_path, "virtual", "nowhere", lambda _: None)


def test_a_dataset_tells_its_own_workload(tmp_path: Path) -> None:
    """Without a profile and a flag of a workload, what is in the folder is meant, whatever it was made from."""
    profile = load_profile("quick", FLAGS)
    written(tmp_path, profile)
    for flags in ({}, {"speed": "30"}, {"plan": "keyed"}):
        assert profile_for(None, "standard", flags, tmp_path) == profile
    assert profile_for("sprint", "standard", {}, tmp_path) == load_profile("sprint", {})
    assert profile_for(None, "standard", {"seed": "2"}, tmp_path) == load_profile("standard", {"seed": "2"})
    assert profile_for(None, "standard", {}, tmp_path / "new") == load_profile("standard", {})
    assert profile_for(None, "standard", {}, None) == load_profile("standard", {})


@pytest.mark.parametrize(("speed", "expected"), [(None, 60.0), ("30", 30.0), ("max", "max")])
def test_a_run_takes_the_recommended_speed_of_its_dataset(
    tmp_path: Path, speed: str | None, expected: float | str
) -> None:
    """Unless the run sets a speed."""
    written(tmp_path, load_profile("quick", FLAGS))
    dataset = ensure_dataset(load_profile("quick", FLAGS), tmp_path, "virtual", "nowhere", lambda _: None)
    flags = {"target": "bare"} | ({} if speed is None else {"speed": speed})
    assert replay_of(dataset, load_run("local", flags)).settings.speed == expected
