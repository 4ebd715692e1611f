"""What the way alone costs: the latency of the target bare over the same transport, on the same machine."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from pairs.core.errors import BadInputError
from pairs.measure.recordings import Recorded
from pairs.run_folder.folder import Run
from pairs.run_folder.records import RunManifest, ScoreRecord

FLOOR = "bare"  # the target that has no engine
_MOST_RUNS = 500  # beside a run, that are looked at


def floor_of(recorded: Recorded) -> tuple[str, ScoreRecord] | None:
    """Return the run of the floor beside a run whose load is nearest to its own, by name and score, if there is one."""
    if recorded.score is None or recorded.score.target == FLOOR:
        return None
    load = recorded.score.load
    return min(_floors(recorded, recorded.score), key=lambda found: abs(found[1].load - load), default=None)


def _floors(recorded: Recorded, score: ScoreRecord) -> Iterator[tuple[str, ScoreRecord]]:
    way = _way(recorded.manifest)
    for folder in islice(sorted(recorded.run.path.absolute().parent.iterdir()), _MOST_RUNS):
        run = Run(folder)
        if run.is_scored:
            with suppress(BadInputError, FileNotFoundError):
                found = ScoreRecord.read(run.score_file)
                same = found.target == FLOOR and found.transport == score.transport and found.valid
                if same and _way(run.manifest) == way:
                    yield folder.name, found


def _way(manifest: RunManifest) -> tuple[object, ...]:
    """Return what the cost of the way depends on: the machine, the brokers, the partitions."""
    environment, settings = manifest.environment, manifest.settings
    machine = environment.processor, environment.cores, environment.memory_bytes
    return *machine, settings.bootstrap, settings.partitions or 1
