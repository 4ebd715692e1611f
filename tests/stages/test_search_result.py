"""The rate of a benchmark from what a search found."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from pairs.cli import app as cli
from pairs.config.profile import Profile, load_profile
from pairs.config.run_settings import load_run
from pairs.core.errors import BadInputError
from pairs.run_folder.folder import Run
from pairs.stages.search_result import profile_at, sustained_load
from pairs.stages.search_session import SearchManifest, SearchSession, search_folder
from tests.report.runs import change_score, golden_run

BARE = load_run("local", {"target": "bare"})


def finished_search(folder: Path, points: dict[int, bool], limit_s: float = 1.0) -> Path:
    """Make a search with a run at each scale factor, sustained or not; its rate is 7,500 ticks/s at speed 90."""
    SearchManifest(profile="sprint", settings={}, workload={}, limit_s=limit_s).write(folder / "search.json")
    for scale_factor, good in points.items():
        made = golden_run(folder / "made", scale_factor=scale_factor)
        run = Run(folder / "runs" / f"sf-{scale_factor}-1")
        run.path.parent.mkdir(exist_ok=True)
        made.path.rename(run.path)
        shutil.rmtree(folder / "made")
        change_score(run, reasons=() if good else ("validation FAILED",), p99=0.5)
    return folder


@pytest.fixture
def search(tmp_path: Path) -> Path:
    """Make a search that sustained scale factor 12 and not 16."""
    folder = tmp_path / "search"
    folder.mkdir()
    return finished_search(folder, {4: True, 12: True, 16: False})


def test_the_highest_load_that_was_sustained(search: Path) -> None:
    """Its scale factor, and its basis rate in ticks per wall second."""
    load = sustained_load(search)
    assert (load.scale_factor, load.ticks_per_second) == (12, Fraction(250, 3) * 90)


def test_the_limit_of_the_search_holds(search: Path) -> None:
    """A run that was slower than the search allowed was not sustained."""
    change_score(Run(search / "runs" / "sf-12-1"), p99=2.0)
    assert sustained_load(search).scale_factor == 4
    SearchManifest(profile="sprint", settings={}, workload={}, limit_s=3.0).write(search / "search.json")
    assert sustained_load(search).scale_factor == 12


def test_a_profile_at_a_share_of_it(search: Path) -> None:
    """The rate of wall time is the share, at whatever speed the profile is replayed; its name tells."""
    burst, load = profile_at("burst", {"seed": "7"}, BARE, Fraction(3, 4), search)
    assert (burst.name, burst.workload.scale_factor, burst.workload.seed) == ("burst-at-75", 12, 7)
    assert burst.workload.basis_rate == Fraction(3, 4) * load.ticks_per_second == 5_625
    assert (burst.workload.symbols, burst.workload.duration) == (200, 670_000)
    quick, _ = profile_at("quick", {}, BARE, Fraction(1, 8), search)
    assert (quick.name, quick.workload.basis_rate * 60) == ("quick-at-12.5", Fraction(7_500, 8))
    fast = load_run("local", {"target": "bare", "speed": "0.1"})
    assert profile_at("quick", {}, fast, Fraction(1), search)[0].workload.basis_rate == 75_000


def test_phases_must_be_shares(search: Path, tmp_path: Path) -> None:
    """A fixed rate would not follow."""
    file = tmp_path / "mine.toml"
    table = "[[phase]]\nname = 'a'\nuntil = '1m'\nrate = "
    file.write_text(table + "'150%'")
    assert profile_at(str(file), {}, BARE, Fraction(1), search)[0].workload.steps == [(60_000, Fraction(3, 2))]
    file.write_text(table + "150")
    with pytest.raises(BadInputError, match=r"^--at: phases of the profile have fixed rates; give shares"):
        profile_at(str(file), {}, BARE, Fraction(1), search)


def test_a_search_that_sustained_nothing(tmp_path: Path) -> None:
    """There is no rate to take a share of."""
    finished_search(tmp_path, {1: False})
    with pytest.raises(BadInputError, match="no scale factor was sustained in this search; search with a lower rate"):
        sustained_load(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--at", "75%"],
            "searches/sprint-bare-vectorized: is not a search; make one with 'pairs search', or give its",
        ),
        (["--at", "75%", "--search", "nowhere"], "nowhere: is not a search; "),
        (["--at", "75"], "--at: '75' is not valid; give a share from 1% to 200%, such as 75%"),
        (["--at", "201%"], "--at: '201%' is not valid; "),
        (
            ["--at", "75%", "--sf", "2"],
            "--sf: --at takes scale factor and rate from a search; leave one of the two out",
        ),
        (["--at", "75%", "--basis-rate", "2"], "--basis-rate: --at takes scale factor and rate from a search"),
        (["--at", "75%", "--market-rate", "2"], "--market-rate: --at takes scale factor and rate from a search"),
        (["--search", "x"], "--search: has no effect without --at; add --at with a share such as 75%"),
    ],
)
def test_bad_shares_are_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line that names the flag or the folder, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    assert cli.run(["bench", "--profile", "burst", "--target", "bare", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"pairs: {message}")
    assert list(tmp_path.iterdir()) == []


def session(folder: Path, limit_s: float, seed: str = "1") -> SearchSession:
    """Return a search that is not started."""

    def at(scale_factor: int) -> Profile:
        return load_profile("sprint", {"scale_factor": str(scale_factor), "seed": seed})

    return SearchSession(folder, at, BARE, limit_s, first=1, most=2, suffix="virtual", master="local[1]")


def test_a_search_may_go_on_with_another_limit(tmp_path: Path) -> None:
    """The limit applies to the runs that there are, too, and is kept; other parameters make another search."""
    for limit_s in (1.0, 0.5):
        with session(tmp_path, limit_s).in_use():
            pass
        assert SearchManifest.read(tmp_path / "search.json").limit_s == limit_s
    with pytest.raises(BadInputError, match="contains another search"), session(tmp_path, 0.5, seed="2").in_use():
        pass


def test_a_search_is_found_where_the_verb_puts_it() -> None:
    """Under searches/, by profile, target and plan."""
    assert search_folder("sprint", "bare", "vectorized") == Path("searches/sprint-bare-vectorized")
