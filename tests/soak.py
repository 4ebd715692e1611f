"""`make soak`: ten minutes of a quick market at scale factor 10; the engine is killed every 20 to 40 seconds.

The run must end with every answer exactly once; the time of each recovery is printed. An argument is the seed, to kill
at the same moments again.
"""

import random
import shutil
import sys
from itertools import accumulate
from pathlib import Path

from pairs.cli import app as cli
from pairs.core.units import show_duration
from pairs.run_folder.folder import Run
from pairs.run_folder.records import ScoreRecord

MINUTES = 10
SPEED = 60
QUIET_S = 20  # before the end, so that the last recovery is measured
RUN = Path("runs/soak")


def kills_s(seed: int) -> list[float]:
    """Return when to kill, in seconds of wall time: every 20 to 40 seconds."""
    dice = random.Random(seed)  # noqa: S311
    gaps = (dice.uniform(20, 40) for _ in range(3 * MINUTES))
    return [moment for moment in accumulate(gaps) if moment < 60 * MINUTES - QUIET_S]


def main() -> None:
    """Run, kill, validate; the exit code is 0 if no answer is missing or duplicated."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1_000_000)
    kills = kills_s(seed)
    print(f"{len(kills)} kills in {MINUTES} minutes; to repeat them: python -m tests.soak {seed}", flush=True)
    faults = [word for kill in kills for word in ("--fault", f"kill@{show_duration(round(kill * 1000 * SPEED))}")]
    market = ["--profile", "quick", "--sf", "10", "--duration", f"{MINUTES * SPEED}m", "--data", "data/soak"]
    shutil.rmtree(RUN, ignore_errors=True)
    code = cli.run(["bench", *market, "--output", str(RUN), *faults])
    if not Run(RUN).score_file.is_file():
        sys.exit(code)
    score = ScoreRecord.read(Run(RUN).score_file)
    times_s = score.recovery.times_s if score.recovery else ()
    for kill, took in zip(kills, times_s, strict=False):
        print(f"killed after {kill:5.1f} s, caught up {'never' if took is None else f'{took:4.1f} s later'}")
    passed = score.verdict == "PASSED" and len(times_s) == len(kills) and None not in times_s
    print(f"soak {'PASSED' if passed else 'FAILED'}: {score.recovery.kind if score.recovery else 'no recovery'}")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
