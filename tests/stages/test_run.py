"""What will be run: the phases and the measurement interval of a dataset."""

from pathlib import Path

import pytest

from pairs.config.phases import PHASES
from pairs.config.run_settings import load_run
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
