"""Tests of phases of one's own: read from a profile, kept exact, refused with file and phase."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.config.phases import PHASES, PhaseRate
from pairs.config.profile import load_profile
from pairs.config.workload import Workload, complete
from pairs.core.errors import BadInputError
from tests.records import dataset_manifest

DOCS = Path(__file__).parents[2] / "docs" / "datasets.md"
DAY = """
[[phase]]
name = "opening"
until = "10m"
rate = "150%"
[[phase]]
name = "halt"
until = "12m"
rate = 0
[[phase]]
name = "afternoon"
until = "1h"
rate = "5000/60"
"""


def profile_of(folder: Path, content: str) -> str:
    """Write a profile."""
    (folder / "mine.toml").write_text(content)
    return str(folder / "mine.toml")


def phase(name: str = "'a'", until: str = "'1m'", rate: str = "5") -> str:
    """Return the table of a phase."""
    return f"[[phase]]\nname = {name}\nuntil = {until}\nrate = {rate}\n"


def test_phases_make_the_day(tmp_path: Path) -> None:
    """The duration is the end of the last; rates are multiples of the basis rate; the day is not standard."""
    workload = load_profile(profile_of(tmp_path, "market_rate = 100\n" + DAY), {}).workload
    assert (workload.duration, workload.curve) == (3_600_000, "phases")
    assert workload.phase_begins == {"opening": 0, "halt": 600_000, "afternoon": 720_000}
    assert [factor for _, factor in workload.steps] == [Fraction(3, 2), 0, Fraction(5, 6)]
    assert workload.nonstandard == ["duration", "basis_rate", "phases"]
    assert workload.measurement_interval == (900_000, 2_700_000)


def test_shares_follow_the_scale_factor_and_rates_do_not(tmp_path: Path) -> None:
    """A share is of the basis rate of all markets."""
    small, large = (load_profile(profile_of(tmp_path, DAY), {"scale_factor": sf}).workload for sf in ("1", "20"))
    times, low = small.rate_knots(float(small.basis_rate))
    _, high = large.rate_knots(float(large.basis_rate))
    assert times == [0, 600_000, 600_000, 720_000, 720_000, 3_600_000]
    assert low == pytest.approx([7_500, 7_500, 0, 0, 5000 / 60, 5000 / 60])
    assert high == pytest.approx([15_000, 15_000, 0, 0, 5000 / 60, 5000 / 60])


def test_phases_read_back(tmp_path: Path) -> None:
    """From the parameters in dataset.json the same workload follows."""
    workload = load_profile(profile_of(tmp_path, DAY), {}).workload
    plain = json.loads(json.dumps(workload.as_plain()))
    assert plain["phase"][0] == {"name": "opening", "until": "10m", "rate": "150%"}
    assert Workload.from_plain(plain, "dataset.json") == workload
    manifest = dataset_manifest().model_copy(update={"parameters": workload.as_plain()})
    manifest.write(tmp_path / "dataset.json")
    assert type(manifest).read(tmp_path / "dataset.json").workload == workload


def test_a_workload_without_phases_is_written_as_before() -> None:
    """There is no key for phases."""
    assert "phase" not in complete({}).as_plain()
    assert "phases" not in complete({}).as_plain()


@given(st.fractions(0, 1_000) | st.fractions(0, 10**9), st.booleans())
def test_a_rate_reads_back(value: Fraction, is_share: bool) -> None:
    """Fractions and percentages survive being written and read, as far as they are accepted."""
    rate = PhaseRate(value, is_share)
    try:
        parsed = PhaseRate.parse(rate.show())
    except ValueError:
        assert 0 < value < Fraction(1, 10**6) or value > 1_000 or len(str(rate.show())) > 40
    else:
        assert parsed == rate


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (phase("''"), "phase 1: name: '' is not valid; give a text of 1 to 40 printable characters"),
        (phase(f"'{41 * 'x'}'"), "phase 1: name: "),
        (phase('"a\\nb"'), "phase 1: name: "),
        (phase(until="'soon'"), "phase 1: until: 'soon' is not valid; give a duration above zero"),
        (phase(rate="-1"), "phase 1: rate: -1 is not valid; give ticks per second such as 5000"),
        (phase(rate="'x%'"), "phase 1: rate: 'x%' is not valid"),
        (phase(rate="'200000%'"), "phase 1: rate: '200000%' is not valid"),
        (phase(rate="0"), "phase 1: rate: is 0 as in all phases; give at least one phase a rate above zero"),
        (phase() + phase("'b'"), "phase 2: until: 1m is not after 1m, when phase 1 ends; give a later time"),
        (phase() + phase(until="'2m'"), "phase 2: name: 'a' is the name of phase 1; give each phase a name of its own"),
        ("[[phase]]\nname = 'a'\nuntil = '1m'", "phase 1: rate: is missing; give ticks per second"),
        (phase() + "nmae = 3", "phase 1: unknown key 'nmae'; did you mean 'name'?"),
        ("phase = []", "phase: [] is not valid; give tables [[phase]], each with name, until and rate"),
        ("phase = 3", "phase: 3 is not valid; give tables [[phase]]"),
        ("[phase]\nname = 'a'", "phase: a table is not valid; give tables [[phase]]"),
        ("phases = 1", "unknown key 'phases'; did you mean 'phase'?"),
        ("duration = '2h'\n" + phase(), "duration: 2h, but the last phase ends at 1m; leave the duration out"),
        ("curve = 'burst'\n" + phase(), "curve: 'burst' contradicts the phases of the profile; leave it out"),
        ("curve = 'phases'", "curve: there are no phases; add tables [[phase]] to the profile"),
    ],
)
def test_bad_phases_are_refused_with_file_phase_and_remedy(tmp_path: Path, content: str, message: str) -> None:
    """The message names the file, the number of the phase, the key and what would be valid."""
    file = profile_of(tmp_path, content)
    with pytest.raises(BadInputError) as error:
        load_profile(file, {})
    assert str(error.value).startswith(f"{file}: {message}")


def test_a_flag_cannot_contradict_the_phases(tmp_path: Path) -> None:
    """Neither the duration nor the curve; a duration that agrees is fine."""
    file = profile_of(tmp_path, DAY)
    assert load_profile(file, {"duration": "1h"}) == load_profile(file, {})
    with pytest.raises(BadInputError, match=r"^--duration: 10m, but the last phase ends at 1h; "):
        load_profile(file, {"duration": "10m"})
    with pytest.raises(BadInputError, match=r"^--curve: 'constant' contradicts the phases"):
        load_profile(file, {"curve": "constant"})


def test_no_phases_are_shown_as_nothing() -> None:
    """So that the key is left out."""
    assert PHASES.show(()) is None


def test_the_documented_profile_is_valid(tmp_path: Path) -> None:
    """The example in docs/datasets.md can be played as it stands."""
    example = DOCS.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    workload = load_profile(profile_of(tmp_path, example), {}).workload
    assert workload.phase_begins == {"auction": 0, "halt": 300_000, "step 1": 480_000, "step 2": 1_200_000}
