"""What errors say: the flag as it is called, the verb that was called, and what the user typed."""

import json
from pathlib import Path

import pytest

from pairs.cli import app as cli
from tests.report.runs import golden_dataset

CASES = {
    "run market --sf 5": "--sf: belongs to a workload; give it with --generate",
    "run market --half-life 5s": "--half-life: belongs to a workload; give it with --generate",
    "run market --profile quick": "--profile: belongs to a workload; give it with --generate",
    "score nosuch": "nosuch: not a run, as it has no run.json; give the folder of a run\n",
    "report nosuch": "nosuch: not a run, as it has no run.json; give the folder of a run\n",
    "validate nosuch": "nosuch: not a run, as it has no run.json; give the folder of a run, or, for the answers of "
    "another engine, --dataset DATASET --answers FOLDER\n",
    "estimate --duration 100d": "--duration: within 100d at a volatility of 0.005 a price can grow",
    "estimate --profile long.toml": "long.toml: duration: within 100d at a volatility of 0.005 a price can grow",
    "estimate --profile long.toml --volatility 0.1": "--volatility: within 100d at a volatility of 0.1 a price can",
    "estimate --profile pairs.toml --symbols 60": "--symbols: 40 correlations need 80 symbols and there are 60; give "
    "at least 80\n",
    "estimate --profile many.toml --sf 1": "--sf: 150 correlations need 300 symbols and there are 100; give at most 50 "
    "correlations\n",
    "estimate --market-rate 1000000000 --sf 11": "--market-rate: 2,000,000,000 ticks per second are more than "
    "1,000,000,000; give a lower value\n",
    "estimate --profile nosuch": "--profile: no profile 'nosuch'; give one of burst, quick, sprint, standard, or the",
    "estimate --profile quik": "--profile: no profile 'quik' (did you mean 'quick'?); give one of",
    "config --run nosuch": "--run: no run 'nosuch'; give one of local, or the path of a .toml file\n",
    "estimate --profile odd.toml": "odd.toml: unknown key 'colour'; give one of scale_factor, seed, duration,",
    "run market --fault kill@0": "--fault: 'kill@0' is not valid; give a fault and a time above zero such as kill@30m",
    "run market --fault kill@1s --fault boo": "--fault: 'boo' is not valid; give a fault and a time above zero",
    "run market --set shards=1 --set shards=2": "--set: shards is given twice; give it once\n",
    "generate -o x --speed max": "No such option: --speed",
    "search --first 5 --most 2": "--first: 5 is above --most 2; give a --first that is not above --most\n",
    "search --most 0": "--most: '0' is not valid; give a whole number from 1 to 1,000,000\n",
    "search --target bare --set max-ticks-per-batch=1,2": "--set max-ticks-per-batch: '1,2' is not valid",
    "sweep --repeat 0": "--repeat: '0' is not valid; give a whole number from 1 to 1,000\n",
    "sweep --plan ,": "--plan: ',' has an empty value; give a value on both sides of a comma",
    "sweep --target bare --plan vectorized,vectorized": "--plan: 'vectorized,vectorized' has a value twice; give each",
    "bench --repeat 0": "--repeat: '0' is not valid; give a whole number from 1 to 1,000\n",
    "bench --repeat 2 --overwrite": "--overwrite: repeated runs are kept and added to; give another folder with -o\n",
    "bench --at 75%": "searches/sprint-pyspark-keyed: is not a search; make one with 'pairs search', or give its",
    "bench --data market --sf 2": "market: has a dataset with another scale_factor, seed, duration, basis_rate, ",
    "bench --data handmade": "handmade: exists and has no dataset.json; give another folder for the dataset\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a dataset, one without its manifest, and some profiles."""
    monkeypatch.chdir(tmp_path)
    golden_dataset(tmp_path / "market")
    (tmp_path / "handmade").mkdir()
    (tmp_path / "handmade" / "strategies.xml").touch()
    for name, content in {
        "long": "duration = '100d'",
        "pairs": "correlations = 40",
        "many": "scale_factor = 30\ncorrelations = 150",
        "odd": "colour = 'red'",
    }.items():
        (tmp_path / f"{name}.toml").write_text(content)


@pytest.mark.parametrize("command", CASES)
def test_an_error_speaks_of_what_was_typed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, nothing written, exit 2."""
    before = sorted(Path().rglob("*"))
    assert cli.run(command.split()) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"pairs: {CASES[command]}")
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("flag", ["--duration", "--volatility"])
def test_the_remedy_works(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The bound that an error names is accepted."""
    given = {"--duration": "100d", "--volatility": "0.1"}[flag]
    assert cli.run(["config", flag, given]) == 2
    remedy = capsys.readouterr().err.split("give at most ")[1].strip()
    assert cli.run(["config", flag, remedy]) == 0


@pytest.mark.parametrize("speed", ["max", 0, -1, 1e9, None])
def test_a_dataset_with_an_impossible_speed_is_refused(speed: object, capsys: pytest.CaptureFixture[str]) -> None:
    """dataset.json may be edited by hand or written by an older kit."""
    file = Path("market/dataset.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"recommended_speed": speed}))
    assert cli.run(["run", "market", "--target", "bare", "-o", "run"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pairs: market/dataset.json: recommended_speed: ")
    assert error.endswith("; generate or import the dataset again\n")
    assert not Path("run").exists()
