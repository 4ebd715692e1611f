"""Tests of profiles: a workload and its recommended speed, from a file and from flags."""

from pathlib import Path

import pytest

from pairs.config.profile import load_profile
from pairs.config.workload import Workload
from pairs.core.errors import BadInputError


def test_flags_override_the_profile() -> None:
    """A flag wins over the file; what neither sets follows from the scale factor."""
    workload = load_profile("quick", {"scale_factor": "15", "volatility": "0.01"}).workload
    assert (workload.scale_factor, workload.volatility, workload.symbols) == (15, 0.01, 200)


@pytest.mark.parametrize(("name", "minutes"), [("quick", 2), ("sprint", 6)])
def test_short_profiles_replay_at_the_standard_rate(name: str, minutes: int) -> None:
    """At its recommended speed the profile sends 5,000 ticks per wall second and market, for all of two hours."""
    short, standard = load_profile(name, {}), load_profile("standard", {})
    assert short.workload.basis_rate * int(short.speed) == 5_000
    assert short.workload.duration == standard.workload.duration == 7_200_000
    assert short.workload.duration / short.speed == minutes * 60_000
    assert short.workload.nonstandard == ["basis_rate"]


def test_the_burst_is_as_published() -> None:
    """A minute, five minutes, ten seconds and five minutes, in real time at the standard rate."""
    burst = load_profile("burst", {})
    assert burst.workload.phase_begins == {"ramp-up": 0, "steady": 60_000, "burst": 360_000, "recovery": 370_000}
    assert (burst.workload.duration, burst.speed) == (670_000, 1)
    assert burst.workload.basis_rate == 5_000


def test_standard_is_standard() -> None:
    """Scores are comparable if they come from the standard profile."""
    standard = load_profile("standard", {})
    assert (standard.workload.nonstandard, standard.speed) == ([], 1)


def test_the_speed_of_a_profile_is_not_part_of_its_workload(tmp_path: Path) -> None:
    """A file may recommend a speed; the workload, and so the dataset, is the same whatever it is."""
    slow, fast = tmp_path / "slow.toml", tmp_path / "fast.toml"
    slow.write_text("scale_factor = 2\n")
    fast.write_text("scale_factor = 2\nspeed = 30\n")
    profiles = [load_profile(str(file), {}) for file in (slow, fast)]
    assert [(profile.name, profile.speed) for profile in profiles] == [("slow", 1.0), ("fast", 30.0)]
    assert profiles[0].workload == profiles[1].workload
    assert load_profile("quick", {"speed": "5"}) == load_profile("quick", {})  # --speed belongs to the run


def test_a_resolved_workload_reads_back() -> None:
    """The whole configuration is saved with a result."""
    flags = {"scale_factor": "11", "market": "cointegrated", "seed": str(2**64 - 1)}
    workload = load_profile("quick", flags).workload
    assert Workload.from_plain(workload.as_plain(), "dataset.json") == workload


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("scalefactor = 1", "unknown key 'scalefactor'; did you mean 'scale_factor'?"),
        ("duration = 0", "duration: 0 is not valid; give a duration above zero"),
        ("seed = true", "seed: true is not valid; give a whole number"),
        ("seed = ", "not valid TOML"),
        ("speed = 0", "speed: 0 is not valid; give a number from 0.001"),
        ('speed = "max"', "speed: 'max' is not valid; give a number from 0.001"),
        ("volatility = 1" + 400 * "0", "is not valid; give a number from 0 up"),
        ("correlations = 51", "correlations: 51 correlations need 102 symbols and there are 100; give at most 50"),
        ("[market]\nkind = 1", "market: a table is not valid; give one of gbm, cointegrated"),
    ],
)
def test_a_bad_profile_is_refused_with_file_key_and_remedy(tmp_path: Path, content: str, message: str) -> None:
    """The message names the file, the key and what would be valid."""
    file = tmp_path / "mine.toml"
    file.write_text(content)
    with pytest.raises(BadInputError) as error:
        load_profile(str(file), {})
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)
