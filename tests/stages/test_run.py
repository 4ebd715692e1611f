"""What will be run: the phases and the measurement interval of a dataset."""

from pathlib import Path

import pytest

from pairs.config.phases import PHASES
from pairs.config.run_settings import load_run
from pairs.core.errors import BadInputError
from pairs.dataset.folder import Dataset
from pairs.stages.begin import replay_of
from tests.markets import golden_market
from tests.report.runs import golden_dataset

BARE = load_run("local", {"target": "bare"})
OWN = [{"name": "measurement", "until": "1m", "rate": 7}, {"name": "b", "until": "15m", "rate": "100%"}]
USUAL = {"ramp-up": 0, "warm-up": 7_500, "measurement": 225_000, "cool-down": 675_000}


@pytest.mark.parametrize(
    ("parameters", "phases"),
    [
        ({}, USUAL),
        ({"phases": PHASES.read(OWN, "phase")}, {"measurement": 0, "b": 60_000}),
        ({"curve": "burst"}, {"ramp-up": 0, "steady": 80_597, "burst": 483_582, "recovery": 493_582}),
    ],
)
def test_phases_do_not_move_the_measurement_interval(
    tmp_path: Path, parameters: dict[str, object], phases: dict[str, int]
) -> None:
    """A run has the phases of its market; it is measured from a quarter to three quarters, whatever they are called."""
    replay = replay_of(golden_dataset(tmp_path / "market", **parameters), BARE)
    assert dict(replay.phases_ms) == phases
    assert replay.interval_ms == (225_000, 675_000)
    assert replay.phase(60_001) == [name for name, begin in phases.items() if begin <= 60_001][-1]


def test_a_dataset_made_by_hand_has_the_usual_phases(tmp_path: Path) -> None:
    """They follow from when the market closes."""
    replay = replay_of(Dataset(golden_market(tmp_path / "market")), BARE)
    assert (dict(replay.phases_ms), replay.interval_ms) == (USUAL, (225_000, 675_000))


def with_close(dataset: Dataset, close: int) -> Dataset:
    """Change when the market closes."""
    text = dataset.strategies_file.read_text()
    dataset.strategies_file.write_text(text.replace('marketClose="900000"', f'marketClose="{close}"'))
    return dataset


@pytest.mark.parametrize(
    ("close", "said"),
    [
        (900_000, ""),
        (899_500, ""),  # the last tick is the bell
        (600_000, "the market closes at 10m (marketClose), the dataset ends at 15m: ticks after the close are ignored"),
        (94_608_000_000_000, "after the dataset's last tick at 900000, so the bell never rings; give 900000 or less"),
    ],
)
def test_a_market_that_closes_at_another_time_is_warned_of(
    tmp_path: Path, close: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With and without dataset.json; the measurement interval of a hand-made dataset ends with its ticks."""
    for dataset in (golden_dataset(tmp_path / "whole"), Dataset(golden_market(tmp_path / "hand-made"))):
        replay = replay_of(with_close(dataset, close), BARE)
        shown = capsys.readouterr().err
        assert shown.startswith(f"pairs: warning: {dataset.strategies_file}: ") == bool(said)
        assert said in shown
        assert replay.duration_ms <= 900_000


def test_a_market_that_closes_before_any_answer_is_refused(tmp_path: Path) -> None:
    """No run on it could have an answer."""
    for dataset in (golden_dataset(tmp_path / "whole"), Dataset(golden_market(tmp_path / "hand-made"))):
        with pytest.raises(
            BadInputError, match=r"marketClose is 5, before the first strategy can answer at \d+; give 900000"
        ):
            replay_of(with_close(dataset, 5), BARE)
