"""What the way alone costs: a run of the target bare over the same transport, beside a run."""

from pathlib import Path

from pairs.measure.floor import floor_of
from pairs.measure.recordings import read_run
from pairs.report.verdict import verdict
from pairs.run_folder.folder import Run
from tests.report.runs import change_score, change_settings, golden_run, make_valid


def scored(folder: Path, seed: int, target: str, transport: str, load: float) -> Run:
    """Make a run with a valid score."""
    run = golden_run(folder, seed)
    make_valid(run)
    change_settings(run, target=target, transport=transport)
    change_score(run, target=target, transport=transport, load=load, p99=load / 1000)
    return run


def test_the_floor_is_that_of_the_nearest_load(tmp_path: Path) -> None:
    """Of the same transport, valid, and not the run itself; the report shows it."""
    engine = scored(tmp_path, 1, "pyspark", "kafka", 30)
    assert floor_of(read_run(engine)) is None
    scored(tmp_path, 2, "bare", "kafka", 3)
    scored(tmp_path, 3, "bare", "kafka", 25)
    scored(tmp_path, 4, "bare", "ticklog", 30)
    change_score(scored(tmp_path, 5, "bare", "kafka", 30), valid=False)
    found = floor_of(read_run(engine))
    assert found is not None
    assert (found[0], found[1].load) == ("run-3", 25)
    assert ("floor of the transport", "p99 25.0 ms, bare at load 25 (run-3)") in verdict(read_run(engine))["figures"]
    assert floor_of(read_run(Run(tmp_path / "run-2"))) is None


def test_another_machine_has_another_floor(tmp_path: Path) -> None:
    """A run that was copied from elsewhere is not compared with."""
    engine = scored(tmp_path, 1, "pyspark", "kafka", 30)
    other = scored(tmp_path, 2, "bare", "kafka", 30)
    environment = other.manifest.environment.model_copy(update={"processor": "another chip"})
    other.update_manifest(environment=environment)
    assert floor_of(read_run(engine)) is None
