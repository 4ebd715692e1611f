"""What `pairs config` prints can be given as --profile and as --run, and is the same configuration."""

from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.cli import app as cli
from pairs.config.profile import load_profile
from pairs.config.run_settings import load_run
from pairs.config.settings import shipped
from pairs.core.errors import BadInputError

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="="), min_size=1, max_size=8)
VALUES = st.text(st.characters(codec="utf-8"), max_size=8)
SPANS = st.integers(1, 10_000_000).map(lambda ms: f"{ms}ms")
NUMBERS = st.decimals("0.000001", "1000", places=6).map(str)
RATES = st.one_of(NUMBERS, st.fractions(Fraction(1, 1_000), 5_000).map(str))
FLAGS = {  # any valid value of every flag, valid together
    "--sf": st.integers(1, 2_000).map(str),
    "--seed": st.integers(0, 2**64 - 1).map(str),
    "--duration": SPANS,
    "--market-rate": RATES,
    "--basis-rate": RATES,
    "--peak-factor": NUMBERS,
    "--arrivals": st.sampled_from(["poisson", "constant"]),
    "--curve": st.sampled_from(["varying", "constant", "burst"]),
    "--symbols": st.integers(100, 10_000).map(str),
    "--correlations": st.integers(1, 50).map(str),
    "--strategies": st.integers(1, 10**6).map(str),
    "--market": st.sampled_from(["gbm", "cointegrated"]),
    "--volatility": st.floats(0, 0.001).map(repr),
    "--correlation": st.floats(-1, 1).map(repr),
    "--spread": st.floats(0, 0.5).map(repr),
    "--half-life": SPANS,
    "--target": NAMES.filter(str.strip),
    "--plan": NAMES.filter(str.strip),
    "--transport": NAMES.filter(str.strip),
    "--speed": st.one_of(st.just("max"), st.floats(0.001, 10_000).map(repr)),
    "--drivers": st.integers(1, 16).map(str),
    "--stall-timeout": SPANS,
    "--max-behind": SPANS,
    "--cores": st.integers(1, 10_000).map(str),
}
ONCE = st.fixed_dictionaries({}, optional=FLAGS).map(lambda flags: [f"{name}={value}" for name, value in flags.items()])
REPEATED = st.tuples(
    st.dictionaries(NAMES, VALUES, max_size=3).map(lambda found: [f"--set={name}={found[name]}" for name in found]),
    st.lists(
        st.tuples(st.sampled_from(["kill", "kill-worker"]), SPANS).map(lambda f: f"--fault={'@'.join(f)}"), max_size=3
    ),
).map(lambda groups: [*groups[0], *groups[1]])


def printed(*arguments: str) -> str:
    """Return what `pairs config` prints."""
    with redirect_stdout(StringIO()) as output:
        assert cli.run(["config", *arguments]) == 0
    return output.getvalue()


@pytest.mark.parametrize("profile", shipped("profiles"))
@given(once=ONCE, repeated=REPEATED)
def test_what_is_printed_reads_back(profile: str, once: list[str], repeated: list[str]) -> None:
    """The same text again, whatever the flags were."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "mine.toml"
        first = printed("--profile", profile, *once, *repeated)
        file.write_text(first)
        assert printed("--profile", str(file), "--run", str(file)) == first


@pytest.mark.parametrize("profile", shipped("profiles"))
def test_a_printed_profile_is_the_profile(profile: str, tmp_path: Path) -> None:
    """Workload and recommended speed; the run has no speed of its own unless one was given."""
    file = tmp_path / f"{profile}.toml"
    file.write_text(printed("--profile", profile, "--plan", "keyed"))
    assert load_profile(str(file), {}) == load_profile(profile, {})
    assert load_run(str(file), {}) == load_run("local", {"plan": "keyed"})


def test_what_follows_from_the_scale_factor_still_does(tmp_path: Path) -> None:
    """Symbols, strategies and rate are printed as comments, so that --sf scales a printed profile, too."""
    file = tmp_path / "mine.toml"
    file.write_text(printed("--profile", "quick", "--correlations", "20"))
    assert "\n# strategies = 25\n" in file.read_text()
    assert "\ncorrelations = 20\n" in file.read_text()
    assert load_profile(str(file), {"scale_factor": "15"}).workload.strategies == 375


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[run]\nplan = 'a'", "mine.toml: has no table [profile]; add it, or give another file with --profile"),
        ("seed = 1\n[profile]\nseed = 2", "mine.toml: 'seed' stands beside the tables [profile] and [run]; move it"),
        ("[profile]\nseed = -1", "mine.toml: [profile]: seed: -1 is not valid; give a whole number from 0"),
        ("[profile]\nsede = 1", "mine.toml: [profile]: unknown key 'sede'; did you mean 'seed'?"),
        ("profile = 'quick'", "mine.toml: unknown key 'profile'; give one of scale_factor, seed,"),
        ("seed = " + "1" * 5_000, "mine.toml: not valid TOML: "),
        ("seed = " + "[" * 5_000, "mine.toml: not valid TOML: "),
    ],
)
def test_a_file_of_two_tables_is_refused_by_table_and_key(
    content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a flat file is."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(content)
    with pytest.raises(BadInputError) as refused:
        load_profile("mine.toml", {})
    assert str(refused.value).startswith(message)


def test_a_file_may_have_the_table_of_one_reader(tmp_path: Path) -> None:
    """A run file with a table [run] alone, and a flat file, are run files."""
    (tmp_path / "table.toml").write_text("[run]\nplan = 'a'\n[run.settings]\nspark.sql.x = 2\n")
    (tmp_path / "flat.toml").write_text("plan = 'a'\n[settings]\n'spark.sql.x' = 2\n")
    read = [load_run(str(tmp_path / f"{name}.toml"), {}) for name in ("table", "flat")]
    assert read[0] == read[1]
    assert read[0].settings == {"spark.sql.x": "2"}
